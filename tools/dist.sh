#!/bin/sh
# dist.sh BUILD OUT VERSION - archives to unpack and use, into the folder OUT:
#
#   backplane-VERSION-linux-MACHINE.tar.gz   what tools/install.sh installs, below one folder; it can lie anywhere
#   backplane-VERSION-linux-aarch64.tar.gz   the same for aarch64, where build/aarch64 is built (make aarch64)
#   backplane-VERSION-windows-x86_64.zip     the same for Windows, where build/windows is built (make windows)
#
# The same build gives the same bytes: names are sorted, owners and times are not those of this machine. Times are
# SOURCE_DATE_EPOCH, else that of the last commit, else 1980. Debug information is left out, and so is the linker's
# number of the build, which counts the place of the build in with that.
set -eu

[ $# = 3 ] || { echo "usage: tools/dist.sh BUILD OUT VERSION" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
version=$3
mkdir -p "$2"
out=$(cd "$2" && pwd)
windows=$source/build/windows
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || true)}
epoch=${epoch:-315532800}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
export TZ=UTC LC_ALL=C SOURCE_DATE_EPOCH="$epoch" # the tools for Windows write the time into programs, too

# archive BUILD MACHINE STRIP - what is built in a folder, as an archive for Linux
archive() {
    name=backplane-$version-linux-$2
    PROGRAM="$build/backplane" "$source/tools/install.sh" "$1" "$stage" "/$name" "$version" >/dev/null
    "$3" --strip-debug --remove-section=.note.gnu.build-id "$stage/$name/bin/backplane" "$stage/$name"/lib/backplane/plugins/*.so \
        "$stage/$name/lib/libbackplane.so.0"
    "$3" --strip-debug --enable-deterministic-archives "$stage/$name/lib/libbackplane.a"
    cp "$source/README.md" "$stage/$name/"
    tar -C "$stage" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -cf - "$name" |
        gzip -9n >"$out/$name.tar.gz"
    echo "$out/$name.tar.gz"
}

archive "$build" "$(uname -m)" strip
aarch64=$source/build/aarch64
if [ -f "$aarch64/backplane" ] && command -v aarch64-linux-gnu-strip >/dev/null 2>&1; then
    archive "$aarch64" aarch64 aarch64-linux-gnu-strip
fi

if [ ! -f "$windows/backplane.exe" ] || ! command -v zip >/dev/null 2>&1; then
    echo "no archive for Windows: make windows first; it needs zip" >&2
    exit 0
fi
name=backplane-$version-windows-x86_64
root=$stage/$name
mkdir -p "$root/plugins" "$root/lib" "$root/include"
cp "$windows/backplane.exe" "$windows/libbackplane.dll" "$source/README.md" "$root/"
cp "$windows"/plugins/*.dll "$root/plugins/"
cp "$windows/libbackplane.a" "$windows/libbackplane.dll.a" "$root/lib/"
cp -r "$source/plugin_api/." "$source/host/backplane.h" "$root/include/"
cp -r "$source/config" "$root/"
sed -i -e 's, = build/, = ,' -e '/^build = /d' -e '/^sources = /d' "$root"/config/*.ini # as tools/install.sh
x86_64-w64-mingw32-strip --strip-debug "$root"/*.exe "$root"/*.dll "$root"/plugins/*.dll
find "$root" -exec touch -h -d "@$epoch" {} +
rm -f "$out/$name.zip"
(cd "$stage" && find "$name" | sort | zip -q -X -9 -@ "$out/$name.zip")
echo "$out/$name.zip"
