#!/bin/sh
# statics.sh BUILD - the plugins and the library as built keep no state of their own (tools/check_statics.sh).
exec "$(dirname "$0")/../../tools/check_statics.sh" "$1"
