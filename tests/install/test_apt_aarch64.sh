#!/usr/bin/env bash
# steno: apt installs the Debian packages for 64-bit ARM, under emulation. SPDX-License-Identifier: MIT
#
# They are those in dist/, from script/package --machine aarch64, and the system is this release of Debian for arm64, by debootstrap. Its
# apt, its dpkg and all maintainer scripts run in a user namespace with a binfmt_misc of its own, so nothing of this system changes.
# STENO_CHROOTS is a folder that keeps the system without steno. It needs root, for debootstrap and for the users of the namespace.
set -euo pipefail

. "${STENO_SOURCE:?}/tests/install/arm.sh"
built_for_arm 'steno_*_arm64.deb' "Debian package" script/package
command -v debootstrap >/dev/null || skip "no debootstrap (apt-get install debootstrap)"
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"
unshare -Urm mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null || skip "namespaces have no binfmt_misc here (Linux 6.7 has)"
. /etc/os-release
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
[ -n "$mirror" ] || skip "no mirror of Debian in the lists of apt"

# The kernel opens this qemu before the root changes, so it may need no library.
if ! static=$(command -v qemu-aarch64-static); then
    (cd "$tmp" && apt-get -q download qemu-user-static && dpkg-deb -x qemu-user-static_*.deb static) >"$tmp/log" 2>&1 ||
        { tail -n 5 "$tmp/log"; skip "no qemu-aarch64-static (apt-get install qemu-user-static)"; }
    static=$tmp/static/usr/bin/qemu-aarch64-static
fi
export static

cat >"$tmp/wait" <<'S'
read -r <&3
exec 3<&- unshare -m --propagation private bash "$0.root" "$@"
S
cat >"$tmp/wait.root" <<'S'
set -e
root=$1
shift
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf ':arm:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:%s:%s:F' \
    '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' "$static" >/proc/sys/fs/binfmt_misc/register
mount --rbind /proc "$root/proc"
mount -t tmpfs none "$root/dev"
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
S
inside() # ROOT COMMAND...: a namespace with all users of this system, because dpkg gives files to some
{
    local pid
    rm -f "$tmp/begin" && mkfifo "$tmp/begin"
    unshare -U --kill-child bash "$tmp/wait" "$@" 3<"$tmp/begin" &
    pid=$!
    exec 4>"$tmp/begin"
    while kill -0 $pid && [ "$(readlink /proc/$pid/ns/user)" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.1; done
    echo "0 0 65536" >/proc/$pid/uid_map && echo "0 0 65536" >/proc/$pid/gid_map
    echo >&4
    exec 4>&-
    wait $pid
}

kept=${STENO_CHROOTS:-$tmp}/$VERSION_CODENAME-arm64.tar root=$tmp/root
if [ ! -f "$kept" ]; then
    debootstrap --foreign --arch=arm64 --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$tmp/log" 2>&1 ||
        { tail -n 5 "$tmp/log"; skip "no packages of arm64 from the mirror"; }
    # Its devices and /proc are there already; a namespace can make none.
    sed -i -E 's/^(check_sane_mount|setup_devices|setup_dynamic_devices|setup_proc) ?\(\) \{/&\nreturn 0/' "$root/debootstrap/functions"
    inside "$root" /debootstrap/debootstrap --second-stage >"$tmp/log" 2>&1 || { tail -n 15 "$tmp/log"; exit 1; }
    rm -rf "$root/debootstrap"
    tar -C "$root" --numeric-owner -cf "$kept.part" . && mv "$kept.part" "$kept"
else
    mkdir "$root" && tar -C "$root" --numeric-owner -xf "$kept"
fi
cp /etc/resolv.conf "$root/etc"
mkdir "$root/opt/debs"
cp dist/*_arm64.deb dist/*_all.deb tests/data/demo.wav "$root/opt/debs"

cat >"$root/opt/install" <<'S'
set -e
cd /opt/debs
apt-get -q update
apt-get -q -y --no-install-recommends install ./*.deb
S
inside "$root" bash /opt/install >"$tmp/log" 2>&1 || { tail -n 15 "$tmp/log"; exit 1; }
check "apt installs what stands in dist/" "$(cd dist && for deb in *_arm64.deb *_all.deb; do echo "${deb%%_*} installed"; done | sort)" \
    "$(inside "$root" dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'libsteno*' 'steno*' | sort)"
check "a text as on this machine" "$("$STENO" -q --demo tests/data/demo.wav)" "$(inside "$root" steno -q --demo /opt/debs/demo.wav)"
check "whisper-cli is there" whisper-cli "$(inside "$root" whisper-cli --help 2>&1 | grep -o 'whisper-cli' | head -n 1)"
check "nothing is half installed" none "$(inside "$root" dpkg --audit)none"
inside "$root" apt-get -q -y purge 'libsteno*' 'steno*' >"$tmp/log" 2>&1 || { tail -n 15 "$tmp/log"; exit 1; }
check "nothing stays behind" none "$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*steno*')none"
