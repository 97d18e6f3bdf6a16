#!/bin/sh
# abi.sh BUILD - the contract is what it was when it was frozen (tests/abi/2.0): nothing has gone, moved or changed, and a
# plugin that was built then still works. That the comparison sees what it must see is tried on headers made wrong.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
frozen=$source/tests/abi/2.0
layout=$source/tests/abi/layout.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v python3 >/dev/null || { echo "abi: skipped, there is no python3"; exit 0; }

python3 "$layout" "$frozen" | diff "$frozen/layout.txt" - || { echo "the frozen headers have been changed"; exit 1; }
python3 "$layout" "$source/plugin_api" --keeps "$frozen/layout.txt" || {
    echo "the contract has been changed where plugins count on it; append instead"
    exit 1
}

# wrong NAME FILE SCRIPT: headers that this sed has changed must be refused, or be taken where NAME is "fine"
wrong() {
    rm -rf "$scratch/headers"
    mkdir "$scratch/headers"
    cp "$frozen"/*.h "$scratch/headers"
    sed -i "$3" "$scratch/headers/$2"
    cmp -s "$frozen/$2" "$scratch/headers/$2" && { echo "$1: nothing was changed"; exit 1; }
    if python3 "$layout" "$scratch/headers" --keeps "$frozen/layout.txt" >"$scratch/said"; then kept=fine; else kept=$?; fi
    case $1:$kept in
    fine*:fine | [!f]*:1) ;;
    *) echo "$1: $kept"; cat "$scratch/said"; exit 1 ;;
    esac
}
entry='uint32_t (BP_CALL \*count)(bp_host_o \*host);'
wrong inserted bp_api.h "s/^    $entry/    void (BP_CALL *more)(bp_host_o *host);\n&/"
wrong removed bp_api.h "/^    $entry/d"
wrong swapped bp_api.h "s/\*count)(bp_host_o/*swap)(bp_host_o/; s/\*bound)(bp_host_o/*count)(bp_host_o/; s/\*swap)(bp_host_o/*bound)(bp_host_o/"
wrong retyped bp_component.h 's/^    uint32_t range; /    int32_t  range; /'
wrong renumbered bp_types.h 's/BP_VEC3 = 8,/BP_VEC3 = 9,/; s/BP_VEC4 = 9,/BP_VEC4 = 8,/'
wrong grown-by-value bp_types.h 's/^typedef struct bp_vec2_t { float x, y; }/typedef struct bp_vec2_t { float x, y, z; }/'
wrong fine-appended bp_api.h 's/^} bp_entity_api;/    void (BP_CALL *more)(bp_host_o *host);\n&/'
wrong fine-reserved bp_system.h 's/^    void \*reserved\[5\];  /    void *news; void *reserved[4];/'

# A processor that is not supported is told so, in a sentence.
refuses() { # SENTENCE MACRO VALUE
    if printf '#include <stdint.h>\n#undef %s\n#define %s %s\n#include "bp_types.h"\n' "$2" "$2" "$3" |
        cc -x c -w -fsyntax-only -I "$source/plugin_api" - >"$scratch/said" 2>&1; then
        echo "the headers compile where $2 is $3"
        exit 1
    fi
    grep -q "$1" "$scratch/said" || { cat "$scratch/said"; exit 1; }
}
refuses "runs on little-endian processors only" __BYTE_ORDER__ __ORDER_BIG_ENDIAN__
refuses "runs on 64-bit systems only" UINTPTR_MAX 0xffffffffu

cc -std=c11 -Wall -Wextra -Wpedantic -shared -fPIC -I "$frozen" "$source/tests/abi/fossil.c" -o "$scratch/fossil.so"
cat >"$scratch/fossil.ini" <<'END'
[host]
plugins = ./fossil
[plugin fossil]
by = 3
[world main]
step_rate = 1
components = fossil
systems = turn look
[spawn main two]
count = 2
components = fossil
END
printf 'step 4\nget main/#0:1.fossil.size\nget main/#0:1.fossil.turns\nset main/#0:1.fossil.growth 0.5\nstep 2\n%s\n%s\n' \
    'get main/#0:1.fossil.size' 'destroy main/#1:1' | "$build/backplane" console "$scratch/fossil.ini" >"$scratch/said" 2>&1 ||
    { cat "$scratch/said"; exit 1; }
for line in '^8$' '^12$' '^9$' 'fossil: hear' 'fossil: #1:1'; do
    grep -q "$line" "$scratch/said" || { cat "$scratch/said"; echo "the fossil does not say: $line"; exit 1; }
done

# A plugin of later headers is taken by this host as long as it needs nothing new, and refused with a sentence where it
# says that it does.
rm -rf "$scratch/headers"
mkdir "$scratch/headers"
cp "$source"/plugin_api/bp_*.h "$scratch/headers"
for list in bp_field.h:bp_field_t bp_component.h:bp_component_i bp_system.h:bp_term_field_t bp_system.h:bp_term_t \
    bp_system.h:bp_system_i bp_plugin.h:bp_plugin_desc_t bp_api.h:bp_entity_api; do
    member='uint64_t tomorrow BP_OR_ZERO;'
    [ "$list" != bp_api.h:bp_entity_api ] || member='void (BP_CALL *tomorrow)(bp_host_o *host);'
    sed -i "s/^} ${list#*:};/    $member\n&/" "$scratch/headers/${list%:*}"
    grep -q tomorrow "$scratch/headers/${list%:*}" || { echo "$list: no member was appended"; exit 1; }
done
sed -i 's/^#define BP_ABI_MINOR 0u/#define BP_ABI_MINOR 9u/' "$scratch/headers/bp_plugin.h"
for needs in 0 9; do
    mkdir -p "$scratch/needs_$needs"
    cc -std=c11 -Wall -Wextra -Wpedantic -shared -fPIC -DNEEDS=$needs -DBP_TOMORROW='(1u << 20)' -I "$scratch/headers" \
        -include stdbool.h "$source/tests/abi/later.c" -o "$scratch/needs_$needs/later.so"
done
sed 's/^    by = 3//; /^\[plugin/d; /^by/d; s/fossil/later/g; s/^systems.*/systems = add/; s/^count.*/count = 1/' \
    "$scratch/fossil.ini" >"$scratch/needs_0/later.ini"
cp "$scratch/needs_0/later.ini" "$scratch/needs_9"
printf 'step 4\nget main/#0:1.later.size\nget main/#0:1.later.rest\n' |
    "$build/backplane" console "$scratch/needs_0/later.ini" >"$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }
for line in '^5$' '^16$' 'later: it is today'; do
    grep -q "$line" "$scratch/said" || { cat "$scratch/said"; echo "the later plugin does not say: $line"; exit 1; }
done
if "$build/backplane" console "$scratch/needs_9/later.ini" </dev/null >"$scratch/said" 2>&1; then
    echo "a plugin that needs ABI 2.9 was taken"
    exit 1
fi
grep -q 'it needs ABI 2\.9; this host has 2\.0' "$scratch/said" || { cat "$scratch/said"; exit 1; }
echo "the contract is as it was frozen, its fossil works, and so does a plugin of later headers that needs nothing new"
