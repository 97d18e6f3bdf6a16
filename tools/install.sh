#!/bin/sh
# install.sh BUILD DESTDIR PREFIX VERSION - copy what has been built to where it is used.
#
#   bin/backplane, and bin/backplane-import where it was built
#   lib/libbackplane.a, libbackplane.so -> libbackplane.so.0, pkgconfig/backplane.pc
#   lib/cmake/backplane/                for find_package(backplane)
#   lib/backplane/plugins/*.so          where the program looks for plugins
#   include/backplane/                  the contract and backplane.h
#   share/backplane/config/             the ini files that ship
#   share/man/man1/backplane.1          the manual page, as the program prints it
#
# The manual page is printed by the program PROGRAM where it is set, since what is built for another processor does not
# run here; else by the program that is installed.
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
mkdir -p "$root/share/man/man1"
"${PROGRAM:-$build/backplane}" --manual >"$root/share/man/man1/backplane.1.new"
mv -f "$root/share/man/man1/backplane.1.new" "$root/share/man/man1/backplane.1"
put 644 "$root/lib" "$build/libbackplane.a"
put 644 "$root/lib" "$build/libbackplane.so"
mv -f "$root/lib/libbackplane.so" "$root/lib/libbackplane.so.0"
ln -sf libbackplane.so.0 "$root/lib/libbackplane.so"
put 644 "$root/lib/backplane/plugins" "$build"/plugins/*.so
put 644 "$root/include/backplane" "$source"/plugin_api/*.h "$source"/plugin_api/*.rs "$source/host/backplane.h"
put 644 "$root/include/backplane/components" "$source"/plugin_api/components/*.h
put 644 "$root/include/backplane/helpers" "$source"/plugin_api/helpers/*.h "$source"/plugin_api/helpers/*.rs
for folder in $(cd "$source/config" && find . -type d); do
    for file in "$source/config/$folder"/*; do
        [ ! -f "$file" ] || put 644 "$root/share/backplane/config/$folder" "$file"
    done
done
# They write to where the program runs, and there are no sources beside them to build.
for file in "$root"/share/backplane/config/*.ini; do
    sed -e 's, = build/, = ,' -e '/^build = /d' -e '/^sources = /d' "$file" >"$file.new"
    mv -f "$file.new" "$file"
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
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -lbackplane
Libs.private: -linih -ldl -lm -pthread
END
# The same for CMake; the targets are backplane::backplane (shared) and backplane::static.
mkdir -p "$root/lib/cmake/backplane"
cat >"$root/lib/cmake/backplane/backplane-config.cmake" <<'END'
# find_package(backplane): the targets backplane::backplane, a shared library, and backplane::static; the folder of the
# plugins is in backplane_PLUGIN_DIR.
get_filename_component(_backplane_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(backplane_PLUGIN_DIR "${_backplane_prefix}/lib/backplane/plugins")
if(NOT TARGET backplane::backplane)
    find_package(Threads REQUIRED)
    add_library(backplane::backplane SHARED IMPORTED)
    set_target_properties(backplane::backplane PROPERTIES
        IMPORTED_LOCATION "${_backplane_prefix}/lib/libbackplane.so.0"
        IMPORTED_SONAME libbackplane.so.0
        INTERFACE_INCLUDE_DIRECTORIES "${_backplane_prefix}/include/backplane")
    add_library(backplane::static STATIC IMPORTED)
    set_target_properties(backplane::static PROPERTIES
        IMPORTED_LOCATION "${_backplane_prefix}/lib/libbackplane.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_backplane_prefix}/include/backplane"
        INTERFACE_LINK_LIBRARIES "inih;Threads::Threads;m;${CMAKE_DL_LIBS}")
endif()
unset(_backplane_prefix)
END
cat >"$root/lib/cmake/backplane/backplane-config-version.cmake" <<END
set(PACKAGE_VERSION $version)
# Before version 1 each minor may be another contract.
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if("\${PACKAGE_FIND_VERSION}" STREQUAL "" OR
   ("\${PACKAGE_FIND_VERSION_MAJOR}.\${PACKAGE_FIND_VERSION_MINOR}" STREQUAL "${version%.*}" AND
    NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if("\${PACKAGE_FIND_VERSION}" STREQUAL "$version")
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
END
echo "installed in $root"
