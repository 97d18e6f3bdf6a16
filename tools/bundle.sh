#!/bin/sh
# bundle.sh FOLDER OUT.c - make the page of a plugin into one C file, to be compiled into its library.
#
# FOLDER holds app.ts, from which esbuild makes one script of all that it imports; app.css; index.html; icon.svg. Each
# is compressed and becomes an array of bytes. The tag of a file is a hash of its bytes. Nothing is loaded from the
# network.
set -eu

folder=$1
out=$2
work=$out.parts
rm -rf "$work"
mkdir -p "$work"
esbuild "$folder/app.ts" --bundle --minify --target=es2020 --legal-comments=none --log-level=warning "--outfile=$work/app.js"
esbuild "$folder/app.css" --minify --log-level=warning "--outfile=$work/app.css"
cp "$folder/index.html" "$folder/icon.svg" "$work"

type_of() {
    case $1 in
    *.html) echo "text/html; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.svg) echo "image/svg+xml" ;;
    esac
}

{
    echo "/* Made by tools/bundle.sh from $folder. */"
    echo '#include "bundle.h"'
    number=0
    for name in index.html app.js app.css icon.svg; do
        gzip -9nc "$work/$name" >"$work/packed"
        echo "static const unsigned char file_$number[] = {"
        od -An -v -tu1 "$work/packed" | tr -s ' ' ',' | sed -e 's/^,//' -e 's/$/,/'
        echo "};"
        number=$((number + 1))
    done
    echo "const bundle_file_t inspector_bundle[] = {"
    number=0
    for name in index.html app.js app.css icon.svg; do
        tag=$(cksum <"$work/$name" | tr ' ' '-')
        echo "    {\"/$name\", \"$(type_of "$name")\", \"\\\"$tag\\\"\", file_$number, sizeof file_$number},"
        number=$((number + 1))
    done
    echo "};"
    echo "const size_t inspector_bundle_count = sizeof inspector_bundle / sizeof *inspector_bundle;"
} >"$out.new"
rm -rf "$work"
mv "$out.new" "$out"
