#!/bin/sh
# languages.sh BUILD - one plugin in C, C++ and Rust: each compiles by the command of docs/languages.md, is fine, passes
# the conformance suite, and takes over from the one before it in a running world.
#
# A compiler that is missing has its language skipped, with a sentence.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "languages: $*"; exit 1; }

# as_told LANGUAGE COMMAND: run the line of docs/languages.md that begins with COMMAND, so that LANGUAGE.so comes of it.
as_told() {
    line=$(grep "^$2 " "$source/docs/languages.md") || fail "docs/languages.md does not say how $2 is called"
    (cd "$source" && sh -ec "$(echo "$line" | sed "s| spin.so\$| '$scratch/$1.so'|")") || fail "$line: it fails"
    mkdir -p "$scratch/in_$1" && cp "$scratch/$1.so" "$scratch/in_$1/spin.so" # a plugin's file bears its name
    "$build/backplane" check "$scratch/in_$1/spin.so" >"$scratch/said" 2>&1 || { cat "$scratch/said"; fail "$1: check finds something"; }
    grep -q "component 'spin': 2 properties" "$scratch/said" || { cat "$scratch/said"; fail "$1: it lacks its properties"; }
}

# The structs of bp.rs are those of the headers: in size, and each member under its name at its place. What a language
# calls otherwise: a type is called kind there, and the four verbs of a plugin are one array.
{
    echo '#include <bp_plugin.h>'
    sed -n '/^pub struct List</,/^}/d; s|^/// \(bp_[a-z_]*\)$|type \1|p; s/^    \(pub \)\{0,1\}\([a-z_]*\): .*,$/member \2/p
        s/^}/end/p' "$source/plugin_api/bp.rs" | while read -r what name; do
        case $what in
        type) type=$name before=0 ;;
        end) type='' ;;
        member)
            [ -n "${type:-}" ] || continue
            case $name in kind) name=type ;; verbs) name=load ;; esac
            echo "_Static_assert(offsetof($type, $name) >= $before, \"$type.$name of plugin_api/bp.rs\");"
            before="offsetof($type, $name) + 1"
            ;;
        esac
    done
    sed -n 's/.*size_of::<\([A-Za-z]*\)>() == \([0-9]*\).*/\1 \2/p' "$source/plugin_api/bp.rs" | while read -r name size; do
        case $name in
        Field) type=bp_field_t ;; Component) type=bp_component_i ;; Desc) type=bp_plugin_desc_t ;; Head) type=bp_plugin_head_t ;;
        Run) type=bp_run_t ;; Step) type=bp_step_t ;; *) type=unknown_$name ;;
        esac
        echo "_Static_assert(sizeof($type) == $size, \"$type of plugin_api/bp.rs\");"
    done
} >"$scratch/sizes.c"
[ "$(grep -c Static_assert "$scratch/sizes.c")" -ge 60 ] || fail "bp.rs asserts hardly any size"
cc -I "$source/plugin_api" -c "$scratch/sizes.c" -o "$scratch/sizes.o" || fail "a struct of bp.rs is not that of the headers"

cc -shared -fPIC -I "$source/plugin_api" "$source/examples/plugin/spin.c" -o "$scratch/c.so"
languages=""
if command -v g++ >/dev/null; then
    as_told cpp g++
    languages="$languages cpp"
else
    echo "C++ is skipped: there is no g++"
fi
if command -v rustc >/dev/null; then
    as_told rust rustc
    languages="$languages rust"
else
    echo "Rust is skipped: there is no rustc"
fi

# One world lives through all of them.
awaited() {
    for try in $(seq 300); do
        [ "$(grep -c "$1" "$scratch/said")" -lt "$2" ] || return 0
        sleep 0.1
    done
    cat "$scratch/said"
    fail "'$1' does not come"
}
cp "$source/examples/plugin/spin.ini" "$scratch/spin.ini"
cp "$scratch/c.so" "$scratch/spin.so"
mkfifo "$scratch/lines"
: >"$scratch/said"
"$build/backplane" console "$scratch/spin.ini" <"$scratch/lines" >"$scratch/said" 2>&1 &
console=$!
exec 3>"$scratch/lines"
echo 'step 30' >&3
awaited '^main: step' 1
n=1
for language in $languages c; do
    cp "$scratch/$language.so" "$scratch/new.so" && mv "$scratch/new.so" "$scratch/spin.so"
    echo 'reload spin' >&3
    awaited '^reloaded spin' $n
    n=$((n + 1))
    echo 'step 30' >&3
    awaited '^main: step' $n
done
echo 'get main/wheel.spin.angle' >&3
exec 3>&-
wait $console || { cat "$scratch/said"; fail "the console fails"; }
# 2.5 turns in a unit of time, which 60 steps are.
tail -n 1 "$scratch/said" | awk -v n=$n '{ exit !($1 > n * 1.25 - 0.001 && $1 < n * 1.25 + 0.001) }' ||
    { cat "$scratch/said"; fail "the wheel has not turned $n times 1.25"; }

# What every manager must do; the paths in the tests are relative to the root.
if [ -x "$build/tests" ]; then
    cd "$source"
    for language in $languages; do
        mkdir "$scratch/$language" && cp "$scratch/$language.so" "$scratch/$language/spin.so"
        BACKPLANE_CONFORMANCE=$scratch/$language/spin.so "$build/tests" conformance >"$scratch/said" 2>&1 ||
            { cat "$scratch/said"; fail "$language does not pass the conformance suite"; }
    done
fi
echo "spin in C$(echo "$languages" | sed 's/ cpp/, C++/; s/ rust/, Rust/'): $n times in one world"
