#!/bin/sh
# public.sh - what people look at a host with needs nothing private: the console, `backplane plugins`, `backplane schema`
# and `backplane check` include the public headers, their own, and the doors to the terminal and to files; and they look
# by the table bp_look alone, not by functions that only an embedder has.
set -eu

cd "$(dirname "$0")/../../host/program"
wrong=0
say() { echo "public: $*"; wrong=1; }

files="$(echo console*.[ch]) condition.c condition.h writers.c writers.h commands.c inspect.c inspect.h tree.c tree.h
plugin_list.c plugin_list.h schema.c schema.h figures.c figures.h check.c"
# Of embedders: what bp_look tells as well.
private='bp_host_plugin bp_host_plugin_crash bp_world_stats bp_world_stats_sized bp_host_unit_stats bp_host_unit_stats_sized
bp_plugin_head_t bp_plugin_desc_t'

for file in $files; do
    [ -f "$file" ] || { say "there is no $file any more"; continue; }
    for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
        case $file:$header in
        *:../os/os.h | *:../os/files.h) ;;
        check.c:../conformance/conformance.h) ;; # which sees backplane.h alone
        *:../*) say "$file includes $header, which is private" ;;
        *) [ -f "$header" ] || say "$file includes $header, which does not lie beside it" ;;
        esac
    done
    for name in $private; do
        ! grep -qw "$name" "$file" || say "$file uses $name; bp_look.h tells that"
    done
done
for header in ../conformance/*.[ch]; do
    ! grep '^#include "\.\./' "$header" | grep -qv '"\.\./os/files\.h"' || say "$header includes what is private"
done
[ "$wrong" = 0 ] && echo "public: the console, plugins, schema and check use public headers and bp_look alone"
exit "$wrong"
