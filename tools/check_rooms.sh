#!/bin/sh
# check_rooms.sh [ROOT] - who may include whom.
#
#   plugin_api/       its own headers
#   plugins/NAME/     plugin_api/ and its own folder
#   host/ROOM/        plugin_api/, backplane.h (the contract with embedders) and the rooms up to itself in the order
#                     os, base, plugin, store, property, step, scene, reload, engine; os/ includes nothing of ours
#   host/program/     plugin_api/, backplane.h, host/os/ and its own folder: it is a user of the library
#   host/conformance/ plugin_api/, backplane.h, host/os/ and its own folder: it belongs to the program, and to the tests
#   tools/import/     likewise
#   examples/         plugin_api/, backplane.h and their own folder
#   bench/, tests/    anything but, for bench, tests/
#
# And the C standard library everywhere, nothing else but: what each room needs from others' libraries
# (listed below), and the system's headers in host/os/*.c and the *_posix.* and *_win32.* of host/ and plugins/ alone.
# An #include is resolved as the compiler does: beside the file, then in plugin_api/ and host/.
#
# A declaration is judged as an include is: `struct x_t` in a room is wrong where only rooms above it define that
# struct. Headers of host/ include each other in no circle, no .c is included, and nothing but backplane.h lies beside
# the rooms.
set -eu

root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"

find plugin_api plugins host examples bench tests tools \( -name '*.c' -o -name '*.h' \) -type f 2>/dev/null | sort |
    awk '
    BEGIN {
        split("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg " \
              "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype", names, " ")
        for (i in names)
            standard[names[i] ".h"] = 1
        split("os base plugin store property step scene reload history engine", order, " ")
        for (i in order)
            level["host/" order[i]] = i + 0
        # Libraries of others, by room.
        foreign["xxhash.h"] = "host/base"
        foreign["png.h"] = "plugins/picture"
        foreign["mpi.h"] = "plugins/mpi"
        foreign["ini.h"] = "host/engine"
        foreign["jansson.h"] = "host/program plugins/inspector"
        foreign["microhttpd.h"] = "plugins/inspector"
        foreign["editline/readline.h"] = "host/program"
        foreign["histedit.h"] = "host/program"
        split("cimport config material postprocess scene", names, " ")
        for (i in names)
            foreign["assimp/" names[i] ".h"] = "tools/import"
    }

    { files[++count] = $0; exists[$0] = 1 }

    function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }

    # a/b/../c to a/c
    function tidy(path) {
        gsub(/\/\.\//, "/", path)
        while (match(path, /[^\/]+\/\.\.\//))
            path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
        return path
    }

    function resolve(file, name, quoted,   path) {
        path = tidy(folder_of(file) "/" name)
        if (quoted && path in exists)
            return path
        if (("plugin_api/" name) in exists)
            return "plugin_api/" name
        if (("host/" name) in exists)
            return "host/" name
        return ""
    }

    # "plugins/mesh", "host/base", "host" ...
    function room_of(file,   parts, n) {
        n = split(file, parts, "/")
        if (parts[1] == "host" || parts[1] == "plugins" || parts[1] == "examples" || parts[1] == "tools")
            return n > 2 ? parts[1] "/" parts[2] : parts[1]
        return parts[1]
    }

    function may(room, target, file) {
        if (target == "tests")
            return room == "tests"
        if (target == room || target == "plugin_api" || room == "tests" || room == "bench")
            return room != "plugin_api" || target == room
        if (file == "host/backplane.h")
            return room ~ /^(host|examples|tools)/ && room != "host/os"
        if (room == "host/program" && target == "host/conformance")
            return 1
        if (room == "host/program" || room == "host/conformance" || room ~ /^(examples|tools)/)
            return target == "host/os" && room !~ /^examples/
        return room in level && target in level && level[target] <= level[room]
    }

    function complain(file, line, text) {
        print file ":" line ": " text
        bad++
    }

    function judge(file, line, name, quoted,   target, room) {
        room = room_of(file)
        target = resolve(file, name, quoted)
        if (target != "") {
            if (!may(room, room_of(target), target))
                complain(file, line, room " must not include " target)
            else if (file ~ /^host\// && target ~ /\.c$/)
                complain(file, line, "a source is compiled by itself, not included")
            if (file ~ /^host\/.*\.h$/ && target ~ /\.h$/)
                includes_of[file] = includes_of[file] " " target
        } else if (room == "tests" || room == "bench" || (name in standard && !quoted)) {
            return
        } else if (name in foreign && index(" " foreign[name] " ", " " room " ") > 0) {
            return
        } else if (name in foreign) {
            complain(file, line, name " is for " foreign[name] " alone")
        } else if (quoted) {
            complain(file, line, "there is no " name)
        } else if (file !~ /^host\/os\/[a-z0-9_]*\.c$/ && file !~ /^(host|plugins)\/[a-z]+\/[a-z0-9_]*_(posix|win32)\.[ch]$/) {
            complain(file, line, "<" name "> is not of the C standard library; the system is behind host/os/os.h")
        }
    }

    # Remember the structs that a line of a room defines, and those that it only names.
    function see_structs(file, line, text,   name, room) {
        room = room_of(file)
        if (!(room in level))
            return
        while (match(text, /struct [a-z][a-z0-9_]*/)) {
            name = substr(text, RSTART + 7, RLENGTH - 7)
            text = substr(text, RSTART + RLENGTH)
            if (text ~ /^ *\{/) {
                if (!(name in lowest) || level[room] < lowest[name])
                    lowest[name] = level[room]
            } else {
                named[++names_seen] = name
                named_at[names_seen] = file
                named_line[names_seen] = line
            }
        }
    }

    # Walk the headers that a header includes; complain where the walk comes back to one that it is still in.
    function walk(header,   parts, n, i) {
        if (state[header] == 2)
            return
        state[header] = 1
        n = split(includes_of[header], parts, " ")
        for (i = 1; i <= n; i++) {
            if (state[parts[i]] == 1)
                complain(header, 1, "includes " parts[i] ", which includes it: a circle")
            else
                walk(parts[i])
        }
        state[header] = 2
    }

    END {
        for (i = 1; i <= count; i++) {
            file = files[i]
            number = 0
            if (file ~ /^host\/[^\/]*$/ && file != "host/backplane.h")
                complain(file, 1, "only backplane.h lies beside the rooms")
            while ((getline text < file) > 0) {
                number++
                if (text !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) {
                    if (text !~ /^ *(\/\*|\*)/)
                        see_structs(file, number, text)
                    continue
                }
                includes++
                quoted = text ~ /include[ \t]*"/
                sub(/^[^<"]*[<"]/, "", text)
                sub(/[>"].*/, "", text)
                judge(file, number, text, quoted)
            }
            close(file)
        }
        for (i = 1; i <= names_seen; i++) {
            if (named[i] in lowest && lowest[named[i]] > level[room_of(named_at[i])])
                complain(named_at[i], named_line[i], room_of(named_at[i]) " must not know struct " named[i] ", which a room above it defines")
        }
        for (file in includes_of)
            walk(file)
        if (includes == 0) {
            print "check_rooms: no source was found"
            exit 1
        }
        print "rooms: " includes " includes in " count " files, " bad + 0 " of them wrong"
        exit bad > 0
    }'
