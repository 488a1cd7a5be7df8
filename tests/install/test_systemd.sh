#!/usr/bin/env bash
# steno: systemd starts the units of doc/examples, and starts them again. SPDX-License-Identifier: MIT
#
# A systemd of its own is the first process of new namespaces, on an overlay of this machine's root, whose files are removed at the end.
# There is no user namespace, so /sys and /proc/sys are read-only in there, and of this machine's units only those of the journal and of
# tmpfiles start: no setting of the kernel changes. It needs root: ctest --test-dir build -R install.systemd
set -uo pipefail
: "${STENO:?the program to test}" "${STENO_SOURCE:?}"
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "only root can start a systemd"
for needed in unshare nsenter pivot_root systemctl systemd-tmpfiles curl python3; do
    command -v $needed >/dev/null || skip "no $needed"
done
[ -x /lib/systemd/systemd ] || skip "no systemd"
! ldd "$STENO" 2>/dev/null | grep -q "not found" || skip "libraries of the program are not where systemd would find them"

tmp=$(mktemp -d)
export tmp root=$tmp/root group=steno-test-$$
mkdir "$tmp/over" "$root" "$tmp/cgroup"
first= outer=
finish()
{
    kill -KILL "${first:-$outer}" 2>/dev/null
    wait $outer 2>/dev/null
    mount -t cgroup2 none "$tmp/cgroup" && for _ in 1 2 3 4 5; do
        find "$tmp/cgroup/$group" -depth -type d -exec rmdir {} + 2>/dev/null
        [ -d "$tmp/cgroup/$group" ] || break
        sleep 0.2
    done
    umount "$tmp/cgroup"
    rm -rf --one-file-system "$tmp"
}
trap finish EXIT

cat >"$tmp/group" <<'S'
mount -t cgroup2 none "$tmp/cgroup" && mkdir "$tmp/cgroup/$group" && echo $$ >"$tmp/cgroup/$group/cgroup.procs" || exit 1
umount "$tmp/cgroup"
exec unshare --cgroup --pid --fork --kill-child --uts --ipc --net bash "$tmp/boot"
S
cat >"$tmp/boot" <<'S'
set -e
mount --make-rprivate /
mount -t tmpfs none "$tmp/over"
mkdir "$tmp/over/upper" "$tmp/over/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$tmp/over/upper,workdir=$tmp/over/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount -o remount,bind,ro "$root/sys"
for name in sys sysrq-trigger irq bus; do
    [ -e "$root/proc/$name" ] || continue
    mount --bind "$root/proc/$name" "$root/proc/$name"
    mount -o remount,bind,ro "$root/proc/$name"
done
mount -t cgroup2 none "$root/sys/fs/cgroup"
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/dev"
for name in null zero full random urandom tty; do
    : >"$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts none "$root/dev/pts" -o newinstance
mount -t tmpfs none "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
: >"$root/etc/fstab"
grep -q '^www-data:' "$root/etc/group" || echo www-data:x:64999: >>"$root/etc/group" # steno.socket's; other systems than Debian lack it
units=("$root/etc/systemd/system" "$root/run/systemd/system" "$root"/{usr/,}{local/,}lib/systemd/system)
find "${units[@]}" -path '*.wants/*' ! -name 'systemd-journald*' ! -name 'systemd-tmpfiles-setup.service' -delete 2>/dev/null || true
for unit in systemd-{sysctl,modules-load,binfmt,remount-fs,timesyncd,random-seed,pstore,udevd,udev-trigger,udev-settle}.service \
    systemd-udevd-{control,kernel}.socket systemd-journald-audit.socket modprobe@.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
printf '[Unit]\nDescription=nothing but a journal\nDefaultDependencies=no\nWants=systemd-journald.service\n' \
    >"$root/etc/systemd/system/steno-test.target"
cd "$root"
mkdir -p "./$tmp/old"
pivot_root . "./$tmp/old"
exec chroot . /usr/bin/env -i container=steno PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -c \
    'umount -l "$0" && mount --make-rshared / && exec /lib/systemd/systemd --unit=steno-test.target --log-target=journal' "$tmp/old"
S

