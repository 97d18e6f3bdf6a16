#!/bin/sh
# measure_save.sh BUILD [TIMES] - from saving a plugin's source to the new code running, less the compiler's time.
#
# A wheel turns in real time, its plugin is edited TIMES times, and for each the time is taken from the end of the save
# to the line that tells of the reload, less that between beginning and end of the build command. Prints the median and
# the extremes in milliseconds. docs/benchmarks.md has the figures.
set -eu

[ $# -ge 1 ] || { echo "usage: tools/measure_save.sh BUILD [TIMES]" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
times=${2:-20}
scratch=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill "$runner" 2>/dev/null || true; rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir sources

write_source() {
    cat >sources/spin.c.new <<END
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
}

cat >compile.sh <<END
date +%s%N >began
${CC:-cc} -shared -fPIC -O2 -g -I "$source/plugin_api" sources/spin.c -o spin.so
date +%s%N >ended
END
cat >wheel.ini <<'END'
[host]
plugins = ./spin.so
hot_reload = on
crash_guard = on
build = sh compile.sh {plugin}
sources = sources
[world main]
step_rate = 60
components = spin
[spawn main wheel]
components = spin
END
write_source 0 && mv sources/spin.c.new sources/spin.c
sh compile.sh
mkfifo lines
"$build/backplane" run wheel.ini --real-time >lines 2>&1 &
runner=$!
exec 3<lines
sleep 1
n=1
while [ "$n" -le "$times" ]; do
    write_source $n
    mv sources/spin.c.new sources/spin.c
    saved=$(date +%s%N)
    while read -r line <&3; do
        case $line in *"reloaded spin"*"-> $n:"*) break ;; esac
    done
    live=$(date +%s%N)
    echo "$(((live - saved - ($(cat ended) - $(cat began))) / 1000))"
    n=$((n + 1))
    sleep 0.3
done | sort -n >results
kill -INT "$runner"
wait "$runner" || true
runner=
awk '{ t[NR] = $1 / 1000 } END { printf "save to live, less the compiler, of %d: median %.0f ms, least %.0f, most %.0f\n", NR, t[int((NR + 1) / 2)], t[1], t[NR] }' results
