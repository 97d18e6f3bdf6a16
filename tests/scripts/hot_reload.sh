#!/bin/sh
# hot_reload.sh BUILD - docs/hot_reload.md, word for word.
#
# Blocks ```sh whose first line is "# type" are run in a copy of the tree's root, one after another; "# type in another
# terminal" runs beside them, and "# type Ctrl-C in the other terminal" interrupts it. A block ``` that follows, with or
# without prose between, is what is then to be read, there or (where the commands print something themselves) here: each
# line, in this order, "..." standing for anything. It is waited for. What follows any other command is left alone.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
other=
trap '[ -z "$other" ] || kill -KILL "$other" 2>/dev/null || true; rm -rf "$scratch"' EXIT
[ "$(uname -s)" = Linux ] || { echo "hot_reload: skipped, sources are watched on Linux only"; exit 0; }

root=$scratch/root
mkdir -p "$root/build" "$scratch/blocks"
ln -s "$source/plugin_api" "$root"
cp "$build/backplane" "$root/build"

# Blocks in order: N.type, N.other, N.interrupt or N.read.
awk -v out="$scratch/blocks" '
    function begin(kind) { file = sprintf("%s/%03d.%s", out, ++n, kind); printf "" > file }
    /^```/ && !inside { inside = 1; shell = $0 == "```sh"; first = 1; file = ""; plain = $0 == "```"; next }
    /^```$/ && inside { inside = 0; file = ""; next }
    inside && shell && first {
        first = 0
        if ($0 == "# type") begin("type")
        else if ($0 == "# type in another terminal") begin("other")
        else if ($0 == "# type Ctrl-C in the other terminal") begin("interrupt")
        typed = n > 0 && file != ""
        next
    }
    inside && plain && first { first = 0; if (typed && $0 !~ /^\$ /) begin("read") }
    inside && file != "" { print > file }' "$source/docs/hot_reload.md"

# Are the lines of $1 in $2, from line $3 on, in this order? Prints the number of the last one.
find_lines() {
    awk -v from="$3" '
        function matches(line, wanted,   parts, n, i, at) {
            n = split(wanted, parts, /\.\.\./)
            for (i = 1; i <= n; i++) {
                at = index(line, parts[i])
                if (at == 0 || (i == 1 && parts[1] != "" && at != 1))
                    return 0
                line = substr(line, at + length(parts[i]))
            }
            return parts[n] == "" || line == ""
        }
        FNR == NR { wanted[++count] = $0; next }
        FNR >= from && next_one < count && matches($0, wanted[next_one + 1]) { next_one++; last = FNR }
        END { print last + 0; exit next_one < count }' "$1" "$2"
}

said=$scratch/said
: >"$said"
seen=0
blocks=0
wait_for() {
    tries=0
    until last=$(find_lines "$1" "$said" $((seen + 1))); do
        tries=$((tries + 1))
        if [ $tries -gt 200 ]; then
            echo "docs/hot_reload.md: this was to be read"
            cat "$1"
            echo "and this was said:"
            cat "$said"
            exit 1
        fi
        sleep 0.05
    done
    seen=$last
}

for block in "$scratch"/blocks/*; do
    blocks=$((blocks + 1))
    case $block in
    *.type)
        (cd "$root" && sh -e "$block") >"$scratch/printed" 2>&1 || { cat "$block" "$scratch/printed"; echo "docs/hot_reload.md: these commands fail"; exit 1; }
        [ ! -s "$scratch/printed" ] || cat "$scratch/printed" >>"$said"
        ;;
    *.other)
        (cd "$root" && exec sh -c "exec $(cat "$block")") >>"$said" 2>&1 </dev/null &
        other=$!
        ;;
    *.interrupt)
        kill -INT "$other"
        wait "$other" || true
        other=
        ;;
    *.read) wait_for "$block" ;;
    esac
done
echo "$blocks listings followed"
