#!/bin/sh
# check_headers.sh [ROOT] - each public header can be read alone, by C11 and by C++17, with every
# warning an error.
#
# The headers are those of plugin_api/ and host/backplane.h. Each is also included twice. Compilers:
# gcc, and clang where it is installed.
set -u

root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root" || exit 2
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
tried=0
failed=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
    # shellcheck disable=SC2086
    if printf '#include "%s"\n#include "%s"\n' "$4" "$4" |
        "$1" -x "$2" "-std=$3" $warnings -Iplugin_api -Ihost -I. -fsyntax-only -; then
        tried=$((tried + 1))
    else
        failed=$((failed + 1))
        echo "check_headers: $4 does not compile alone as $3 with $1" >&2
    fi
}

for header in plugin_api/*.h plugin_api/*/*.h host/backplane.h; do
    for pair in gcc:g++ clang:clang++; do
        c=${pair%:*}
        cxx=${pair#*:}
        ! command -v "$c" >/dev/null 2>&1 || compile "$c" c c11 "$header"
        ! command -v "$cxx" >/dev/null 2>&1 || { compile "$cxx" c++ c++17 "$header" && compile "$cxx" c++ c++20 "$header"; }
    done
done

if [ "$tried" = 0 ] && [ "$failed" = 0 ]; then
    echo "check_headers: neither gcc nor clang is there" >&2
    exit 1
fi
echo "headers: $tried compiled, $failed failed"
[ "$failed" = 0 ]
