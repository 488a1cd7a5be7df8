#!/usr/bin/env bash
# steno: the commands of the README's Install section, in a fresh copy of the tree. SPDX-License-Identifier: MIT
#
# They are read from the README and run as they stand there, with a folder of this test in place of /usr/local. The installed program
# transcribes, and a C example links against the installed libraries.
set -euo pipefail

: "${STENO_SOURCE:?}"
CC=${CC:-cc}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tree=$tmp/steno
prefix=$tmp/prefix
mkdir "$tree"
cd "$STENO_SOURCE"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && [ "$(git rev-parse --show-toplevel)" = "$(realpath .)" ]; then
    git ls-files -z --cached | xargs -0 cp --parents -P -t "$tree" # what a clone would hold, as it stands here
else
    echo "skipped: the tree is no clone"
    exit 77
fi

commands=$(awk '/^## / { inside = $0 == "## Install" } inside && /^```/ { code = !code; next } inside && code' README.md)
if [ "$(grep -c . <<<"$commands")" -lt 2 ] || ! grep -q '/usr/local' <<<"$commands"; then
    echo "README.md: no commands in the section Install"
    exit 1
fi
# The commands are what is tried here. What script/test has compiled already comes out of its cache; without one a compiler that does not
# optimise takes a third of the time.
if [ -n "${CCACHE_BASEDIR-}" ] && command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$tree CCACHE_READONLY=1 # what is compiled without -Werror is not kept
else
    printf '#!/bin/sh\nexec %s "$@" -O0 -Wno-error\n' "$(command -v "$CC")" >"$tmp/cc"
    chmod +x "$tmp/cc"
    CC=$tmp/cc
fi
export CC
cd "$tree"
n=0
while IFS= read -r line; do
    line=${line%%#*}
    [ -n "${line// /}" ] || continue
    case $line in *script/test*) continue ;; esac # this test is one of its own
    echo "\$ $line"
    if ! eval "${line//\/usr\/local/$prefix}" >"$tmp/log" 2>&1 </dev/null; then
        tail -n 40 "$tmp/log"
        echo "README.md: \"$line\" failed"
        exit 1
    fi
    n=$((n + 1))
done <<<"$commands"
[ $n -ge 2 ] || { echo "README.md: $n commands"; exit 1; }

cd "$tmp"
text=$("$prefix/bin/steno" -q --demo "$tree/tests/data/demo.wav")
grep -q "zero nine one" <<<"$text" || { echo "the installed program printed: $text"; exit 1; }
lib=$(dirname "$(find "$prefix" -name libsteno.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig
$CC "$tree/doc/examples/transcribe.c" $(pkg-config --cflags --libs steno steno-media) -Wl,-rpath,"$lib" -o transcribe
./transcribe "$prefix/share/steno/models/whisper-digits/whisper-digits.bin" "$tree/tests/data/demo.wav" | grep -q "zero nine one"
echo "README: $n commands of its section Install were run"
