#!/bin/sh
# protocol.sh BUILD - docs/protocol.md: each request is made by curl as it stands there, and answered as it stands there.
# Where BUILD has no inspector, or there is no curl or python3, nothing is checked.
set -eu
export PYTHONDONTWRITEBYTECODE=1 # the tree stays as it is

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$build/plugins/inspector.so" ] || { echo "the inspector is not built"; exit 0; }
for program in curl python3; do
    command -v $program >/dev/null 2>&1 || { echo "protocol: skipped, there is no $program"; exit 0; }
done
exec python3 "$source/tests/inspector/protocol.py" "$build"
