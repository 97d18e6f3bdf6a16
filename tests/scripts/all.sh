#!/bin/sh
# all.sh BUILD - run every script of this folder on what has been built in BUILD.
#
# A line for each; what a failing one printed comes below its line. The last line counts; the exit
# status is 0 only where all passed.
set -u

[ $# = 1 ] || { echo "usage: tests/scripts/all.sh BUILD" >&2; exit 2; }
folder=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 2
output=$(mktemp) || exit 2
temporary=$(mktemp -d) || exit 2
trap 'rm -rf "$output" "$temporary"' EXIT
# A python3 that is itself a script, as pyenv's, looks for the real one each time, which takes half a second: it is asked
# once.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -x "$python" ] && [ "$python" != "$(command -v python3)" ]; then
    mkdir "$temporary/bin"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$temporary/bin/python3"
    chmod +x "$temporary/bin/python3"
    PATH=$temporary/bin:$PATH
fi
# A script's own make is not part of the make that calls this one, whose job slots it cannot reach.
unset MAKEFLAGS MFLAGS MAKELEVEL
passed=0
failed=0

for script in "$folder"/*.sh; do
    name=$(basename "$script" .sh)
    [ "$name" != all ] || continue
    # A folder of its own for temporary files: a program that begins removes what killed ones have left, and says so,
    # which the tests that run beside the scripts would cause.
    mkdir "$temporary/$name"
    if TMPDIR=$temporary/$name sh "$script" "$build" >"$output" 2>&1; then
        passed=$((passed + 1))
        echo "passed: $name"
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' "$output"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
