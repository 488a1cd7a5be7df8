# steno: common functions of the program's tests. SPDX-License-Identifier: MIT
#
# A test runs the program as a user does and checks exit code, standard output, standard error and files. STENO must name the program;
# all other paths follow from this file. The user's configuration is not visible: HOME is empty, and the environment names no model.
set -u
: "${STENO:?the program to test}"
STENO=$(realpath "$STENO")
SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MODEL=$SRC/models/whisper-digits/whisper-digits.bin
DIGITS=$SRC/tests/data/audio/zh_phrases.wav # three phrases, 7.2 s
WRITERS=$SRC/tests/data/writers
T=$(mktemp -d "${TMPDIR:-/tmp}/steno-cli-XXXXXX")
trap '[ $BASHPID -eq $$ ] && rm -rf "$T"' EXIT # a child that is ended before it becomes a program runs it, too
mkdir "$T/home" "$T/work"
cd "$T/work" || exit 1
export HOME=$T/home
unset STENO_MODEL XDG_CACHE_HOME HF_HOME HF_HUB_CACHE
[ -r "$MODEL" ] || { echo "skipped: no model at $MODEL"; exit 77; }
# Does the build read formats other than WAV? If not, prints that $1 is not tested.
have_ffmpeg() { [ "${STENO_FFMPEG-1}" = 1 ] || { echo "(not tried: $1; this build has no FFmpeg)"; return 1; }; }
# Is this a sanitizer build? For tests that are slow under a sanitizer.
sanitized() { [ "${STENO_SANITIZED-0}" = 1 ]; }
# Is this the program for Windows, which Wine takes long to start?
on_wine() { [ -n "${STENO_NATIVE+set}" ]; }
# Are all combinations of options tested, as with script/test --long?
in_full() { [ "${STENO_LONG-0}" = 1 ]; }

failures=0
bad() { # bad CLAIM DETAIL: a claim that does not hold
    failures=$((failures + 1))
    echo "FAILED: $1: $2"
    [ -s "$T/err" ] && sed 's/^/    stderr: /' "$T/err" | head -5
    return 0
}

# expect CODE CLAIM ARGUMENT...: run the program with standard input from $IN; leaves $T/out and $T/err.
IN=/dev/null
expect() {
    local want=$1 claim=$2 code
    shift 2
    "$STENO" "$@" <"$IN" >"$T/out" 2>"$T/err"
    code=$?
    echo "$claim"
    [ $code -eq "$want" ] || bad "$claim" "exit code $code, not $want (steno $*)"
}

# Every text contains the empty text, and grep finds a pattern of several lines if one line matches. Both prove nothing, so they are
# refused.
needle() { [ -n "$1" ] && [ "$1" = "${1%$'\n'*}" ] || bad "what is looked for is one line" "\"$1\""; }
err_has() { needle "$1"; grep -qF -- "$1" "$T/err" || bad "standard error has \"$1\"" "it does not"; }
err_lacks() { needle "$1"; [ -e "$T/err" ] && ! grep -qF -- "$1" "$T/err" || bad "standard error lacks \"$1\"" "it does"; }
out_has() { needle "$1"; grep -qF -- "$1" "$T/out" || bad "standard output has \"$1\"" "$(head -c 200 "$T/out")"; }
out_empty() { [ -e "$T/out" ] && [ ! -s "$T/out" ] || bad "standard output is empty" "$(head -c 200 "$T/out")"; }
err_lines() { [ "$(wc -l <"$T/err")" -eq "$1" ] || bad "standard error has $1 lines" "$(wc -l <"$T/err")"; }
# Two files are equal and not empty.
same() {
    [ -s "$2" ] || bad "$2 has something in it" "$(ls -l "$2" 2>&1)"
    cmp -s "$1" "$2" || bad "$1 equals $2" "$(cmp "$1" "$2" 2>&1)"
}
# is CLAIM VALUE EXPECTED: the texts are equal. EXPECTED must not be empty, because two commands without output prove nothing; see `none`.
is() {
    [ -n "$3" ] || bad "$1" "nothing is compared with (none CLAIM VALUE expects an empty text)"
    [ "$2" = "$3" ] || bad "$1" "\"$2\", not \"$3\""
}
none() { [ -z "$2" ] || bad "$1" "\"$2\", not nothing"; }

finish() {
    [ $failures -eq 0 ] || echo "$failures failed"
    exit $((failures > 0))
}

le() { # le BYTES NUMBER: a little-endian number
    local n=$1 v=$2
    while [ "$n" -gt 0 ]; do
        printf "\\x$(printf %02x $((v & 255)))"
        v=$((v >> 8)) n=$((n - 1))
    done
}

wav() { # wav < PCM > WAV: 16 kHz, mono, 16 bits; PCM is a file
    local n
    n=$(stat -Lc %s /dev/stdin)
    printf RIFF; le 4 $((n + 36)); printf 'WAVEfmt '
    le 4 16; le 2 1; le 2 1; le 4 16000; le 4 32000; le 2 2; le 2 16
    printf data; le 4 "$n"
    cat
}

silence() { # silence SECONDS > WAV
    head -c $(($1 * 32000)) /dev/zero >"$T/zeros"
    wav <"$T/zeros"
    rm "$T/zeros"
}

long_speech() { # long_speech TIMES > WAV: the digits, repeated TIMES times
    tail -c +45 "$DIGITS" >"$T/once"
    local i
    for ((i = 0; i < $1; i++)); do cat "$T/once"; done >"$T/many"
    wav <"$T/many"
    rm "$T/once" "$T/many"
}

stereo() { # stereo SAMPLES > WAV: the phrases, before SAMPLES on the left channel, after SAMPLES on the right
    local n
    n=$(($(tail -c +45 "$DIGITS" | wc -c) * 2))
    printf RIFF; le 4 $((n + 36)); printf 'WAVEfmt '
    le 4 16; le 2 1; le 2 2; le 4 16000; le 4 64000; le 2 4; le 2 16
    printf data; le 4 "$n"
    printf "$(tail -c +45 "$DIGITS" | od -An -v -tx1 -w2 |
        awk -v n="$1" '{ s = "\\x" $1 "\\x" $2; z = "\\x00\\x00"; printf "%s%s", NR <= n ? s : z, NR <= n ? z : s }')"
}
