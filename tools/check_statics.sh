#!/bin/sh
# check_statics.sh BUILD - plugins and the library keep no state of their own: nothing in their images
# can be written.
#
# State lies in memory that the host gives, so that two hosts do not share it and a reload finds it
# again. A variable that is static and not const shows in .data, .bss, as common or thread-local. What
# the toolchain puts there itself is let through, by name: the start-up files' marks, and libgcc's
# record of the processor behind functions that exist for several instruction sets. Two files of the library
# have something that can be written: host/plugin/guard_posix.c, because a signal handler gets no argument to find
# state by, and host/os/stopwatch.c, a number about the machine that is found once and the same for all hosts.
set -eu

[ $# = 1 ] || { echo "usage: tools/check_statics.sh BUILD" >&2; exit 2; }
build=$1
checked=0
bad=0

# Writable objects: "section size name" for each that is not the toolchain's.
writable() {
    objdump -t "$1" | awk -v library="$2" '
        /: +file format/ { object = $0; sub(/:.*/, "", object); sub(/.*\//, "", object) }
        $0 ~ /^[0-9a-f]+ / {
            section = ""
            for (i = 2; i <= NF; i++)
                if ($i ~ /^(\.data|\.bss|\.tdata|\.tbss|\.sdata|\.sbss)(\.|$)/ || $i == "*COM*") { section = $i; at = i; break }
            if (section == "" || section ~ /^\.data\.rel\.ro/)
                next
            size = $(at + 1)
            name = $NF
            if (size ~ /^0+$/ || name == section)
                next
            if (name ~ /^DW\.ref\./) # an address that compilers put down where exceptions pass
                next
            if (library && name ~ /^guard_(here|process)$/ && object == "guard_posix.o")
                next
            if (library && name == "stopwatch_rate" && object == "stopwatch.o")
                next
            if (name ~ /^(completed\.[0-9]+|__dso_handle|__cpu_model|__cpu_features2|__cpu_features)$/)
                next
            print section, name
        }'
}

for file in "$build"/plugins/*.so "$build/libbackplane.a"; do
    [ -f "$file" ] || { echo "check_statics: $file is missing; run make first" >&2; exit 2; }
    if ! objdump -t "$file" | grep -q '^[0-9a-f][0-9a-f]* .* \.'; then
        echo "$file: it has no table of symbols to look at; check it before it is stripped"
        bad=$((bad + 1))
    fi
    case $file in *.a) found=$(writable "$file" 1) ;; *) found=$(writable "$file" "") ;; esac
    checked=$((checked + 1))
    if [ -n "$found" ]; then
        bad=$((bad + 1))
        echo "$found" | while read -r section name; do
            echo "$file: $name can be written ($section): make it const, or keep it in memory that the host gives"
        done
    fi
done
echo "statics: $checked files, $bad of them with state of their own"
[ "$bad" = 0 ]
