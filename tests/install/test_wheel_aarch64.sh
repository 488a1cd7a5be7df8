#!/usr/bin/env bash
# steno: the wheel for 64-bit ARM works under emulation. SPDX-License-Identifier: MIT
#
# The wheel in dist/, from script/wheel --machine aarch64, is installed for the arm64 Python of this release of Debian, which qemu runs on
# its arm64 libraries. That qemu also runs the programs that Python starts is set up in a namespace, so nothing of this system changes.
# STENO_CHROOTS is a folder that keeps the packages of arm64. It needs root, for debootstrap.
set -euo pipefail

. "${STENO_SOURCE:?}/tests/install/arm.sh"
built_for_arm 'steno-*_aarch64.whl' wheel script/wheel
wheel=$built
[ "$(stat -c %s "$wheel")" -le 10000000 ] || { echo "$wheel has $(stat -c %s "$wheel") bytes, at most 10 MB are allowed"; exit 1; }
command -v debootstrap >/dev/null || skip "no debootstrap (apt-get install debootstrap)"
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"
unshare -Urm mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null || skip "namespaces have no binfmt_misc here (Linux 6.7 has)"
. /etc/os-release
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
[ -n "$mirror" ] || skip "no mirror of Debian in the lists of apt"

python3 -m venv "$tmp/venv" 2>/dev/null || skip "no venv (apt-get install python3-venv)"
kept=${STENO_CHROOTS:-$tmp/kept}/$VERSION_CODENAME-arm64
if [ ! -f "$kept/.whole" ]; then
    rm -rf "$kept" && mkdir -p "$kept"
    debootstrap --foreign --arch=arm64 --variant=minbase --include=python3,libffi8 "$VERSION_CODENAME" "$tmp/first" "$mirror" \
        >"$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; skip "no packages of arm64 from the mirror"; }
    for package in "$tmp"/first/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$kept"; done
    touch "$kept/.whole"
fi

# pip compares the wheel's name with the platform, and writes the modes of programs
"$tmp/venv/bin/python" -m pip install -q --no-index --no-deps --disable-pip-version-check --only-binary=:all: \
    --platform manylinux_2_28_aarch64 --target "$tmp/site" "$wheel"
for file in steno/lib/libsteno-python.so steno/bin/steno; do
    readelf -h "$tmp/site/$file" | grep -q AArch64 || { echo "$file is not for ARM"; exit 1; }
done

cat >"$tmp/start" <<'S'
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf ':arm:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:%s:%s:' \
    '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' "$qemu" >/proc/sys/fs/binfmt_misc/register
exec "$@"
S
arm() # CPU COMMAND...
{
    env -i HOME="$tmp" LC_ALL=C.UTF-8 PATH=/usr/bin:/bin PYTHONPATH="$tmp/site" PYTHONDONTWRITEBYTECODE=1 QEMU_LD_PREFIX="$kept" \
        QEMU_CPU="$1" qemu="$qemu" unshare -Urm bash "$tmp/start" "${@:2}"
}

python=$kept/usr/bin/python3
model=models/whisper-digits/whisper-digits.bin
check "python3 of ARM" aarch64 "$(arm max "$python" -c 'import platform; print(platform.machine())')"
check "python3 -m steno --version" "$("$STENO" --version | head -n 1)" "$(arm max "$python" -m steno --version | head -n 1)"
text=$("$STENO" -q -m $model tests/data/demo.wav)
for cpu in max cortex-a72; do
    check "python3 -m steno, as on x86-64, with $cpu" "$text" "$(arm $cpu "$python" -m steno -q -m $model tests/data/demo.wav)"
done
check "steno.Model, and its own FFmpeg, with neoverse-n1" " zero nine one eight. two seven." "$(arm neoverse-n1 "$python" -c '
import sys, steno
model, sounds = sys.argv[1], sys.argv[2:]
texts = [x.text for x in steno.Model(model).transcribe_many(sounds, ordered=True, on_error="raise")]
print(texts[0])
sys.exit(not all(t.strip() for t in texts))' $model tests/data/demo.wav tests/data/audio/{de.opus,de.m4a})"
check "python3 -m steno serve, with libmicrohttpd and libwslay" 200 "$(arm max "$python" -c '
import re, subprocess, sys, urllib.request
server = subprocess.Popen([sys.executable, "-m", "steno", "serve", "-m", sys.argv[1], "--port", "0"], stderr=subprocess.PIPE, text=True)
for line in server.stderr:
    address = re.search(r"http://[0-9.:]+", line)
    if address:
        break
print(urllib.request.urlopen(address.group() + "/livez").status)
server.terminate()
server.wait()' $model)"
echo "$(basename "$wheel") works under emulation"
