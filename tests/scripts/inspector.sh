#!/bin/sh
# inspector.sh BUILD - the plugin inspector in a running program: --inspect, ill-meant clients, plugins that change
# meanwhile. Where BUILD has no inspector (no libmicrohttpd, no esbuild), or there is no python3, nothing is checked.
set -eu
export PYTHONDONTWRITEBYTECODE=1 # the tree stays as it is

build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$build/plugins/inspector.so" ] || { echo "the inspector is not built"; exit 0; }
command -v python3 >/dev/null 2>&1 || { echo "inspector: skipped, there is no python3"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "inspector: $*"
    cat "$scratch/said"
    exit 1
}

# --inspect: the address is printed; a port that is none, one too many, and an ini that has an inspector are refused.
run() {
    "$build/backplane" run "$@" >"$scratch/said" 2>&1
}
run "$source/examples/plugin/ini/none.ini" --inspect 0 && fail "an ini that is not there is taken"
run "$source/config/dev.ini" --real-time --steps 3 --inspect 0 || fail "--inspect 0 fails"
grep -q '^backplane: inspector: http://127\.0\.0\.1:[0-9][0-9]*$' "$scratch/said" || fail "the address is not printed"
run "$source/config/dev.ini" --steps 1 --inspect 70000 && fail "port 70000 is taken"
grep -q 'from 0 (any that is free) to 65535' "$scratch/said" || fail "nothing is said of ports"
run "$source/config/dev.ini" --steps 1 --inspect --inspect && fail "--inspect is taken twice"
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(20)' >"$scratch/port" &
taker=$!
while [ ! -s "$scratch/port" ]; do sleep 0.05; done
run "$source/config/dev.ini" --steps 1 --inspect "$(cat "$scratch/port")" && fail "a port that is taken is taken again"
kill "$taker"
grep -q 'is taken; set `port` to another one' "$scratch/said" || fail "nothing is said of the port that is taken"
"$build/backplane" schema >/dev/null || fail "schema fails"
printf '[host]\nplugins = inspector\n[plugin inspector]\nport = 0\n[world main]\n' >"$scratch/own.ini"
run "$scratch/own.ini" --steps 1 --inspect || fail "an ini with an inspector cannot be inspected"
run "$scratch/own.ini" --steps 1 --inspect 1 && fail "the port of the ini is overruled without a word"
grep -q 'the ini loads the inspector itself' "$scratch/said" || fail "nothing is said of the ini's inspector"

python3 "$source/tests/inspector/live.py" "$build"
python3 "$source/tests/inspector/own.py" "$build"
python3 "$source/tests/inspector/source.py" "$build"
python3 "$source/tests/inspector/robust.py" "$build"
