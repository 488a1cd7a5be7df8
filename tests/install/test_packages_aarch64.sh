#!/usr/bin/env bash
# steno: the tarball and the Debian packages for 64-bit ARM work under emulation. SPDX-License-Identifier: MIT
#
# They are those in dist/, from script/package --machine aarch64. qemu runs the tarball's program with a C library alone, and that of the
# Debian packages with the arm64 packages which apt finds that they need and recommend; maintainer scripts do not run. Texts must be those
# of the program of this machine. STENO_CHROOTS is a folder that keeps the lists of arm64. Neither root nor a change to this system is
# needed.
set -euo pipefail

. "${STENO_SOURCE:?}/tests/install/arm.sh"
built_for_arm 'steno-*-linux-aarch64.tar.gz' tarball script/package
tarball=$built
libc=/usr/aarch64-linux-gnu
[ -e $libc/lib/libc.so.6 ] || skip "no C library of arm64 (apt-get install libc6-arm64-cross)"

export HOME=$tmp
unset STENO_MODELS

emulate() # ROOT CPU: sets `emulated` to the start of a command, which takes libraries below ROOT
{
    emulated=(env -i HOME="$tmp" LC_ALL=C.UTF-8 PATH=/usr/bin:/bin "$qemu" -cpu "$2" -L "$1")
}

arm() # ROOT CPU COMMAND...
{
    local emulated
    emulate "$1" "$2"
    shift 2
    "${emulated[@]}" "$@"
}

for_arm() # FOLDER: all of its programs and libraries
{
    local file machine n=0
    while IFS= read -r file; do
        machine=$(readelf -h "$file" 2>/dev/null | sed -n 's/^ *Machine: *//p' | sort -u)
        [ -n "$machine" ] || continue
        [ "$machine" = AArch64 ] || { echo "$file is for $machine"; exit 1; }
        n=$((n + 1))
    done < <(find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' -o -name '*.a' \))
    [ $n -gt 0 ] || { echo "$1 has no programs"; exit 1; }
}

same_pages() # FOLDER: its manual pages, a page for each verb
{
    local verb
    for verb in $("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        cmp <("$STENO" "$verb" --help-man) <(zcat -f "$1/man/man1/steno-$verb.1"*) || { echo "steno-$verb.1 differs"; exit 1; }
    done
    cmp <("$STENO" completions bash) "$1/bash-completion/completions/steno" || { echo "completions differ"; exit 1; }
}

served() # ROOT PROGRAM: the status of its /livez
{
    local port emulated server
    emulate "$1" max
    "${emulated[@]}" "$2" serve --demo --port 0 >/dev/null 2>"$tmp/serve.log" &
    server=$!
    for _ in $(seq 600); do
        ! grep -q http:// "$tmp/serve.log" && kill -0 $server || break
        sleep 1
    done
    port=$(sed -n 's|.*http://[0-9.]*:\([0-9]*\).*|\1|p' "$tmp/serve.log" | head -n 1)
    if [ -n "$port" ]; then
        exec 5<>"/dev/tcp/127.0.0.1/$port"
        printf 'GET /livez HTTP/1.0\r\n\r\n' >&5
        head -n 1 <&5 | cut -d' ' -f2
        exec 5>&-
    else
        cat "$tmp/serve.log"
    fi
    kill $server || true
    wait $server || true
}

works() # WHAT ROOT PROGRAM
{
    local what=$1 root=$2 program=$3 cpu file
    check "$what: --version" "$("$STENO" --version | head -n 1)" "$(arm "$root" max "$program" --version | head -n 1)"
    for cpu in max cortex-a72; do
        check "$what: a text as on this machine, with $cpu" "$text" "$(arm "$root" $cpu "$program" -q --demo tests/data/demo.wav)"
    done
    for file in de.opus de.m4a; do
        check "$what: $file, by FFmpeg" "$("$STENO" -q --demo tests/data/audio/$file)" \
            "$(arm "$root" max "$program" -q --demo tests/data/audio/$file)"
    done
    check "$what: serve" 200 "$(served "$root" "$program")"
}

text=$("$STENO" -q --demo tests/data/demo.wav)

# ---- the tarball

mkdir "$tmp/anywhere"
tar -xzf "$tarball" --strip-components=1 -C "$tmp/anywhere"
for_arm "$tmp/anywhere"
same_pages "$tmp/anywhere/share"
works "$(basename "$tarball")" $libc "$tmp/anywhere/bin/steno"

# ---- Debian packages

debs=$(find "$PWD/dist" -name '*_arm64.deb' | sort)
[ -n "$debs" ] || { echo "no arm64 packages in dist/: only the tarball was tried"; exit 0; }
. script/portable.sh
. script/foreign.sh
portable_machine=aarch64
lists=${STENO_CHROOTS:-$tmp}/lists-arm64 root=$tmp/root
mkdir -p "$lists" "$root/usr/lib"
portable_lists "$lists" >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; skip "no lists of arm64 from the mirror: only the tarball was tried"; }
recommended=$(for deb in $debs; do dpkg-deb -f "$deb" Recommends; done | tr ',' '\n' | sed 's/|.*//; s/ //g' | sort -u)
# shellcheck disable=SC2086
foreign_download "$lists" "$tmp/archives" $debs "$(echo "$PWD"/dist/steno-dialects_*_all.deb)" $recommended >"$tmp/log" 2>&1 ||
    { tail -n 15 "$tmp/log"; exit 1; }
ln -s usr/lib "$root/lib" # as in Debian
for deb in "$tmp"/archives/*.deb $debs dist/steno-dialects_*_all.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
done
for deb in $debs; do dpkg-deb -x "$deb" "$tmp/own"; done
for_arm "$tmp/own"
same_pages "$root/usr/share"
works "steno_*_arm64.deb" "$root" "$root/usr/bin/steno"
name=$(arm "$root" max "$root/usr/bin/whisper-cli" --help 2>&1 | head -n 3 | grep -c whisper-cli || true)
[ "$name" -ge 1 ] || { echo "steno-dialects_*.deb: whisper-cli --help does not name whisper-cli"; exit 1; }
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no aarch64-linux-gnu-gcc: libsteno-dev was not tried"; exit 0; }
aarch64-linux-gnu-gcc --sysroot="$root" doc/examples/transcribe.c -lsteno -lsteno-media -o "$tmp/transcribe"
out=$(arm "$root" max "$tmp/transcribe" "$root/usr/share/steno/models/whisper-digits/whisper-digits.bin" tests/data/demo.wav)
grep -q "zero nine one" <<<"$out" || { echo "the example with libsteno-dev_*_arm64.deb printed: $out"; exit 1; }
echo "libsteno-dev_*_arm64.deb: an example"
