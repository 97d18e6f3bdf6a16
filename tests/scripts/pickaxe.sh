#!/bin/sh
# pickaxe.sh BUILD - examples/pickaxe, built as it lies there and run: one entity in two worlds, by calls, from its scene,
# and from that scene compiled.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$source"
libraries="$(pkg-config --libs inih jansson) -ldl -lm -pthread"
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Iplugin_api -Ihost examples/pickaxe/main.c "$build/libbackplane.a" \
    -o "$scratch/pickaxe" $libraries

cc -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -shared -fPIC -Iplugin_api examples/pickaxe/weapon.c \
    -o "$scratch/weapon.so"
cp "$scratch/weapon.so" "$build/weapon.so" # where examples/pickaxe/pickaxe.ini looks for it

"$scratch/pickaxe" "$build/plugins" examples/pickaxe/meshes "$scratch/weapon" >"$scratch/said"
cat >"$scratch/expected" <<'END'
the player holds a pickaxe
  game       pickaxe as pickaxe.obj at 0.4 1.1 -9.7; player as player.obj at 0.0 0.0 -10.0; through fog
  inventory  pickaxe as icon.obj at -2.0 1.0 -5.0;
the player walks
  game       pickaxe as pickaxe.obj at 3.4 1.1 -19.7; player as player.obj at 3.0 0.0 -20.0; through fog
  inventory  pickaxe as icon.obj at -2.0 1.0 -5.0;
the player walks on, behind the camera
  game       nothing; through fog
  inventory  pickaxe as icon.obj at -2.0 1.0 -5.0;
the player dies, and the pickaxe falls
  game       pickaxe as pickaxe.obj at 0.4 0.0 -9.7; through fog
  inventory  pickaxe as icon.obj at -2.0 1.0 -5.0;
the pickaxe breaks
  game       nothing; through fog
  inventory  nothing;
END
diff "$scratch/expected" "$scratch/said"

# The same from a scene, and from that scene saved in the middle and spawned again.
"$scratch/pickaxe" "$build/plugins" examples/pickaxe/meshes "$scratch/weapon" examples/pickaxe/pickaxe.json \
    >"$scratch/said"
diff "$scratch/expected" "$scratch/said"
"$build/backplane" compile examples/pickaxe/pickaxe.json --ini examples/pickaxe/pickaxe.ini -o "$scratch/pickaxe.bpe" \
    >"$scratch/summary"
"$scratch/pickaxe" "$build/plugins" examples/pickaxe/meshes "$scratch/weapon" "$scratch/pickaxe.bpe" >"$scratch/said"
diff "$scratch/expected" "$scratch/said"

if "$scratch/pickaxe" "$build/plugins" "$scratch" "$scratch/weapon" 2>"$scratch/error" >&2; then
    echo "pickaxe: missing meshes are no failure"
    exit 1
fi
grep -q player.obj "$scratch/error" || { echo "a missing mesh is not named: $(cat "$scratch/error")"; exit 1; }
echo "one pickaxe in two worlds"
