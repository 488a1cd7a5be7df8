#!/usr/bin/env bash
# steno: the commands of the README's Install section, in a fresh copy of the tree. SPDX-License-Identifier: MIT
#
# They are read from the README and run as they stand there, with a folder of this test in place of /usr/local. The installed program
# transcribes, and a C example links against the installed libraries. Then once more with only the program built, into a folder with a
# space in its name, twice, and with DESTDIR; there a program is linked statically, and one in C++ reads the headers.
set -euo pipefail

: "${STENO_SOURCE:?}"
CC=${CC:-cc}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tree="$tmp/a clone"
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
speaks() { # speaks COMMAND...: its output has the text of the demo
    local text
    text=$("$@") && grep -q "zero nine one" <<<"$text" || { echo "$* printed: $text"; exit 1; }
}
speaks "$prefix/bin/steno" -q --demo "$tree/tests/data/demo.wav"
lib=$(dirname "$(find "$prefix" -name libsteno.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig
$CC "$tree/doc/examples/transcribe.c" $(pkg-config --cflags --libs steno steno-media) -Wl,-rpath,"$lib" -o transcribe
speaks ./transcribe "$prefix/share/steno/models/whisper-digits/whisper-digits.bin" "$tree/tests/data/demo.wav"

rm "$tree"/build/libsteno*.so*
spaced="$tmp/pre fix"
for _ in 1 2; do
    if ! cmake --install "$tree/build" --prefix "$spaced" >log 2>&1; then
        tail -n 20 log
        echo "cmake --install failed with only the program built"
        exit 1
    fi
done
DESTDIR="$tmp/stage" cmake --install "$tree/build" --prefix /opt/steno >log 2>&1
for root in "$spaced" "$tmp/stage/opt/steno"; do
    speaks "$root/bin/steno" -q --demo "$root/share/steno/demo.wav"
    lib=$(dirname "$(find "$root" -name libsteno.so)")
    export PKG_CONFIG_PATH=$lib/pkgconfig
    eval "$CC \"$tree/doc/examples/transcribe.c\" $(pkg-config --cflags --libs steno steno-media) -Wl,-rpath,'$lib' -o transcribe"
    speaks ./transcribe "$root/share/steno/models/whisper-digits/whisper-digits.bin" "$root/share/steno/demo.wav"
    if command -v c++ >/dev/null; then
        printf '#include <steno/%s.h>\n' steno media output live >headers.cpp
        printf 'int main() { return steno_version()[0] == 0; }\n' >>headers.cpp
        eval "c++ -std=c++11 -Wall -Wextra -Werror headers.cpp $(pkg-config --cflags --libs steno) -Wl,-rpath,'$lib' -o headers"
        ./headers
    fi
    rm "$lib"/libsteno*.so*
    eval "$CC \"$tree/doc/examples/transcribe.c\" $(pkg-config --static --cflags --libs steno-media steno) -o transcribe"
    speaks ./transcribe "$root/share/steno/models/whisper-digits/whisper-digits.bin" "$root/share/steno/demo.wav"
done
echo "README: $n commands of its section Install were run"
