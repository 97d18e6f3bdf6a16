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
    sed -n '/^pub struct List</,/^}/d; s|^/// \(bp_[a-z_]*\)$|type \1|p; s/^    \(pub \)\{0,1\}\([a-z_0-9]*\): .*[,<]$/member \2/p
        s/^}/end/p' "$source/plugin_api/bp.rs" | while read -r what name; do
        case $what in
        type) type=$name before=0 ;;
        end) type='' ;;
        member)
            [ -n "${type:-}" ] || continue
            case $name in kind) name=type ;; verbs) name=load ;; ref_) name=ref ;; esac
            [ "$type" != bp_value_t ] || before=0 # a union
            echo "_Static_assert(offsetof($type, $name) >= $before, \"$type.$name of plugin_api/bp.rs\");"
            before="offsetof($type, $name) + 1"
            ;;
        esac
    done
    # The name of a struct in Rust, and that of the struct of C that the line above it says.
    sed -n 's|^/// \(bp_[a-z_]*\)$|\1|p; s/^pub \(struct\|union\) \([A-Za-z]*\) {$/\2/p' "$source/plugin_api/bp.rs" |
        awk '/^bp_/ { type = $0; next } type != "" { print $0, type; type = "" }' >"$scratch/names"
    sed -n 's/.*size_of::<\([A-Za-z]*\)>() == \([0-9]*\).*/\1 \2/p' "$source/plugin_api/bp.rs" | while read -r name size; do
        type=$(awk -v name="$name" '$1 == name { print $2 }' "$scratch/names")
        echo "_Static_assert(sizeof(${type:-unknown_$name}) == $size, \"${type:-$name} of plugin_api/bp.rs\");"
    done
} >"$scratch/sizes.c"
[ "$(grep -c Static_assert "$scratch/sizes.c")" -ge 210 ] || fail "bp.rs asserts hardly any size"
[ "$(wc -l <"$scratch/names")" = "$(grep -c 'size_of::<[A-Za-z]*>() == ' "$source/plugin_api/bp.rs")" ] || fail "bp.rs does not assert the size of each struct"
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

# What C++'s and Rust's run-time libraries keep for themselves, where they are linked in, is told in one warning; a
# variable of the plugin's own among it is found all the same.
checked() { "$build/backplane" check "$1" >"$scratch/said" 2>&1; }
errors() { grep -c '^  error:' "$scratch/said" || true; }
if command -v g++ >/dev/null; then
    cat >"$scratch/texts.cpp" <<'END'
#include <bp_plugin.h>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
struct texts { float *x; };
#ifdef OWN
namespace { int counter; }
#endif
static const bp_field_t fields[] = {{BP_FIELD_OF(texts, x)}};
static void simulate(const bp_run_t *run, uint32_t count) noexcept
{
    BP_COLUMNS(texts, c, run->columns);
    std::vector<std::string> all;
    for (uint32_t i = 0; i < count; i++) {
        try {
            all.push_back(std::to_string(c.x[i]));
            if (all.back().empty())
                throw std::runtime_error("no text");
        } catch (const std::exception &e) {
            std::cerr << e.what();
        }
#ifdef OWN
        counter++;
#endif
    }
}
static const bp_component_i components[] = {{.fields = BP_LIST(fields), .simulate = simulate}};
BP_PLUGIN(texts) = {.version = "1", .components = BP_LIST(components)};
END
    for link in "" "-static-libstdc++ -static-libgcc"; do
        for own in "" -DOWN; do
            # shellcheck disable=SC2086
            g++ -std=c++20 -shared -fPIC -fno-gnu-unique -I "$source/plugin_api" $link $own "$scratch/texts.cpp" -o "$scratch/texts.so" ||
                fail "C++ with its library does not compile ($link)"
            checked "$scratch/texts.so" && passed=yes || passed=no
            case $own:$passed:$(errors) in
            :yes:0) ;;
            -DOWN:no:1) grep -q "error: '.*counter.*' can be written" "$scratch/said" || { cat "$scratch/said"; fail "another variable is found"; } ;;
            *) cat "$scratch/said"; fail "check passes: $passed, with $(errors) errors ($link $own)" ;;
            esac
        done
    done
    grep -q "warning: C++'s run-time library is linked in" "$scratch/said" || { cat "$scratch/said"; fail "the library is not told of"; }
fi
if command -v rustc >/dev/null; then
    mkdir "$scratch/std"
    sed '/^#\[no_mangle\]$/ { N; /rust_eh_personality/d; }' "$source/examples/languages/spin.rs" | awk '/^#!\[no_std\]/ || /^extern "C" \{/ || /^#\[panic_handler\]/ { skip = /no_std/ ? 1 : 99 }
        skip > 0 { if (skip == 1 || /^}/) { skip = 0 } next }
        { print }' | sed "s|../../plugin_api|$source/plugin_api|
            s|\*angle += speed|COUNT.fetch_add(OWN, std::sync::atomic::Ordering::Relaxed); let text = format!(\"{}\", speed); if text.is_empty() { panic!() } *angle += speed|" >"$scratch/std/spin.rs"
    echo 'static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0); const OWN: u32 = 1;' >>"$scratch/std/spin.rs"
    rustc --edition 2021 --crate-type cdylib -C panic=abort -O "$scratch/std/spin.rs" -o "$scratch/std/spin.so" 2>"$scratch/said" ||
        { cat "$scratch/said"; fail "Rust with its library does not compile"; }
    checked "$scratch/std/spin.so" && fail "a static of a Rust plugin's own is not found"
    [ "$(errors)" = 1 ] && grep -q "error: '.*COUNT.*' can be written" "$scratch/said" || { cat "$scratch/said"; fail "Rust's library is found fault with"; }
    grep -q "warning: Rust's standard library is linked in" "$scratch/said" || { cat "$scratch/said"; fail "Rust's library is not told of"; }
    sed -i 's/COUNT.fetch_add(OWN, std::sync::atomic::Ordering::Relaxed);//' "$scratch/std/spin.rs"
    rustc --edition 2021 --crate-type cdylib -C panic=abort -O "$scratch/std/spin.rs" -o "$scratch/std/spin.so" 2>"$scratch/said" ||
        { cat "$scratch/said"; fail "Rust with its library does not compile"; }
    checked "$scratch/std/spin.so" || { cat "$scratch/said"; fail "Rust's library is found fault with"; }
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
