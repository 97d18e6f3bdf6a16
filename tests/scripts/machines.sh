#!/bin/sh
# machines.sh BUILD - one ini on several ranks by mpirun: worlds of each rank and of one, one report of all, and what
# ends a job. Where mpirun or the plugin mpi is missing, there is nothing to check.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v mpirun >/dev/null 2>&1 || { echo "machines: mpirun is not installed"; exit 0; }
[ -f "$build/plugins/mpi.so" ] || { echo "machines: the plugin mpi is not built"; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 # whoever waits leaves the processor to the others

fail() {
    echo "machines: $*"
    for file in said error; do sed "s/^/    $file: /" "$scratch/$file"; done
    exit 1
}

# ranks N INI [ARGUMENT ...] - run an ini on N ranks
ranks() {
    number=$1 ini=$2
    shift 2
    start="mpirun -n $number"
    [ "$number" != 1 ] || start= # one process needs none, and starts at once
    # shellcheck disable=SC2086
    timeout 60 $start "$build/backplane" run "$scratch/$ini" "$@" >"$scratch/said" 2>"$scratch/error"
}

# A sweep: each rank drops its body with another speed.
cat >"$scratch/sweep.ini" <<END
[host]
plugins = mpi point_mass debug_name recorder
steps = 60
[plugin recorder]
properties = main/body.body.position
csv = $scratch/drop_{rank}.csv
[world main]
step_rate = 60
components = point_mass debug_name
systems = recorder
[spawn main body]
components = body:point_mass debug_name
debug_name.name = body
body.velocity = {rank: 1 2 3} 0 0
[world judge]
place = rank 2
END
ranks 3 sweep.ini || fail "a sweep on three ranks fails"
[ ! -s "$scratch/error" ] || fail "a sweep complains"
grep -q '^60 steps on 3 ranks with 3 entities' "$scratch/said" || fail "the last line does not tell of the ranks"
[ "$(grep -c '^main  *[012]  *60 ' "$scratch/said")" = 3 ] || fail "the world of each rank is not told"
[ "$(grep -c '^judge ' "$scratch/said")" = 1 ] || fail "the world of one rank is told otherwise than once"
for rank in 0 1 2; do
    tail -n 1 "$scratch/drop_$rank.csv" >"$scratch/last"
    awk -F, -v speed=$((rank + 1)) '{ exit !($2 > 0.9 * speed && $2 < 1.1 * speed) }' "$scratch/last" ||
        { cat "$scratch/last"; fail "rank $rank has not its own value"; }
done
ranks 3 sweep.ini --json || fail "--json fails"
python3 - "$scratch/said" <<'END' || fail "--json is not one object of all ranks"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["ranks"] == 3 and told["entities"] == 3 and told["steps"] == 60, told
assert [w["rank"] for w in told["worlds"] if w["name"] == "main"] == [0, 1, 2], told["worlds"]
assert [w["rank"] for w in told["worlds"] if w["name"] == "judge"] == [2], told["worlds"]
table = [t for r in told["reports"] for t in r["tables"]]
assert all("rank" in row for t in table for row in t["rows"]), table
END

# One world on all ranks: a gas whose result is the same to the last bit on any number of them, and without any. All
# particles are counted in each step.
cp -R "$source/examples/gas" "$scratch/gas"
compile() { # compile FILE - the gas as it lies there
    ${CC:-cc} -shared -fPIC -O2 -ffp-contract=off -I"$source/plugin_api" "$scratch"/gas/*.c -o "$1" -lm
}
compile "$scratch/gas/gas.so"
gas() { # gas FILE HALO COUNT BOX - an ini of a split gas
    sed -e "s/^halo = .*/halo = $2/; s/^identity/audit = true\nevery = 20\nuneven = 0.05\n&/" \
        -e "s/^count = .*/count = $3/; s/^box = .*/box = $4/; s/^svg = .*//" "$scratch/gas/machines.ini" >"$scratch/gas/$1"
}
hash_of() { sed -n 's/.*hash of positions and velocities *//p' "$scratch/said"; }
gas flat.ini 1 600 "40 26 0"
gas deep.ini 1 400 "12 8 7"
sed -e 's/plugins = mpi /plugins = /; /^place = /d; /^\[plugin mpi\]/,/^$/d' "$scratch/gas/flat.ini" >"$scratch/gas/alone.ini"
"$build/backplane" run "$scratch/gas/alone.ini" >"$scratch/said" 2>"$scratch/error" || fail "the gas alone fails"
flat=$(hash_of) deep=
[ -n "$flat" ] || fail "the gas tells no hash"
for number in 1 2 3 4; do
    ranks $number gas/flat.ini || fail "the gas on $number ranks fails"
    [ ! -s "$scratch/error" ] || fail "the gas on $number ranks complains"
    [ "$(hash_of)" = "$flat" ] || fail "the gas on $number ranks is not that of one host, $flat"
done
grep -Eq 'times that space was cut *([2-9]|[1-9][0-9])' "$scratch/said" || fail "space is never cut anew"
awk '/came from others/ { reading = 1; next } reading && NF == 5 { came += $2; left += $3; n++ } NF == 0 { reading = 0 }
    END { exit !(n == 4 && came == left && came > 100) }' "$scratch/said" || fail "hardly any particle has moved on"
for number in 1 4; do
    ranks $number gas/deep.ini --steps 200 || fail "the gas in three dimensions fails on $number ranks"
    [ "$(hash_of)" = "${deep:=$(hash_of)}" ] || fail "the gas in three dimensions differs on $number ranks"
done
# What reaches less far than the forces gives another result: so the copies are what makes it the same.
gas near.ini 0.3 400 "12 8 7"
ranks 3 gas/near.ini --steps 200 || fail "the gas with few copies fails"
[ "$(hash_of)" != "$deep" ] || fail "the copies make no difference"
sed 's/^position = .*/position = particle.number/' "$scratch/gas/flat.ini" >"$scratch/gas/wrong.ini"
if ranks 2 gas/wrong.ini; then fail "a position that is none is not noticed"; fi
grep -q 'it is no vector' "$scratch/error" || fail "a position that is none is not told"

# Reloads while they run: a new version comes in on all ranks before the same step, and one that a rank cannot load on
# none, with the reason; the result is as without.
"$build/backplane" run "$scratch/gas/alone.ini" --steps 400 >"$scratch/said" 2>"$scratch/error" || fail "the gas alone fails"
still=$(hash_of)
sed 's/"1.0"/"1.1"/' "$source/examples/gas/gas.c" >"$scratch/gas/gas.c"
compile "$scratch/good.so"
cat >"$scratch/gas/refuses.h" <<'END'
#include <bp_plugin.h>
#include <stdlib.h>
static bp_result_t not_on_rank_1(bp_plugin_t *plugin)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank != NULL && rank[0] == '1' ? plugin->api->error->set(plugin->host, BP_ERROR_FAILED, "not here") : BP_OK;
}
END
sed -e 's/"1.0"/"1.2"/; s/^    \.components = BP_LIST(components),/    .load = not_on_rank_1,\n&/' -e '1i #include "refuses.h"' \
    "$source/examples/gas/gas.c" >"$scratch/gas/gas.c"
