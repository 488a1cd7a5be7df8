# steno: the program on a processor that is not this one. SPDX-License-Identifier: MIT
#
# program.sh CPU LEVEL   on CPU the program chooses LEVEL, and hears what it hears on the processor that is here, with one thread and
#                        with more threads than processors.
set -euo pipefail
: "${STENO:?the program}" "${STENO_EMULATOR:?and what runs it}"
cpu=$1 level=$2
if ! command -v "${STENO_EMULATOR%% *}" >/dev/null; then
    echo "skipped: ${STENO_EMULATOR%% *} is not installed; script/bootstrap --test installs it"
    exit 77
fi
emulated() { $STENO_EMULATOR -cpu "$cpu" "$STENO" "$@" 2> >(grep -v '^qemu.*warning' >&2); }

used=$({ emulated doctor || true; } | sed -n 's/^level used: \([a-z0-9]*\).*/\1/p') # it also fails where it finds no model
if [ "$used" != "$level" ]; then
    echo "on $cpu the level used should be $level, and is \"$used\""
    exit 1
fi
want=$("$STENO" -m models/whisper-digits/whisper-digits.bin tests/data/demo.wav)
for threads in 1 3; do
    got=$(emulated -m models/whisper-digits/whisper-digits.bin tests/data/demo.wav -t $threads)
    if [ -z "$got" ] || [ "$got" != "$want" ]; then
        printf '%s, %s threads: heard\n%s\nwant\n%s\n' "$cpu" $threads "$got" "$want"
        exit 1
    fi
done
echo "$cpu: level $level, $(wc -w <<<"$want") words as here"
