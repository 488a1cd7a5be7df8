#!/usr/bin/env bash
# steno: the packages in dist/ work on fresh systems. SPDX-License-Identifier: MIT
#
# Debian packages on this system's release, the tarball on Debian 11, 12 and 13. STENO_UBUNTU, the address of a mirror, adds Ubuntu 20.04,
# 22.04 and 24.04. STENO_CHROOTS is a folder that keeps the systems.
set -euo pipefail

: "${STENO_SOURCE:?}"
cd "$STENO_SOURCE"
skip() { echo "skipped: $1"; exit 77; }
command -v debootstrap >/dev/null || skip "no debootstrap (apt-get install debootstrap)"
[ "$(id -u)" = 0 ] || skip "chroot needs root"
arch=$(dpkg --print-architecture) # dist/ may have packages of another one, too
ls dist/*_"$arch".deb >/dev/null 2>&1 || skip "no packages in dist/; script/package builds them"
. /etc/os-release
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
mirror=${mirror:-$(sed -n 's/^deb  *\(http[^ ]*\) .*/\1/p' /etc/apt/sources.list 2>/dev/null | head -1)}
[ -n "$mirror" ] || skip "no mirror of Debian in the lists of apt"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
kept=${STENO_CHROOTS:-$tmp/kept}
mkdir -p "$kept"

system() # RELEASE NAME: a copy of a fresh system in $tmp/NAME
{
    local from=("$mirror")
    case $1 in focal | jammy | noble) from=("$STENO_UBUNTU" gutsy) ;; esac # gutsy: debootstrap's script for all of Ubuntu
    if [ ! -f "$kept/$1/.whole" ]; then
        rm -rf "${kept:?}/$1"
        debootstrap --variant=minbase "$1" "$kept/$1" "${from[@]}" >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; return 1; }
        touch "$kept/$1/.whole"
    fi
    cp -a "$kept/$1" "$tmp/$2"
    cp -r tests/data/demo.wav tests/data/audio doc/examples/transcribe.c "$tmp/$2/root"
}

inside() # NAME COMMAND: with /proc, which ends with the command
{
    unshare -m sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
        DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -euc "cd /root; $2"' sh "$tmp/$1" "$2"
}

check() # WHAT EXPECTED OUTPUT
{
    [ "$2" = "$3" ] || { echo "$1 printed: $3"; exit 1; }
    echo "$1"
}

installed() # NAME PACKAGE...: by apt, with the packages that they need
{
    local name=$1
    shift
    inside "$name" "apt-get install -q -y --no-install-recommends $*" >"$tmp/log" 2>&1 || { tail -n 15 "$tmp/log"; exit 1; }
}

text=$'zero nine one eight.\ntwo seven.'

# ---- Debian packages: one to install, one command to a text; then what the others add

system "$VERSION_CODENAME" debian || { echo "no system of $VERSION_CODENAME"; exit 1; }
cp dist/*_{"$arch",all}.deb "$tmp/debian/root"
inside debian "apt-get update -q" >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; exit 1; }
installed debian ./steno_*.deb
check "steno_*.deb: steno --demo" "$text" "$(inside debian "steno -q --demo demo.wav")"
installed debian ./steno-dialects_*.deb ./libsteno0_*.deb ./libsteno-dev_*.deb gcc libc6-dev pkg-config
name=$(inside debian "whisper-cli --help 2>&1 | head -n 3" | grep -c whisper-cli || true)
[ "$name" -ge 1 ] || { echo "steno-dialects_*.deb: whisper-cli --help does not name whisper-cli"; exit 1; }
inside debian 'cc transcribe.c $(pkg-config --cflags --libs steno steno-media) -o transcribe'
out=$(inside debian "./transcribe /usr/share/steno/models/whisper-digits/whisper-digits.bin demo.wav")
grep -q "zero nine one" <<<"$out" || { echo "the example with libsteno-dev_*.deb printed: $out"; exit 1; }
echo "libsteno-dev_*.deb: an example"
installed debian libavformat-dev # FFmpeg's libraries of this release
check "steno_*.deb: FFmpeg of the system" 1 "$(inside debian "steno -q --demo audio/de.opus | grep -c .")"
inside debian "apt-get remove -q -y steno libsteno0" >"$tmp/log" 2>&1 || { tail -n 15 "$tmp/log"; exit 1; }
left=$(inside debian "find /usr/bin /usr/lib /usr/share -name '*steno*' ! -path '/usr/share/doc/*'")
[ -z "$left" ] || { echo "removed packages leave: $left"; exit 1; }

# ---- the tarball: nothing is installed

tarball=$(find dist -name "steno-*-linux-$(uname -m).tar.gz" | head -1)
[ -n "$tarball" ] || { echo "no tarball in dist/: only the Debian packages were tried"; exit 0; }
for release in bullseye bookworm trixie ${STENO_UBUNTU:+focal jammy noble}; do
    system "$release" "$release" || { echo "skipped: no system of $release from the mirror"; continue; }
    tar -xzf "$tarball" -C "$tmp/$release/opt"
    mv "$tmp/$release"/opt/steno-* "$tmp/$release/opt/anywhere"
    check "$release: steno --demo" "$text" "$(inside "$release" "/opt/anywhere/bin/steno -q --demo demo.wav")"
    check "$release: its own FFmpeg" 6 \
        "$(inside "$release" "cd audio; for f in de.m4a de.opus de_22k.mp3 fr.flac de_stereo.ogg ../demo.wav; do
            /opt/anywhere/bin/steno -q --demo \$f | grep -q . && echo \$f; done | grep -c .")"
    served=$(inside "$release" "/opt/anywhere/bin/steno serve --demo --port 18090 2>log & server=\$!
        for i in 1 2 3 4 5 6 7 8 9 10; do ! grep -q http:// log || break; sleep 1; done
        perl -MIO::Socket::INET -e 'my \$s = IO::Socket::INET->new(q(127.0.0.1:18090)) or die;
            print \$s qq(GET /livez HTTP/1.0\r\n\r\n); print <\$s>'
        kill \$server; wait \$server || true" | head -n 1 | tr -d '\r')
    case $served in HTTP/1.?" 200 OK") echo "$release: steno serve" ;; *) echo "$release: steno serve answered: $served"; exit 1 ;; esac
    rm -rf "${tmp:?}/$release"
done
