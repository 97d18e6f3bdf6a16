#!/bin/sh
# install.sh BUILD DESTDIR PREFIX VERSION - copy what has been built to where it is used.
#
#   bin/backplane, and bin/backplane-import where it was built
#   lib/libbackplane.a, libbackplane.so -> libbackplane.so.0, pkgconfig/backplane.pc
#   lib/backplane/plugins/*.so          where the program looks for plugins
#   include/backplane/                  the contract and backplane.h
#   share/backplane/config/             the ini files that ship, to copy and change
#
# DESTDIR goes before PREFIX and leaves no trace in what is installed. backplane.pc knows its own place,
# so an installed tree can be moved.
set -eu

[ $# = 4 ] || { echo "usage: tools/install.sh BUILD DESTDIR PREFIX VERSION" >&2; exit 2; }
build=$1
prefix=$3
version=$4
source=$(cd "$(dirname "$0")/.." && pwd)
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
root=$2$prefix
[ -n "$version" ] || { echo "install.sh: VERSION is empty; host/backplane.h says BACKPLANE_VERSION" >&2; exit 2; }
for file in "$build/backplane" "$build/libbackplane.a" "$build/libbackplane.so"; do
    [ -f "$file" ] || { echo "install.sh: $file is missing; run make first" >&2; exit 1; }
done

# put MODE FOLDER FILE ... - a file that is in use is replaced, not written into.
put() {
    mode=$1
    place=$2
    shift 2
    mkdir -p "$place"
    for source_file in "$@"; do
        target=$place/$(basename "$source_file")
        cp "$source_file" "$target.new"
        chmod "$mode" "$target.new"
        mv -f "$target.new" "$target"
    done
}

put 755 "$root/bin" "$build/backplane"
[ ! -f "$build/backplane-import" ] || put 755 "$root/bin" "$build/backplane-import"
put 644 "$root/lib" "$build/libbackplane.a"
put 644 "$root/lib" "$build/libbackplane.so"
mv -f "$root/lib/libbackplane.so" "$root/lib/libbackplane.so.0"
ln -sf libbackplane.so.0 "$root/lib/libbackplane.so"
put 644 "$root/lib/backplane/plugins" "$build"/plugins/*.so
put 644 "$root/include/backplane" "$source"/plugin_api/*.h "$source/host/backplane.h"
put 644 "$root/include/backplane/components" "$source"/plugin_api/components/*.h
put 644 "$root/include/backplane/helpers" "$source"/plugin_api/helpers/*.h
for folder in $(cd "$source/config" && find . -type d); do
    for file in "$source/config/$folder"/*; do
        [ ! -f "$file" ] || put 644 "$root/share/backplane/config/$folder" "$file"
    done
done

mkdir -p "$root/lib/pkgconfig"
cat >"$root/lib/pkgconfig/backplane.pc" <<END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include/backplane
plugindir=\${libdir}/backplane/plugins

Name: backplane
Description: An entity engine whose every component is a plugin
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lbackplane
Libs.private: -linih -ldl -lm -pthread
END
echo "installed in $root"
