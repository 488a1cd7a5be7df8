#!/usr/bin/env bash
# steno: an example in another language transcribes: test_language.sh rust|node|go. SPDX-License-Identifier: MIT
#
# It is built against the headers and the shared libraries of the build folder, and prints the text of the program. A missing sound file
# gives the library's message and exit code 1.
set -euo pipefail

: "${STENO_BUILD:?}" "${STENO_SOURCE:?}" "${STENO:?}"
CC=${CC:-cc}
language=$1
examples=$STENO_SOURCE/doc/examples/$language
model=$STENO_SOURCE/models/whisper-digits/whisper-digits.bin
sound=$STENO_SOURCE/tests/data/demo.wav
skip() { echo "skipped: $1"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LD_LIBRARY_PATH=$STENO_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$tmp"

case $language in
    rust)
        command -v rustc >/dev/null || skip "no rustc"
        rustc --version >/dev/null 2>&1 || skip "rustc does not run"
        rustc -D warnings "$examples/transcribe.rs" -L "$STENO_BUILD"
        command=(./transcribe) ;;
    node)
        command -v node >/dev/null || skip "no node"
        headers=$(dirname "$(dirname "$(realpath "$(command -v node)")")")/include/node
        [ -f "$headers/node_api.h" ] || skip "no headers of Node.js beside node"
        "$CC" -shared -fPIC -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$headers" -I"$STENO_SOURCE/include" "$examples/steno.c" \
            -L"$STENO_BUILD" -lsteno-media -lsteno -o steno.node
        command=(node "$examples/transcribe.js") ;;
    go)
        command -v go >/dev/null || skip "no go"
        mkdir pkgconfig
        for name in steno steno-media; do
            printf 'Name: %s\nDescription: of the build folder\nVersion: 0\nCflags: -I%s\nLibs: -L%s -l%s\n' "$name" \
                "$STENO_SOURCE/include" "$STENO_BUILD" "$name" >"pkgconfig/$name.pc"
        done
        export PKG_CONFIG_PATH=$tmp/pkgconfig GOCACHE=${GOCACHE:-$tmp/cache} GO111MODULE=off CGO_ENABLED=1
        go build -o transcribe "$examples/transcribe.go"
        command=(./transcribe) ;;
    *) echo "usage: test_language.sh rust|node|go" >&2; exit 2 ;;
esac

out=$("${command[@]}" "$model" "$sound")
expected=$("$STENO" -q --demo "$sound" | paste -sd' ')
[ "$out" = "$expected" ] || { echo "$language printed: $out"; echo "steno printed: $expected"; exit 1; }
code=0
out=$("${command[@]}" "$model" missing.wav 2>&1) || code=$?
grep -q "missing.wav" <<<"$out" || { echo "$language, for a missing file, printed: $out"; exit 1; }
[ $code = 1 ] || { echo "$language, for a missing file, ended with $code"; exit 1; }
code=0
"${command[@]}" 2>/dev/null || code=$?
[ $code = 2 ] || { echo "$language, without arguments, ended with $code"; exit 1; }
echo "$language: $expected"
