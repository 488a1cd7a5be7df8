# steno: killed at any moment, outputs are whole or absent. SPDX-License-Identifier: MIT
#
# kill -9 gives the program no chance to tidy up. STENO_KILLS sets the number of kills (20, under a sanitizer 6): at random moments,
# and, since files are written in a small part of the time, in turn as soon as a temporary file is seen.
. "$(dirname "$0")/../lib.sh"

n=6
for ((i = 0; i < n; i++)); do cp "$DIGITS" in$i.wav; done
formats=txt,srt,vtt,tsv,json,verbose_json,csv,lrc

begun=$(date +%s%N)
expect 0 "a run without a kill writes all outputs" -q -m "$MODEL" -l zh -f $formats in*.wav -o whole
took=$((($(date +%s%N) - begun) / 1000000)) # ms; the kills are spread over it
[ $took -gt 10 ] || took=10
count=$(ls whole | wc -l)
is "every input has every format" "$count" $((n * 8))

seen=0 debris=0
for ((k = 0; k < ${STENO_KILLS:-$(sanitized && echo 6 || echo 20)}; k++)); do
    rm -f out/in*
    ((k % 2 == 0)) || rm -f out/.steno-*
    "$STENO" -q -m "$MODEL" -l zh -f $formats in*.wav -o out 2>/dev/null &
    pid=$!
    if ((k % 2)); then
        until [ -n "$(compgen -G 'out/.steno-*')" ] || ! kill -0 $pid 2>/dev/null; do :; done
    else
        sleep "$(printf '0.%03d' $((RANDOM % (took < 900 ? took + 50 : 950))))"
    fi
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    for f in out/*; do
        [ -e "$f" ] || continue
        cmp -s "$f" "whole/${f#out/}" || bad "kill $k: $f is whole" "$(cmp "$f" "whole/${f#out/}" 2>&1)"
        seen=$((seen + 1))
    done
    for f in out/.steno-*; do
        [ -e "$f" ] || continue
        debris=$((debris + 1))
        [ "$(stat -c %a "$f")" = 1200 ] && continue
        # it was killed between having its mode and its name
        cksum <"$f" | grep -qxF "$(for w in whole/*; do cksum <"$w"; done)" || bad "kill $k: $f is marked or whole" "$(ls -l "$f")"
        rm "$f"
    done
    others=$(ls -A out 2>/dev/null | grep -vE '^(in[0-9]\.[a-z_]+|\.steno-.{6}|\.steno_resume)$')
    none "kill $k: every other file has a temporary name" "$others"
done
echo "$seen outputs were there, $debris temporary files were left"
[ $((seen + debris)) -gt 0 ] || bad "some kills come while the program runs" "none did"
expect 0 "the next run exits 0" -q -m "$MODEL" -l zh -f $formats in*.wav -o out
is "the next run leaves no temporary file" "$(ls -A out | grep -c '^\.steno-')" 0
is "the next run writes every output" "$(ls out | wc -l)" "$count"
finish
