# steno: the program on a processor that is not this one. SPDX-License-Identifier: MIT
#
# program.sh CPU LEVEL   on CPU the program chooses LEVEL and gives what it gives here at that level, with one thread and with more
#                        threads than processors. The model is a seed of the fuzz targets with real mel filters: a few rows wide, because
#                        emulated multiply-adds take a hundred nanoseconds. At levels that have none the demo is transcribed as well,
#                        by as much of the encoder as it is long.
set -euo pipefail
: "${STENO:?the program}" "${STENO_EMULATOR:?and what runs it}"
cpu=$1 level=$2
if ! command -v "${STENO_EMULATOR%% *}" >/dev/null; then
    echo "skipped: ${STENO_EMULATOR%% *} is not installed; script/bootstrap --test installs it"
    exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
digits=models/whisper-digits/whisper-digits.bin demo=tests/data/demo.wav seed=tests/data/fuzz/open/model-2
{ head -c 57 $seed | tail -c 56; head -c 64376 $digits | tail -c 64320; tail -c +58 $seed; } >"$tmp/model"

emulated() { $STENO_EMULATOR -cpu "$cpu" "$STENO" "$@" 2> >(grep -v '^qemu.*warning' >&2); }
same() # WHAT GOT WANT
{
    if [ -z "$2" ] || [ "$2" != "$3" ]; then
        printf '%s: %s: got\n%s\nwant\n%s\n' "$cpu" "$1" "$2" "$3"
        exit 1
    fi
}

used=$({ emulated doctor || true; } | sed -n 's/^level used: \([a-z0-9]*\).*/\1/p') # doctor also fails where it finds no model
same "level used" "$used" "$level"
want=$("$STENO" -m "$tmp/model" -l en -f json --cpu "$level" $demo)
for threads in 1 3; do
    same "text with $threads threads" "$(emulated -m "$tmp/model" -l en -f json -t $threads $demo)" "$want"
done
if [ "$level" = c ] || [ "$level" = sse41 ]; then
    same "demo" "$(emulated -m $digits -l en --audio-ctx 190 $demo)" "$("$STENO" -m $digits -l en --audio-ctx 190 $demo)"
fi
echo "$cpu: level $level, results as here"
