#!/bin/sh
# deb.sh BUILD OUT VERSION - Debian packages of what is built, into the folder OUT:
#
#   backplane_VERSION_ARCH.deb         the program, the plugins, the ini files that ship, the manual page
#   libbackplane0_VERSION_ARCH.deb     the shared library
#   libbackplane-dev_VERSION_ARCH.deb  headers, the static library, pkg-config, CMake
#
# The trees are what tools/install.sh installs below /usr, parted. What each needs is found by dpkg-shlibdeps. The same
# build gives the same bytes: times are SOURCE_DATE_EPOCH, else that of the last commit, else 1980, and the linker's number
# of the build, which depends on the place of the build, is left out.
set -eu

[ $# = 3 ] || { echo "usage: tools/deb.sh BUILD OUT VERSION" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
build=$1
version=$3
for command in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
    command -v "$command" >/dev/null 2>&1 || { echo "deb.sh: $command is missing (Debian: dpkg-dev)" >&2; exit 1; }
done
mkdir -p "$2"
out=$(cd "$2" && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
machine=$(dpkg-architecture -qDEB_HOST_ARCH)
maintainer="The developers of Backplane <maintainers@backplane.invalid>"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022

"$source/tools/install.sh" "$build" "$stage/all" /usr "$version" >/dev/null
all=$stage/all/usr
strip --strip-unneeded --remove-section=.note.gnu.build-id "$all"/bin/* "$all"/lib/backplane/plugins/*.so "$all/lib/libbackplane.so.0"
strip --strip-debug --enable-deterministic-archives "$all/lib/libbackplane.a"
sed -i 's/ -Wl,-rpath,\${libdir}//' "$all/lib/pkgconfig/backplane.pc" # the loader knows /usr/lib
gzip -9n "$all/share/man/man1/backplane.1"

# move PACKAGE FILE ... - give files of the whole tree to a package.
move() {
    package=$1
    shift
    for file in "$@"; do
        mkdir -p "$stage/$package/usr/$(dirname "$file")"
        mv "$all/$file" "$stage/$package/usr/$file"
    done
}
move libbackplane0 lib/libbackplane.so.0
move libbackplane-dev include lib/libbackplane.so lib/libbackplane.a lib/pkgconfig lib/cmake
move backplane bin lib/backplane share

# close PACKAGE SECTION DEPENDS SUMMARY < DESCRIPTION - write what Debian wants to know, and the package.
close() {
    root=$stage/$1
    shared=$root/usr/share/doc/$1
    mkdir -p "$root/DEBIAN" "$shared" "$stage/debian"
    printf 'backplane (%s) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' "$version" "$version" "$maintainer" \
        "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$shared/changelog.gz"
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: backplane\n\nFiles: *\nCopyright: the developers of Backplane\nLicense: see-upstream\n No license is stated in the source of this version.\n' >"$shared/copyright"
    # Only who runs on several machines needs what mpi is linked with; without that mpi alone is not loaded.
    libraries=$(find "$root" -type f \( -name '*.so*' -o -perm -100 \) ! -name mpi.so | sort)
    needs=""
    if [ -n "$libraries" ]; then
        printf 'Source: backplane\n\nPackage: %s\nArchitecture: any\n' "$1" >"$stage/debian/control"
        # shellcheck disable=SC2086 # a list of files, whose names have no blanks
        needs=$(cd "$stage" && dpkg-shlibdeps -O --ignore-missing-info $libraries 2>"$stage/log" | sed -n 's/^shlibs:Depends=//p') ||
            { cat "$stage/log" >&2; exit 1; }
    fi
    depends=$(printf '%s, %s' "$3" "$needs" | sed -e 's/^, //' -e 's/, $//')
    {
        printf 'Package: %s\nSource: backplane\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$1" "$version" "$machine" "$maintainer"
        printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' "$(du -sk --apparent-size "$root/usr" | cut -f 1)" "$2"
        [ ! -f "$root/usr/lib/backplane/plugins/mpi.so" ] || printf 'Suggests: openmpi-bin\n'
        [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
        printf 'Description: %s\n' "$4"
        sed -e 's/^/ /'
    } >"$root/DEBIAN/control"
    if [ "$1" = libbackplane0 ]; then
        echo "libbackplane 0 libbackplane0 (>= $version)" >"$root/DEBIAN/shlibs"
        echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
    fi
    (cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
    find "$root" -type d -exec chmod 755 {} +
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz -b "$root" "$out/$1_${version}_$machine.deb" >/dev/null
    echo "$out/$1_${version}_$machine.deb"
}

close libbackplane0 libs "" "entity engine whose components are plugins - library" <<END
Backplane keeps entities in worlds; shared libraries bring components and
systems through a stable binary interface, and are reloaded while worlds run.
.
This is the library for programs that embed it.
END
close libbackplane-dev libdevel "libbackplane0 (= $version)" "entity engine whose components are plugins - development" <<END
Backplane keeps entities in worlds; shared libraries bring components and
systems through a stable binary interface, and are reloaded while worlds run.
.
These are the headers for plugins and for programs, the static library, and
what pkg-config and CMake want to know.
END
close backplane science "" "entity engine whose components are plugins - program" <<END
Backplane keeps entities in worlds; shared libraries bring components and
systems through a stable binary interface, and are reloaded while worlds run.
.
This is the program, which runs worlds as ini files say, and its plugins.
END
