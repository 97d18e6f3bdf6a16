#!/bin/sh
# check_columns.sh - no line of C or of the documentation is longer than 120 columns.
#
# Columns are characters, not bytes. Tables, links that stand alone and listings of the documentation are not looked at:
# what they show may be longer than a line.
set -eu

cd "$(dirname "$0")/.."
found=$(mktemp)
trap 'rm -f "$found"' EXIT

LC_ALL=C awk '
    FNR == 1 { listing = 0; documentation = FILENAME ~ /\.md$/ }
    documentation && /^ *```/ { listing = !listing; next }
    { columns = $0; gsub(/[\200-\277]/, "", columns) } # a character of several bytes counts once
    length(columns) > 120 && !(documentation && (listing || /^ *(\||!?\[.*\)$|<|    )/)) {
        printf "%s:%d: %d columns; a line has at most 120\n", FILENAME, FNR, length(columns)
    }' $(find README.md .ci bench docs examples host plugin_api plugins tests tools \( -name '*.c' -o -name '*.h' -o -name '*.md' \) \
        -type f -print) >"$found"
cat "$found"
echo "columns: $(wc -l <"$found") lines are too long"
[ ! -s "$found" ]
