#!/bin/sh
# locale.sh BUILD - what a host reads and writes is the same where numbers have a comma.
#
# A program that embeds a host may ask for the locale of its user, and in much of the world "1.5" is "1,5" then. The
# suites that read and write numbers as texts run in such a locale, in a folder of their own.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/build/scratch" "$scratch/locale"
for name in "$source"/*; do
    [ "$name" = "$build" ] || [ "$(basename "$name")" = build ] || ln -s "$name" "$scratch/"
done
for name in "$build"/*; do
    [ "$(basename "$name")" = scratch ] || ln -s "$name" "$scratch/build/"
done
cd "$scratch"

for suite in values declared elements properties named lists config save compile_errors inspector_answers; do
    CK_RUN_SUITE=$suite TESTS_COMMA=$scratch/locale build/tests >output 2>&1 || { cat output; exit 1; }
    grep -q '^100%: Checks: [1-9]' output || { echo "locale: no suite is called $suite"; exit 1; }
done
echo "locale: all suites pass where numbers have a comma"
