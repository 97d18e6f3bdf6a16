#!/bin/sh
# clean_machine.sh FOLDER [HALT] - README.md and docs/ typed on a bare Debian with a clone of this.
#
# FOLDER/root becomes a Debian with nothing but what a shell needs (debootstrap --variant=minbase; DEBIAN, SUITE: where
# from, and which), in which a clone of the present commit lies. There, as root, in a namespace of its own so that
# nothing stays mounted: README's line for a bare system; `make run` and `make test`; README's other commands, each
# block as it stands, from top to bottom, and once more; all that docs/ say can be run; an installation, and with that
# a day of a user who may only read it. What is said goes to the terminal and to FOLDER/log, with the time of each part.
# The exit status is 0 where all went well. HALT: "run" installs what `make test` would, and leaves that out, since it
# takes longest.
#
# Needs root, debootstrap, unshare and the network, so it is no part of `make test`.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { echo "usage: tools/clean_machine.sh FOLDER [run]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
halt=${2:-}
root=$folder/root
[ "$(id -u)" = 0 ] || { echo "clean_machine: only root may make another root" >&2; exit 2; }
for tool in debootstrap unshare git; do
    command -v "$tool" >/dev/null || { echo "clean_machine: needs $tool: apt-get install debootstrap git" >&2; exit 2; }
done

rm -rf "$root"
debootstrap --variant=minbase "${SUITE:-bookworm}" "$root" "${DEBIAN:-http://deb.debian.org/debian}" \
    >"$folder/debootstrap.log" 2>&1 || { tail -20 "$folder/debootstrap.log"; exit 1; }
git clone -q "$source" "$root/root/backplane"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# README's blocks of commands: block N as $parts/N.sh. The first one is for a bare system, then comes "Try it".
parts=$root/root/parts
mkdir "$parts"
awk -v out="$parts" '/^```sh$/ { n++; inside = 1; next } /^```$/ { inside = 0; next }
    inside { print > sprintf("%s/%02d.sh", out, n) }' "$source/README.md"

cat >"$root/root/day.sh" <<'DAY'
set -u
cd /root/backplane
part() { # its title; the command
    began=$(date +%s)
    echo "== $1"
    shift
    if "$@" </dev/null; then echo "== done in $(($(date +%s) - began)) s"; else echo "== FAILED"; exit 1; fi
}
first=$(ls /root/parts | head -n 1)
part "what is there: no compiler, no make" sh -c '! command -v cc && ! command -v make && ! command -v git'
part "README, on a bare system: $(cat "/root/parts/$first")" sh -e "/root/parts/$first"
part 'make run' make run
part 'the tree is as it was cloned, but for build/' sh -c 'apt-get install -y -qq git >/dev/null 2>&1 && test -z "$(git status --short)"'
if [ "$HALT" = run ]; then
    part 'the packages of make test' make test-packages
    part 'make' make
else
    part 'make test' make test
fi
for block in $(ls /root/parts | tail -n +3) $(ls /root/parts | tail -n +3); do
    part "README: $(head -n 1 "/root/parts/$block")" sh -e "/root/parts/$block"
done
part 'the tree is as it was cloned still' sh -c 'test -z "$(git status --short)"'
part 'docs/' sh tests/scripts/docs.sh build
part 'an installation' make -s install PREFIX=/usr/local
useradd --create-home author
cp -R tests README.md /home/author
part 'the day of a user who may only read the installation' su author -c '
    ! touch /usr/local/share/backplane/config/mine 2>/dev/null && sh ~/tests/scripts/day.sh installed'
part 'the inis that are installed, from a folder of that user' su author -c '
    mkdir ~/here && cd ~/here && for ini in /usr/local/share/backplane/config/*.ini; do
        echo "-- $ini"; backplane run "$ini" --steps 100 | tail -n 1 || exit 1
    done'
part "README's program around a host" su author -c '
    cd ~/here && cp /usr/local/share/backplane/examples/embed/main.c . 2>/dev/null ||
    sed -n "/^\/\* main.c/,/^}/p" /home/author/README.md >main.c
    cc main.c $(pkg-config --cflags --libs backplane) && ./a.out /usr/local/lib/backplane/plugins/point_mass'
DAY
chmod -R go+rX "$root/root"

began=$(date +%s)
status=0
# $$, the fds and the mounts of the namespace go with it.
HALT=$halt unshare --mount --pid --fork sh -c '
    mount -t proc proc "$1/proc" && mount -t sysfs sys "$1/sys" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" &&
    exec env -i HOME=/root HALT="$HALT" TERM=dumb LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$1" sh /root/day.sh' sh "$root" >"$folder/log" 2>&1 || status=$?
cat "$folder/log"
echo "a clean machine: status $status after $(($(date +%s) - began)) s; all of it is in $folder/log"
exit "$status"
