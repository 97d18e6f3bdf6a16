#!/bin/sh
# check_verbs.sh [ROOT] - the host calls verbs of plugins in one place only.
#
# A call through a slot's table past host/plugin/verbs.c would not be under the crash guard: a crash in it would end
# the process, and a plugin that is set aside would be called after all.
set -eu

cd "${1:-$(cd "$(dirname "$0")/.." && pwd)}"
direct=$(grep -nE '(\.|->)?(table|desc)(\.|->)[a-z_]+\(' host/*/*.c 2>/dev/null | grep -Ev '^host/(program/|plugin/verbs\.c:)' || true)
if [ -n "$direct" ]; then
    echo "$direct" | sed 's/$/   <- call it by its function in host\/plugin\/verbs.h/'
    exit 1
fi
echo "verbs: called in host/plugin/verbs.c alone"
