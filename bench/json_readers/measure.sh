#!/bin/sh
# measure.sh [BUILD] - what JSON libraries cost beside host/scene/json.c: the figures in docs/dependencies.md.
#
# Measures those that are here; on Debian 12 all but yyjson come with
#     apt-get install libjansson-dev libjson-c-dev libcjson-dev libyajl-dev libjsmn-dev libjsonparser-dev
# BUILD (build) must have libbackplane.a. Nothing of the project needs any of them.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source/build}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# measure FLAGS LIBRARIES - one program for each, since two libraries export the same names.
measure() {
    # shellcheck disable=SC2086
    "${CC:-cc}" -std=gnu11 -O2 -ffp-contract=off $1 -I "$source/plugin_api" -I "$source/host" "$source"/bench/json_readers/*.c \
        "$build/libbackplane.a" -o "$scratch/readers" $2 $(pkg-config --libs inih) -ldl -lm -pthread
    "$scratch/readers"
}

# try MACRO PACKAGE - a library that pkg-config knows; of jsmn there is only the header.
try() {
    if pkg-config --exists "$2"; then
        measure "-DWITH_$1=\"$(pkg-config --modversion "$2")\" $(pkg-config --cflags "$2")" "$(pkg-config --libs "$2")"
    elif [ "$2" = jsmn ] && echo "#include <jsmn.h>" | "${CC:-cc}" -fsyntax-only -x c - 2>/dev/null; then
        measure -DWITH_JSMN ""
    else
        echo "$2 is not here"
    fi
}

measure "" ""
try JANSSON jansson
try JSON_C json-c
try CJSON libcjson
try YAJL yajl
try JSMN jsmn
try JSON_PARSER json-parser
try YYJSON yyjson
