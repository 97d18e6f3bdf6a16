# session.sh - one console for a whole script, and files edited as editors do; to be read with `.` by scripts of the folder
# above.
#
#     session_begin COMMAND...       the command reads what `ask` types, and says what `hear` waits for
#     ask 'step 60' '^main: step 60' types a line, and waits for what it is answered
#     session_end                    nothing more is typed; the status is the command's
#
# Needs `scratch`, a folder, and `fail`, which says what is wrong and ends the script. What the command says is in
# $scratch/said. A script that may end before session_end ends the process `session` itself.
session=

session_begin() {
    mkfifo "$scratch/typed"
    "$@" <"$scratch/typed" >"$scratch/said" 2>&1 &
    session=$!
    exec 3>"$scratch/typed"
    seen=0
}

session_end() {
    exec 3>&-
    status=0
    wait "$session" || status=$?
    session=
    return $status
}

# Until what is said since the last time has the text $1; then what comes next counts.
hear() {
    tries=0
    until tail -n "+$((seen + 1))" "$scratch/said" | grep -q -e "$1"; do
        kill -0 "$session" 2>/dev/null || fail "the console has ended, before it said: $1"
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "it never says: $1"
        sleep 0.05
    done
    seen=$(grep -n -e "$1" "$scratch/said" | awk -F: -v seen="$seen" '$1 > seen { print $1; exit }')
}

ask() { # what is typed; and what is to be heard, where something is
    printf '%s\n' "$1" >&3
    [ $# = 1 ] || hear "$2"
}

# Write a file as editors do: beside, and renamed. Arguments behind the file are those of sed.
edit() {
    file=$1
    shift
    sed "$@" "$file" >"$file.new"
    ! cmp -s "$file" "$file.new" || fail "nothing to edit in $file: $*"
    mv "$file.new" "$file"
}
