#!/bin/sh
# packages.sh - see to the packages that building and testing need.
#
# Looks with pkg-config for what is missing; installs it with apt-get where that is allowed without asking (root, or
# sudo without a password), and else prints the command to type. Arguments: "build", "test", "import" or
# "import-test" (which need more; the last, assimp with its test models, is never asked for by make), "browser" (for
# make test-browser), "windows" or "windows-test" (to build for Windows and to run that under wine), "aarch64" or
# "aarch64-test" (the same for Linux on aarch64 and qemu-user; these four on Debian and Ubuntu only), or the name of a
# plugin that needs libraries of its own (plugins/NAME/packages).
set -eu

need=${1:-build}
missing_apt="" missing_dnf="" missing_pacman="" missing_brew=""

add() { # apt dnf pacman brew
    missing_apt="$missing_apt $1"
    missing_dnf="$missing_dnf $2"
    missing_pacman="$missing_pacman $3"
    missing_brew="$missing_brew $4"
}

compiler=${CC:-cc} # may be "ccache gcc"
command -v "${compiler%% *}" >/dev/null 2>&1 || add gcc gcc gcc gcc
if command -v pkg-config >/dev/null 2>&1; then
    has() { pkg-config --exists "$1"; }
else
    has() { return 1; }
    add pkg-config pkgconf-pkg-config pkgconf pkg-config
fi
has inih || add libinih-dev inih-devel libinih inih
has jansson || add libjansson-dev jansson-devel jansson jansson
has libxxhash || add libxxhash-dev xxhash-devel xxhash xxhash
has libedit || add libedit-dev libedit-devel libedit libedit
if [ "$need" = test ]; then
    has check || add check check-devel check check
    python3 -c 'import jsonschema' >/dev/null 2>&1 || add python3-jsonschema python3-jsonschema python-jsonschema ""
    command -v c++ >/dev/null 2>&1 || add g++ gcc-c++ gcc gcc
fi

# What the plugins ask for; the tests try all of them.
for list in "$(dirname "$0")"/../plugins/*/packages; do
    plugin=$(basename "$(dirname "$list")")
    [ "$need" = "$plugin" ] || [ "$need" = test ] || continue
    while read -r library; do
        has "$library" || case $library in
        ompi-c) add "libopenmpi-dev openmpi-bin" openmpi-devel openmpi open-mpi ;;
        libpng) add libpng-dev libpng-devel libpng libpng ;;
        libmicrohttpd) add libmicrohttpd-dev libmicrohttpd-devel libmicrohttpd libmicrohttpd ;;
        jansson) ;; # seen to above
        *) echo "packages.sh: plugin $plugin needs $library, of which no package is known" >&2 ;;
        esac
    done <"$list"
    if [ -d "$(dirname "$list")/page" ]; then # tools/bundle.sh makes it
        command -v esbuild >/dev/null 2>&1 || add esbuild esbuild esbuild esbuild
    fi
done

if [ "$need" = browser ]; then # for make test-browser
    command -v chromium >/dev/null 2>&1 || add chromium chromium chromium chromium
    command -v chromedriver >/dev/null 2>&1 || add chromium-driver chromedriver "" chromedriver
    command -v python3 >/dev/null 2>&1 || add python3 python3 python python
fi

if [ "$need" = import ] || [ "$need" = import-test ]; then
    has assimp || add libassimp-dev assimp-devel assimp assimp
fi
if [ "$need" = import-test ]; then
    command -v apt-get >/dev/null 2>&1 || exit 1 # only Debian packages the models
    [ -d /usr/share/assimp/models ] || add assimp-testmodels "" "" ""
fi

if [ "$need" = windows ] || [ "$need" = windows-test ]; then
    command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1 || add gcc-mingw-w64-x86-64 "" "" ""
    [ -f /usr/x86_64-w64-mingw32/lib/libz.a ] || add libz-mingw-w64-dev "" "" ""
    command -v cmake >/dev/null 2>&1 || add cmake "" "" ""
    command -v dpkg-source >/dev/null 2>&1 || add dpkg-dev "" "" ""
    [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || add debian-archive-keyring "" "" ""
fi
if [ "$need" = aarch64 ] || [ "$need" = aarch64-test ]; then
    command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || add gcc-aarch64-linux-gnu "" "" ""
    [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || add debian-archive-keyring "" "" ""
fi
if [ "$need" = aarch64-test ]; then
    command -v qemu-aarch64 >/dev/null 2>&1 || add qemu-user "" "" ""
fi
if [ "$need" = windows-test ]; then
    command -v wine >/dev/null 2>&1 || add "wine wine64" "" "" ""
    command -v zip >/dev/null 2>&1 || add zip "" "" "" # the archive of make dist, and a look into it
    command -v unzip >/dev/null 2>&1 || add unzip "" "" ""
fi

[ -n "$missing_apt" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    become=""
    if [ "$(id -u)" != 0 ]; then
        if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
            become="sudo"
        else
            become="no"
        fi
    fi
    if [ "$become" != no ]; then
        echo "installing:$missing_apt"
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive $become apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive $become apt-get install -y -qq --no-install-recommends $missing_apt >/dev/null
        exit 0
    fi
fi

cat >&2 <<EOF
Some packages are missing. Install them with the line for your system, then try again:
  sudo apt-get install$missing_apt
  sudo dnf install$missing_dnf
  sudo pacman -S --needed$missing_pacman
  brew install$missing_brew
EOF
exit 1
