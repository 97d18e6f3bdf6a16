#!/bin/sh
# freeze.sh - take the headers of the contract as they are for those of ABI 2.0. Not after a release: then
# tests/scripts/abi.sh says what may not be.
set -eu

cd "$(dirname "$0")/../.."
rm -rf tests/abi/2.0
mkdir tests/abi/2.0
cp plugin_api/bp_*.h tests/abi/2.0/
python3 tests/abi/layout.py tests/abi/2.0 >tests/abi/2.0/layout.txt
