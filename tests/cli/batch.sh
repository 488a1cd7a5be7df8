# steno: several inputs at a time. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}

tail -c +45 "$DIGITS" >pcm
head -c 60000 pcm >part && wav <part >short.wav
head -c 1600 pcm >part && wav <part >none.wav
{ head -c 64000 /dev/zero; cat pcm; } >part && wav <part >late.wav
{ cat pcm; head -c 800000 /dev/zero; cat pcm; } >part && wav <part >long.wav # 39 s

for format in txt json srt; do
    t 0 "inputs one after the other are written as $format" -f $format "$DIGITS" late.wav none.wav short.wav long.wav "$DIGITS"
    cp "$T/out" alone
    for n in 2 5; do
        t 0 "$n inputs together are written as $format, the same bytes in the same order" -f $format -b $n \
            "$DIGITS" late.wav none.wav short.wav long.wav "$DIGITS"
        same "$T/out" alone
    done
done

t 0 "beams write files, one input after the other" --beam-size 3 -f srt,json -o alone.d "$DIGITS" late.wav short.wav
t 0 "beams write the same files, inputs together" --beam-size 3 -f srt,json -o together.d -b 3 "$DIGITS" late.wav short.wav
for f in alone.d/*; do same "$f" "together.d/${f##*/}"; done

t 0 "a file is decoded as clips without context, one after the other" --chunk-length 6 --no-condition-on-previous-text -f json long.wav
cp "$T/out" alone
t 0 "a file is decoded as clips without context, together" --chunk-length 6 --no-condition-on-previous-text -f json -b 8 long.wav
same "$T/out" alone

alone=(--without-timestamps --no-condition-on-previous-text --audio-ctx 250 --sample-length 12 -f json)
t 0 "windows of a file that begin where the one before is cut off are decoded one after the other" "${alone[@]}" --print-timings long.wav
cp "$T/out" one
steps() { sed -n 's,.*time decode .* / *\([0-9]*\) runs,\1,p' "$T/err"; }
many=$(steps)
t 0 "windows of a file that begin where the one before is cut off are decoded together" "${alone[@]}" --print-timings -b 8 long.wav
same "$T/out" one
[ -n "$(steps)" ] || bad "--print-timings prints the steps of a batch" "$(cat "$T/err")"
[ $((3 * $(steps))) -lt "$many" ] || bad "windows of a batch share steps" "$(steps) instead of $many"

t 1 "an input that fails is reported, and the others are written" -b 3 "$DIGITS" no.wav short.wav
err_has "no.wav"
err_lines 1
t 4 "a batch without any readable input exits 4" -b 2 no.wav nor.wav
err_lines 2
t 2 "a batch of too many sequences is refused" -b 64 --beam-size 5 "$DIGITS"
err_has "at most 256 decode together, so at most 51 windows"
t 2 "a batch of no window is refused" -b 0 "$DIGITS"
err_has "1 to 128"
t 2 "a batch of too many windows is refused" -b 129 "$DIGITS"
err_has "1 to 128"

head -c 24000 pcm >part && wav <part >word.wav
for n in 17 128; do
    inputs=()
    for ((i = 0; i < n; i++)); do inputs+=(word.wav); done
    t 0 "$n inputs are decoded one after the other" --audio-ctx 40 --sample-length 3 "${inputs[@]}"
    cp "$T/out" alone
    t 0 "$n inputs are decoded together" -b $n --audio-ctx 40 --sample-length 3 "${inputs[@]}"
    same "$T/out" alone
done
finish