tries() { # tries SECONDS COMMAND...: until it succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.2
    done
}
sd() { nsenter -t "$first" -m -p -u -i -n -C -r -w "$@"; } # a command in there
put() { sd sh -c "cat >$1 && chmod ${2-644} $1"; } # put FILE [MODE]: standard input as a file in there
n_bad=0
is() { # is CLAIM GOT WANT
    echo "$1"
    [ "$2" = "$3" ] || { n_bad=$((n_bad + 1)); echo "FAILED: $1: \"$2\", not \"$3\""; }
}
shows() { sd systemctl show "$1" -p "$2" --value; } # shows UNIT PROPERTY

unshare --mount bash "$tmp/group" >"$tmp/log" 2>&1 &
outer=$!
is_begun() { # or it never will be
    first=$(ps -o pid=,comm= --ppid $outer | awk '$2 == "systemd" { print $1 }')
    [ -n "$first" ] || ! kill -0 $outer 2>/dev/null
}
tries 10 is_begun && [ -n "$first" ] || skip "no systemd in namespaces: $(tail -n 1 "$tmp/log")"
is_up() { ! kill -0 $outer 2>/dev/null || sd systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
tries 60 is_up && kill -0 $outer 2>/dev/null || skip "systemd does not start here: $(tail -n 1 "$tmp/log")"

sd mkdir -p /usr/local/bin /var/lib/steno /etc/steno
put /usr/local/bin/steno 755 <"$STENO"
writable() { for path in /proc/sys/kernel/pid_max /proc/sysrq-trigger /sys; do sd test -w $path && echo $path; done; }
is "settings of the kernel are read-only" "$(writable)" ""
put /var/lib/steno/base.bin <"$STENO_SOURCE/models/whisper-digits/whisper-digits.bin"
talk=/var/lib/steno/talk.wav # of part 3: its decoding takes seconds
{
    echo $talk
    for i in $(seq 24); do
        put "/var/lib/steno/$i.wav" <"$STENO_SOURCE/tests/data/audio/zh_phrases.wav"
        echo "/var/lib/steno/$i.wav"
    done
} >"$tmp/all"
python3 -c 'import sys, wave
with wave.open(sys.argv[1]) as one, wave.open(sys.argv[2], "wb") as many:
    many.setparams(one.getparams())
    many.writeframes(one.readframes(one.getnframes()) * 60)' "$STENO_SOURCE/tests/data/audio/zh_phrases.wav" "$tmp/talk.wav"
put $talk <"$tmp/talk.wav"
put /var/lib/steno/manifest.jsonl <"$tmp/all"
put /etc/steno/keys 600 <<<secret
for unit in batch/steno-batch@.service serve/steno.service serve/steno.socket; do
    put "/etc/systemd/system/${unit#*/}" <"$STENO_SOURCE/doc/examples/$unit"
done
sd ip link set lo up

# ---- a manifest in four parts
parts=(steno-batch@{0..3})
shown() { for part in "${parts[@]}"; do shows "$part" "$1"; done; } # shown PROPERTY: of each part
ended() { ! grep -qE '^(activating|active|deactivating)$' <<<"$(shown ActiveState)"; }
texts() { # of all parts, in order
    sd /usr/local/bin/steno batch --merge --ordered -i /var/lib/steno/manifest.jsonl /var/lib/steno-batch-{0,1,2,3}/results.jsonl |
        grep '"type": "transcript"'
}
sd systemctl daemon-reload
sd systemctl start "${parts[@]}"
tries 120 ended
is "each part succeeds" "$(shown Result | sort -u)" success
texts >"$tmp/once"
is "each input has a text" "$(grep -c '"status": "ok"' "$tmp/once")" 25
is "others cannot read the results" "$(sd stat -c %a /var/lib/private/steno-batch-0/results.jsonl)" 600
sd sh -c "rm -r /var/lib/private/steno-batch-*"
sd mkdir -p /etc/systemd/system/steno-batch@.service.d
printf '[Service]\nRestartSec=1\n' | put /etc/systemd/system/steno-batch@.service.d/test.conf
sd systemctl daemon-reload
decodes() { # decodes N: part 3 has begun the talk N times and has no text of it
    local lines
    lines=$(sd grep -sF "\"$talk\"" /var/lib/private/steno-batch-3/results.jsonl)
    [ "$(shows steno-batch@3 ActiveState)" = active ] && [ "$(grep -c '"type": "begin"' <<<"$lines")" = "$1" ] &&
        ! grep -q '"type": "transcript"' <<<"$lines"
}
sd systemctl start steno-batch@3
is "a part decodes a talk" "$(tries 30 decodes 1 && echo yes)" yes
sd systemctl kill -s KILL --kill-who=main steno-batch@3
repeated() { [ "$(shows steno-batch@3 NRestarts)" = 1 ]; }
tries 20 repeated
is "a part that was killed is started again" "$(shows steno-batch@3 NRestarts)" 1
is "it decodes the talk again" "$(tries 60 decodes 2 && echo yes)" yes
sd systemctl stop steno-batch@3
is "a stop is no failure" "$(shows steno-batch@3 Result)" success
sd systemctl start "${parts[@]}"
tries 120 ended
texts >"$tmp/again"
is "results are those of an uninterrupted run" "$(cmp "$tmp/again" "$tmp/once" 2>&1)" ""
echo /var/lib/steno/missing.wav | put /var/lib/steno/manifest.jsonl
sd sh -c "rm -r /var/lib/private/steno-batch-*"
sd systemctl start "${parts[@]}"
tries 60 ended
is "a part with an input that failed has failed, and is not repeated" \
    "$(shown ExecMainStatus | sort | xargs) $(shown NRestarts | sort -u)" "0 0 0 1 0"

# ---- the server
ask() { # ask KEY: the answer for a recording, and its status
    sd curl -s -m 60 -w ' %{http_code}' -H "Authorization: Bearer $1" -F response_format=text -F file=@/var/lib/steno/1.wav \
        -F language=zh http://127.0.0.1:8090/v1/audio/transcriptions | tr -d '\n'
}
sd systemctl start steno
is "the server is active when it is ready" "$(sd curl -s -m 5 http://127.0.0.1:8090/health)" '{"status":"ok"}'
is "a key from a credential is accepted" "$(ask secret)" "六零七八。零三九。五一。 200"
is "another key does not" "$(ask other | tail -c 3)" 401
put /etc/steno/keys 600 <<<second
sd systemctl restart steno
is "a restart takes other keys" "$(ask second | tail -c 3) $(ask secret | tail -c 3)" "200 401"
sd systemctl stop steno
is "a stop of the server is a success" "$(shows steno Result)" success
sd mkdir -p /etc/systemd/system/steno.service.d
printf '[Service]\nWatchdogSec=2\nRestartSec=1\n' | put /etc/systemd/system/steno.service.d/test.conf
sd systemctl daemon-reload
sd systemctl start steno
sleep 5
is "the watchdog does not restart a server that works" "$(sd systemctl is-active steno) $(shows steno NRestarts)" "active 0"
sd systemctl kill -s STOP --kill-who=main steno
restarted() { [ "$(shows steno NRestarts)" -ge 1 ] && sd systemctl is-active -q steno; }
tries 60 restarted
is "a server that hangs is started again" "$(restarted && ask second)" "六零七八。零三九。五一。 200"
sd systemctl stop steno
sd systemctl start steno.socket
is "systemd listens before the server starts" "$(sd systemctl is-active steno.socket steno | xargs)" "active inactive"
is "the first request starts the server" "$(sd curl -s -m 60 --unix-socket /run/steno.sock http://localhost/health)" '{"status":"ok"}'
is "the socket belongs to the proxy" "$(sd stat -c '%a %G' /run/steno.sock)" "660 www-data"
is "the log names the socket of systemd" "$(sd journalctl -q -u steno -o cat | grep -c 'steno: serving base on the socket of systemd')" 1
others=('systemd-sysctl*' 'systemd-modules-load*' 'systemd-udev*' 'modprobe@*')
is "units that change them have not started" "$(sd systemctl list-units --all --state=active,failed --no-legend "${others[@]}")" ""
[ $n_bad = 0 ] || sd journalctl -q --no-pager | tail -n 40
echo "$n_bad failed"
[ $n_bad = 0 ]
