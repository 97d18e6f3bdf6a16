#!/bin/sh
# check_tour.sh [ROOT] - docs/tour.md names every file of host/, in the room where it lies, and no file that is not there;
# and every header of plugin_api/.
#
# The table of rooms stands below the heading that says `host/`. A file stands there by its name without ".c" and ".h",
# in backquotes. A name that begins with an underscore is the end of the name of a file whose beginning stands before
# it: `os` (`_posix`, `_win32`) are os.*, os_posix.* and os_win32.*. NAME_inner.h belongs to NAME, and is not named.
# Below "Where to change what" stand paths, `like/this.c`, and each is there.
set -eu

root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"

for header in plugin_api/bp_*.h; do
    if [ -e "$header" ] && ! grep -qF "\`${header#plugin_api/}\`" docs/tour.md; then
        echo "docs/tour.md: $header is not named"
        exit 1
    fi
done

find host -mindepth 2 -maxdepth 2 \( -name '*.c' -o -name '*.h' \) -type f | sort | awk '
    function told(text) { print text; faults++ }

    FILENAME == "-" {
        split($0, part, "/")
        file = part[3]
        sub(/\.[ch]$/, "", file)
        sub(/_inner$/, "", file)
        there[part[2] "/" file] = $0
        next
    }

    # The rows of changes and their places: every path is that of a file.
    /^###/ { places = /Where to change what/; engine = engine && !places }
    places && /^\| / {
        words = split($0, word, "`")
        for (i = 2; i <= words; i += 2) {
            if (word[i] !~ /\//)
                continue
            paths++
            if ((getline text < word[i]) < 0)
                told("docs/tour.md:" FNR ": there is no " word[i])
            close(word[i])
        }
    }

    # The rows of the table of rooms: | `room/` or nothing | `file`, `file` (`_end`) | what it is |
    /^##/ { engine = /^## .*`host\/`/; room = "" }
    engine && /^\| / {
        if (match($0, /^\| `[a-z]+\/` /))
            room = substr($0, 4, RLENGTH - 6)
        if (room == "")
            next
        split($0, cell, "|")
        words = split(cell[3], word, "`")
        for (i = 2; i <= words; i += 2) {
            name = word[i]
            sub(/\.[ch]$/, "", name)
            if (name ~ /^_/)
                name = first name
            else
                first = name
            named[room "/" name] = FNR
        }
    }

    END {
        for (name in there) {
            files++
            if (!(name in named))
                told("docs/tour.md: " there[name] " is not named in the table of rooms")
        }
        for (name in named)
            if (!(name in there))
                told("docs/tour.md:" named[name] ": there is no host/" name ".c or .h")
        if (paths == 0)
            told("docs/tour.md: no place of a change is named")
        if (files == 0)
            told("check_tour: no source was found")
        printf "tour: %d files of host/, %d faults\n", files, faults
        exit faults != 0
    }' - docs/tour.md
