# steno: an address space that is too small. SPDX-License-Identifier: MIT
#
# Under every limit the program does its work or ends with 5 and a reason, for memory of any part: the model, FFmpeg, the loader of its
# libraries. limits.sh [SECONDS [SEED]]: the short form takes a few limits, the long one goes on with others.
STENO=${STENO:-build/steno}
. "$(dirname "$0")/../cli/lib.sh"
sanitized && { echo "skipped: a sanitizer needs an address space without limit"; exit 77; }

RANDOM=${2:-1}
n=0
try() { # try KIB ARGUMENT...
    local kib=$1 code
    shift
    (
        ulimit -v "$kib"
        exec "$STENO" -t 1 -q -m "$MODEL" "$@"
    ) >"$T/out" 2>"$T/err"
    code=$?
    n=$((n + 1))
    [ $code -eq 0 ] || [ $code -eq 5 ] || bad "under ulimit -v $kib" "exit code $code (steno -t 1 -q -m MODEL $*)"
    [ $code -eq 0 ] || [ -s "$T/err" ] || bad "under ulimit -v $kib" "no reason is given"
}

SECONDS=0
audio=("$DIGITS")
have_ffmpeg "sounds that need its libraries" && audio+=("$SRC/tests/data/audio/de_22k.mp3" "$SRC/tests/data/audio/de_video.mp4")
for ((kib = 20000; kib < 300000; kib += 41000)); do try $kib "${audio[n % ${#audio[@]}]}"; done
for ((kib = 180000; kib < 260000; kib += 7000)); do try $kib "${audio[${#audio[@]} - 1]}"; done # libraries are loaded half
while [ $SECONDS -lt "${1:-0}" ]; do try $((16000 + RANDOM * 10)) -f json "${audio[n % ${#audio[@]}]}"; done
# A stack that cannot grow when all is taken would end the program without a word: it has grown before.
mkfifo "$T/fifo"
( ulimit -v 400000; exec "$STENO" -t 1 -q -m "$MODEL" - ) <"$T/fifo" >"$T/out" 2>"$T/err" &
pid=$!
exec 9>"$T/fifo"
for ((i = 0; i < 100; i++)); do
    kib=$(awk '/\[stack\]/ { here = 1 } here && /^Size:/ { print $2; exit }' "/proc/$pid/smaps" 2>/dev/null)
    [ "${kib:-0}" -ge 512 ] && break
    sleep 0.1
done
exec 9>&-
wait "$pid"
[ "${kib:-0}" -ge 512 ] || bad "a limited stack" "it has ${kib:-no} KiB"
echo "$n runs"
finish
