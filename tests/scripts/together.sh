#!/bin/sh
# together.sh BUILD - two plugins that must change together, as a program: written by one build, one after the other, or
# one much later.
#
# `wheel` brings a component, and a system of `reader` asks for its field `speed`. In the next version of both that
# field is of another type, so neither can go on with the other's old one. The program runs in real time meanwhile; what
# it says is waited for.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill -KILL "$runner" 2>/dev/null || true; rm -rf "$scratch"' EXIT
[ "$(uname -s)" = Linux ] || { echo "together: skipped, trials need fork"; exit 0; }
cd "$scratch"

# write_wheel VERSION TYPE CTYPE; write_reader VERSION TYPE CTYPE [STATEMENT]: NAME.new.so, to be moved into place
write_wheel() {
    cat >wheel.c <<END
#include <bp_plugin.h>
static const bp_field_t fields[] = {{.name = "speed", .type = $2, .initial = "1"}};
static const bp_component_i components[] = {{.name = "wheel", .fields = BP_LIST(fields)}};
BP_PLUGIN(wheel) = {.version = "$1", .components = BP_LIST(components)};
END
    cc -shared -fPIC -I "$source/plugin_api" wheel.c -o wheel.new.so
}
write_reader() {
    cat >reader.c <<END
#include <bp_plugin.h>
static const bp_field_t fields[] = {{.name = "sum", .type = BP_F64}};
static const bp_component_i components[] = {{.name = "reading", .fields = BP_LIST(fields)}};
static const bp_term_field_t sums[] = {{.name = "sum", .type = BP_F64, .access = BP_WRITE}};
static const bp_term_field_t speeds[] = {{.name = "speed", .type = $2}};
static const bp_term_t terms[] = {{.component = "reading", .fields = BP_LIST(sums)}, {.component = "wheel", .fields = BP_LIST(speeds)}};
static void run(const bp_match_t *match, uint32_t count)
{
    double *sum = BP_TERM_COLUMN(match, double, 0, 0);
    const $3 *speed = BP_TERM_COLUMN(match, $3, 1, 0);
    for (uint32_t i = 0; i < count; i++)
        sum[i] = (double)speed[i];
    ${4-}
}
static const bp_system_i systems[] = {{.name = "read", .terms = BP_LIST(terms), .run = run}};
BP_PLUGIN(reader) = {.version = "$1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
END
    cc -shared -fPIC -I "$source/plugin_api" reader.c -o reader.new.so
}
put() { mv "$1.new.so" "$1.so"; }
# Both at once, however slow the machine: the runner sees nothing of it before both are there.
put_both() {
    kill -STOP "$runner"
    put wheel
    put reader
    kill -CONT "$runner"
}

cat >run.ini <<'END'
[host]
plugins = ./wheel.so ./reader.so
hot_reload = on
crash_guard = on

[world main]
step_rate = 60
components = wheel reading
systems = read

[spawn main thing]
components = wheel reading
END

: >said
seen=0
# A line with these words, after the last one that was waited for. What lies between is in `between`.
wait_for() {
    tries=0
    until line=$(awk -v from=$seen -v words="$1" 'FNR > from && index($0, words) > 0 { print FNR; exit }' said) && [ -n "$line" ]; do
        tries=$((tries + 1))
        [ $tries -le 200 ] || { echo "this was to be said: $1"; echo "and this was:"; cat said; exit 1; }
        sleep 0.05
    done
    between=$(awk -v from=$seen -v to="$line" 'FNR > from && FNR < to' said)
    seen=$line
}
nothing_refused() {
    case $between in *"not reloaded"*) echo "$1: something was refused:"; cat said; exit 1 ;; esac
}

write_wheel 1 BP_F32 float; put wheel
write_reader 1 BP_F32 float; put reader
"$build/backplane" run run.ini --real-time --show 'main/#0:1.reading.sum' >said 2>&1 </dev/null &
runner=$!
wait_for 'reading.sum = 1'

# One build, one file after the other.
write_wheel 2 BP_F64 double
write_reader 2 BP_F64 double
put_both
wait_for 'reloaded wheel reader'
nothing_refused "two files written by one build"
wait_for 'plugin wheel: 1 -> 2'
wait_for 'plugin reader: 1 -> 2'
wait_for 'reading.sum = 1'

# One long before the other: refused, and tried again with it.
write_wheel 3 BP_I64 int64_t
write_reader 3 BP_I64 int64_t
put wheel
wait_for 'not reloaded: wheel'
wait_for "system 'read' of plugin 'reader' cannot go on: "
wait_for 'it is tried again together with whatever is written anew next'
put reader
wait_for 'reloaded wheel reader'
nothing_refused "the second of two files"
wait_for 'plugin wheel: 2 -> 3'
wait_for 'plugin reader: 2 -> 3'

# One of them crashes: neither comes in, until it does no longer.
write_wheel 4 BP_F64 double
write_reader 4 BP_F64 double '*(volatile int *)16 = 1;'
put_both
wait_for 'not reloaded: wheel reader'
wait_for "on trial: plugin 'reader' 4 crashed in 'run' of system 'read'"
write_reader 5 BP_F64 double
put reader
wait_for 'reloaded wheel reader'
nothing_refused "the set that was put right"
wait_for 'plugin wheel: 3 -> 4'
wait_for 'plugin reader: 3 -> 5'
wait_for 'reading.sum = 1'

kill -INT "$runner"
wait "$runner"
runner=
echo "three sets came in together"
