#!/bin/sh
# gdb.sh BUILD - a break point by a function's name is hit before a reload and after it, in the new code.
#
# A wheel turns under gdb; at the first hit the plugin's file is replaced, and three thousand hits later, which the host
# needs to notice it, the function that is stopped in must lie in the second copy.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v gdb >/dev/null || { echo "gdb: skipped, gdb is not installed"; exit 0; }
[ "$(uname -s)" = Linux ] || { echo "gdb: skipped, files are watched by notices on Linux only"; exit 0; }
cd "$scratch"

version() {
    cat >spin.c <<END
#include <bp_plugin.h>
static const bp_field_t fields[] = {{.name = "angle", .type = BP_F32}};
static void turn(const bp_run_t *run, uint32_t count)
{
    float *angle = BP_COLUMN(run, float, 0);
    for (uint32_t i = 0; i < count; i++)
        angle[i] += $1 * (float)run->step->dt;
}
static const bp_component_i components[] = {{.name = "spin", .fields = BP_LIST(fields), .simulate = turn}};
BP_PLUGIN(spin) = {.version = "$1", .components = BP_LIST(components)};
END
    ${CC:-cc} -shared -fPIC -O1 -g -I "$source/plugin_api" spin.c -o "$2"
}

version 1 spin.so
version 2 next.so
cat >wheel.ini <<'END'
[host]
plugins = ./spin.so
hot_reload = on
crash_guard = on
[world main]
step_rate = 1000
components = spin
[spawn main wheel]
components = spin
END
cat >commands <<'END'
set breakpoint pending on
set confirm off
set pagination off
handle SIGSEGV nostop noprint pass
break turn
run run wheel.ini --real-time --steps 100000
info symbol $pc
shell mv next.so spin.so
ignore 1 3000
continue
info symbol $pc
kill
quit
END
if ! timeout 60 gdb -q -nx -batch -x commands "$build/backplane" >said 2>&1 </dev/null; then
    if grep -qi 'ptrace\|not permitted' said; then
        echo "gdb: skipped, this machine does not let processes be debugged"
        exit 0
    fi
    cat said
    exit 1
fi
if grep -q 'Could not trace the inferior\|ptrace: Operation not permitted' said; then
    echo "gdb: skipped, this machine does not let processes be debugged"
    exit 0
fi
for copy in 1 2; do
    grep -q "^turn in section .text of .*/spin\\.$copy\\.so" said ||
        { cat said; echo "gdb: the break point was not hit in version $copy"; exit 1; }
done
echo "gdb: hit before and after a reload"
