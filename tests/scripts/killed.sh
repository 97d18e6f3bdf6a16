#!/bin/sh
# killed.sh BUILD - a host that is killed leaves the copies of its plugins behind; the next one to start removes them,
# and not those of hosts that live.
set -eu

build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
first=
second=
trap '[ -z "$first" ] || kill -KILL "$first" 2>/dev/null || true; [ -z "$second" ] || kill -KILL "$second" 2>/dev/null || true; rm -rf "$scratch"' EXIT
[ "$(uname -s)" = Linux ] || { echo "killed: skipped"; exit 0; }
cd "$scratch"
mkdir temporary
TMPDIR=$scratch/temporary
export TMPDIR
printf '[host]\nplugins = %s\nhot_reload = on\n[world main]\n' "$build/plugins/point_mass" >host.ini

folders() { find temporary -mindepth 1 -maxdepth 1 -name 'backplane-*' | wc -l; }
# wait_until SENTENCE COMMAND...
wait_until() {
    tries=0
    sentence=$1
    shift
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -le 200 ] || { echo "$sentence"; ls -la temporary/*; exit 1; }
        sleep 0.05
    done
}
copies() { [ "$(find temporary -name '*.so' | wc -l)" = "$1" ]; }

"$build/backplane" run host.ini --real-time >/dev/null 2>&1 </dev/null &
first=$!
wait_until "the first host makes no copy" copies 1
"$build/backplane" run host.ini --real-time >/dev/null 2>&1 </dev/null &
second=$!
wait_until "the second host makes no copy, or takes that of the first away" copies 2
kill -KILL "$first"
wait "$first" || true
first=
copies 2 || { echo "the copies of the killed host are not left behind: nothing to remove"; exit 1; }
echo quit | "$build/backplane" console host.ini >said 2>&1
[ "$(folders)" = 1 ] && copies 1 || { echo "not the one folder of the host that lives is left, but:"; ls -la temporary/*; cat said; exit 1; }
kill -INT "$second"
wait "$second"
second=
[ "$(folders)" = 0 ] || { echo "a host that ends leaves:"; ls -la temporary/*; exit 1; }
echo "the copies of the killed host are gone"