compile "$scratch/bad.so"
sed 's/^\[host\]/&\nhot_reload = on\ntrial = off/' "$scratch/gas/flat.ini" >"$scratch/gas/hot.ini"
{
    while [ ! -e "$scratch/trace" ]; do sleep 0.1; done # written from the first step on
    sleep 0.5
    mv "$scratch/good.so" "$scratch/gas/gas.so"
    sleep 1.5
    mv "$scratch/bad.so" "$scratch/gas/gas.so"
} &
ranks 3 gas/hot.ini --steps 400 --real-time --trace "$scratch/trace" || fail "a gas that is reloaded fails"
wait
[ "$(grep -c 'reloaded gas 1.0 -> 1.1' "$scratch/error")" = 3 ] || fail "not all ranks have reloaded"
[ "$(grep -c 'not reloaded: gas' "$scratch/error")" = 3 ] || fail "not all ranks have refused"
[ "$(grep -c 'rank 1 cannot take it, so no rank does: .*not here' "$scratch/error")" = 3 ] || fail "no reason is given"
[ "$(hash_of)" = "$still" ] || fail "a reload changes the result"

# Another ini on one rank: both say what differs, and the job fails.
sed 's/^steps = .*/steps = 61/' "$scratch/sweep.ini" >"$scratch/other.ini"
if timeout 60 mpirun -n 1 "$build/backplane" run "$scratch/sweep.ini" : -n 2 "$build/backplane" run "$scratch/other.ini" \
    >"$scratch/said" 2>"$scratch/error"; then
    fail "ranks with two inis run"
fi
grep -q "rank 1 was not started with what rank 0 was: '\[host\] steps = 61' there, '\[host\] steps = 60' on rank 0" \
    "$scratch/error" || fail "what differs is not told"
[ ! -s "$scratch/said" ] || fail "a refused job prints a report"

# One rank fails at its start: it says so, and the others do not wait for it.
sed 's/{rank: 1 2 3} 0 0/{rank: 1 x 3} 0 0/' "$scratch/sweep.ini" >"$scratch/wrong.ini"
if ranks 3 wrong.ini; then fail "a rank that fails is not noticed"; fi
grep -q 'rank 1: .*wrong.ini:14: body.velocity = ' "$scratch/error" || fail "the rank that fails is not named"

# Started without mpirun it is one rank, and MPI is left alone.
sed 's/{rank: 1 2 3}/{ranks}/; s/place = rank 2/place = rank 0/' "$scratch/sweep.ini" >"$scratch/alone.ini"
"$build/backplane" run "$scratch/alone.ini" >"$scratch/said" 2>"$scratch/error" || fail "one process alone fails"
[ ! -s "$scratch/error" ] || fail "one process alone complains"
grep -q '^60 steps with 1 entity' "$scratch/said" || fail "one process alone is not a plain run"
echo "several ranks are as they should be"
