#!/bin/sh
# loops.sh BUILD - BP_WIDEST does what its header says: with the flags that the manual types (-O2, no -std) a loop over
# columns becomes vectors, of 64, 32 and 16 bytes where several versions are made, and gives the bits of a build that
# does not optimise. A loop over 32-bit numbers is among them, which ends at the `count` that `run` is handed: such a
# column might be where match->count is, as far as a compiler knows, so a loop up to that is none.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "loops: $*"; exit 1; }

cat >"$scratch/drift.c" <<'END'
#include <bp_plugin.h>
#include <helpers/bp_widest.h>

struct things { uint32_t *age; float *heat; const float *rate; };
static const bp_term_field_t fields[] = {
    {BP_FIELD_OF(struct things, age)},
    {BP_FIELD_OF(struct things, heat)},
    {BP_FIELD_OF(struct things, rate)},
};
static const bp_term_t terms[] = {{.component = "thing", .fields = BP_LIST(fields)}};

BP_WIDEST
static void run(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct things, t, match->columns[0]);
    float dt = (float)match->step->dt;
    for (uint32_t i = 0; i < count; i++)
        t.age[i] += 1; /* ages */
    for (uint32_t i = 0; i < count; i++)
        t.heat[i] = t.heat[i] * 0.99f + t.rate[i] * dt; /* heats */
}

static const bp_system_i systems[] = {{.name = "drift", .terms = BP_LIST(terms), .run = run}};

BP_PLUGIN(drift) = {.version = "1.0", .systems = BP_LIST(systems)};
END
# Calls the system as a host does, and prints the bits of what came out.
cat >"$scratch/call.c" <<'END'
#include "drift.c"
#include <stdio.h>
#include <string.h>

int main(void)
{
    enum { COUNT = 1003 };
    static uint32_t age[COUNT];
    static float heat[COUNT], rate[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        age[i] = i;
        heat[i] = (float)i * 0.37f;
        rate[i] = 1.0f / (float)(i + 1);
    }
    void *columns[] = {age, heat, rate};
    void *const *terms_of[] = {columns};
    bp_step_t step = {.struct_size = sizeof step, .dt = 1.0 / 60};
    bp_match_t match = {.struct_size = sizeof match, .count = COUNT, .step = &step, .columns = terms_of};
    for (int k = 0; k < 100; k++)
        systems[0].run(&match, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t bits;
        memcpy(&bits, &heat[i], sizeof bits);
        printf("%u %08x\n", (unsigned)age[i], (unsigned)bits);
    }
    return 0;
}
END

tried=
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    for flags in "-O0 -ffp-contract=off" "-O2" "-O3 -march=native"; do
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror $flags -I "$source/plugin_api" "$scratch/call.c" -o "$scratch/call"
        "$scratch/call" >"$scratch/printed"
        [ -s "$scratch/plain" ] || cp "$scratch/printed" "$scratch/plain"
        cmp -s "$scratch/plain" "$scratch/printed" || fail "$compiler $flags computes other bits"
    done
    tried="$tried $compiler"
done
[ -n "$tried" ] || { echo "loops: skipped, there is neither gcc nor clang"; exit 0; }
tail -1 "$scratch/plain" | grep -q '^1102 ' || fail "the loop did not run: $(tail -1 "$scratch/plain")"

# vectors WORD WIDTHS: which vectors gcc makes of each of the two loops where WORD stands before the function.
vectors() {
    sed "s/^BP_WIDEST\$/$1/" "$scratch/drift.c" >"$scratch/said.c"
    gcc -shared -fPIC -O2 -fopt-info-vec -I "$source/plugin_api" "$scratch/said.c" -o "$scratch/said.so" >"$scratch/said" 2>&1
    for loop in ages heats; do
        line=$(($(sed -n "/$loop/=" "$scratch/said.c") - 1))
        for width in 64 32 16; do
            found=no
            ! grep -q "^[^:]*:$line:.*loop vectorized using $width byte vectors" "$scratch/said" || found=yes
            wanted=no
            case " $2 " in *" $width "*) wanted=yes ;; esac
            [ $found = $wanted ] || { cat "$scratch/said"; fail "vectors of $width bytes of the loop that $loop, with '$1': $found"; }
        done
    done
}
if command -v gcc >/dev/null; then
    case $(uname -m) in
    x86_64)
        vectors "" "" # else the word would not be needed
        vectors BP_WIDEST "16 32 64"
        vectors BP_WIDEST_8 "16 32" ;;
    *) vectors BP_WIDEST "16" ;;
    esac
    gcc -shared -fPIC -O2 -fsanitize=address -I "$source/plugin_api" "$scratch/drift.c" -o "$scratch/said.so"
    ! nm "$scratch/said.so" | grep -q resolver || fail "several versions are made under a sanitizer"
fi
echo "loops: with BP_WIDEST they are vectors at -O2, and the bits are the same:$tried"
