#!/bin/sh
# fuzz.sh WHAT BUILD [SECONDS] - the fuzzers of tests/fuzz, which make has built in BUILD/fuzz.
#
#   run            libFuzzer, SECONDS for each, as many at a time as there are processors; what it learns stays in BUILD/fuzz/corpus
#   long           that in rounds, until there have been 20 million executions
#   canary         plants a fault and lets the fuzzer look for it, at most SECONDS for each: one that is not found is an error
#   replay         without libFuzzer: seeds as they are and damaged, with BUILD/replay
#   has-libfuzzer  can clang link it here? says nothing
#
# A target's comment says where it begins, and which faults it must find:
#
#    seeds: tests/fuzz/corpus/fuzz_x config/meshes     files and folders; SHARED stands for small libraries made here
#    canary: host/part/file.c s/check/no check/        a sed expression that changes one line of the file
#
# TARGETS in the environment chooses some of them. Planted faults live in copies under BUILD/fuzz/canary; the sources know nothing of them.
set -eu

cd "$(dirname "$0")/.."
what=$1
build=${2:-build}
seconds=${3:-60}

has_libfuzzer() {
    scratch=$(mktemp -d)
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d == 0 && n > 0; }' >"$scratch/x.c"
    if clang -fsanitize=fuzzer,address,undefined "$scratch/x.c" -o "$scratch/x" >/dev/null 2>&1; then ok=0; else ok=1; fi
    rm -rf "$scratch"
    return $ok
}

said() { # WORD TARGET - what the target's comment says
    sed -n "s/^ \* $1: //p" "tests/fuzz/$2.c"
}

# Small libraries of both formats: large ones are slow to judge, and few of their bytes matter.
make_shared() {
    shared=$build/fuzz/shared
    [ ! -d "$shared" ] || return 0
    mkdir -p "$shared.new"
    for name in twin crasher; do # the first needs no library, the second versions of the C library's functions
        strip -o "$shared.new/$name.so" "$build/fixtures/$name.so"
    done
    if command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1; then
        x86_64-w64-mingw32-gcc -s -shared -nostdlib -I plugin_api tests/fixtures/twin.c -o "$shared.new/twin.dll" >/dev/null 2>&1 || true
    fi
    mv "$shared.new" "$shared"
}

seeds_of() {
    for seed in $(said seeds "$1"); do
        if [ "$seed" = SHARED ]; then
            make_shared
            seed=$build/fuzz/shared
        fi
        echo "$seed"
    done
}

# fuzz PROGRAM TARGET CORPUS SECONDS - libFuzzer with the target's dictionary and seeds.
fuzz() {
    dictionary=tests/fuzz/${2#fuzz_}.dict
    [ ! -f "$dictionary" ] || dictionary="-dict=$dictionary"
    [ "${dictionary#-}" != "$dictionary" ] || dictionary=-verbosity=1
    mkdir -p "$3"
    # shellcheck disable=SC2046
    "$1" "-max_total_time=$4" -use_value_profile=1 -print_final_stats=1 "$dictionary" "-artifact_prefix=$3.found-" "$3" $(seeds_of "$2")
}

run_one() {
    if ! fuzz "$build/fuzz/$1" "$1" "$build/fuzz/corpus/$1" "$seconds" >"$build/fuzz/$1.log" 2>&1; then
        tail -40 "$build/fuzz/$1.log"
        echo "fuzz.sh: $1 has found something: $build/fuzz/$1.log" >&2
        exit 1
    fi
    echo "$1, $seconds s: $(executions "$1") executions"
}

executions() {
    sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$1.log"
}

run() {
    # shellcheck disable=SC2086
    printf "%s\n" $targets | xargs -P "$(nproc)" -I TARGET tools/fuzz.sh run-one "$build" "$seconds" TARGET
}

long() {
    total=0
    while [ "$total" -lt 20000000 ]; do
        run
        for target in $targets; do total=$((total + $(executions "$target"))); done
        echo "== $total executions"
    done
}

# plant TARGET NUMBER FILE EXPRESSION - the fuzzer with a fault in FILE, as $planted.
plant() {
    planted=$build/fuzz/canary/$1_$2
    sed "$4" "$3" >"$planted.c"
    if cmp -s "$3" "$planted.c"; then
        echo "fuzz.sh: the canary '$4' changes nothing in $3; tests/fuzz/$1.c has to name another line" >&2
        exit 1
    fi
    clang -g -O1 -std=c11 -ffp-contract=off -w -fno-sanitize-recover=all -fsanitize=fuzzer-no-link,address,undefined -I plugin_api -I host \
        -I "$(dirname "$3")" -c "$planted.c" -o "$planted.o"
    case $1 in # what this target alone is linked to
    fuzz_console) own=$build/fuzz/libconsole.a own_libs= ;;
    fuzz_import) own=$build/fuzz/libimport.a own_libs=$(pkg-config --libs assimp) ;;
    *) own= own_libs= ;;
    esac
    # shellcheck disable=SC2046,SC2086
    clang -fsanitize=fuzzer,address,undefined "$build/fuzz/obj/tests/fuzz/$1.o" "$planted.o" $own "$build/fuzz/libfuzzed.a" -o "$planted" \
        $own_libs $(pkg-config --libs inih jansson) -ldl -lm -pthread
}

canary() {
    missed=0
    rm -rf "$build/fuzz/canary"
    mkdir -p "$build/fuzz/canary"
    for target in $targets; do
        said canary "$target" >"$build/fuzz/canary/$target.list"
        number=0
        while read -r file expression; do
            number=$((number + 1))
            plant "$target" "$number" "$file" "$expression"
            begin=$(date +%s)
            if fuzz "$planted" "$target" "$planted.corpus" "$seconds" >"$planted.log" 2>&1; then
                missed=$((missed + 1))
                echo "MISSED by $target in $seconds s: $file: $expression"
            else
                echo "$target found in $(($(date +%s) - begin)) s: $file: $expression"
                grep -m 1 -E 'ERROR: |runtime error' "$planted.log" | sed 's/^/    /' || true
            fi
        done <"$build/fuzz/canary/$target.list"
        [ "$number" -gt 0 ] || { echo "fuzz.sh: tests/fuzz/$target.c plants no fault" >&2; exit 1; }
    done
    [ "$missed" = 0 ]
}

replay() {
    for target in $targets; do
        # shellcheck disable=SC2046
        "$build/replay/$target" 2000 $(for seed in $(seeds_of "$target"); do find "$seed" -type f | sort; done) ||
            { echo "fuzz.sh: $target fails" >&2; exit 1; }
    done
}

if pkg-config --exists assimp 2>/dev/null; then missing=; else missing=fuzz_import; fi # as in the Makefile
targets=${TARGETS:-$(for file in tests/fuzz/fuzz_*.c; do basename "$file" .c; done | grep -vx "$missing")}
case $what in
has-libfuzzer) has_libfuzzer ;;
run-one) run_one "$4" ;;
run | long | canary)
    has_libfuzzer || { echo "fuzz.sh: clang with its runtime (libclang-rt-dev) is needed" >&2; exit 1; }
    $what ;;
replay) replay ;;
*) echo "usage: tools/fuzz.sh run|long|canary|replay|has-libfuzzer BUILD [SECONDS]" >&2; exit 2 ;;
esac
