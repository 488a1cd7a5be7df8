# steno: streams of a model that hears chunk by chunk. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 2 "chunks are not for other models" -q -m "$MODEL" --chunk-size 0,8,4 "$DIGITS"
err_has "--chunk-size"
expect 2 "nor is looking back on them" -q -m "$MODEL" --encoder-chunk-look-back 2 "$DIGITS"
err_has "--encoder-chunk-look-back"
expect 2 "nor for decoders" -q -m "$MODEL" --decoder-chunk-look-back 2 "$DIGITS"
err_has "--decoder-chunk-look-back"

F=${STENO_SHARED:-/none}/material/funasr
[ -d "$F" ] || {
    [ $failures -eq 0 ] || exit 1
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
}
SOUND=$F/audio/zh_synth_long.wav
mkdir online
for f in config.yaml am.mvn tokens.json; do ln -s "$F/models/paraformer-online/pt/$f" online/; done
ln -s "$F/models/paraformer/pt/model.pt" online/

expect 0 "the family is told" info -m online
out_has "family: paraformer-live"
expect 0 "a recording is transcribed chunk by chunk" -q -m online "$SOUND"
is "its text" "$(tr -d '\n' <"$T/out")" 七零五五九四
cp "$T/out" whole
expect 2 "a chunk of no rows is refused" -q -m online --chunk-size 0,0,5 "$SOUND"
err_has "--chunk-size"
expect 2 "as are chunks that are too many rows to look back on" -q -m online --chunk-size 0,120,5 --encoder-chunk-look-back 9 "$SOUND"
err_has "--encoder-chunk-look-back"
expect 0 "other chunks give other segments" -q -m online --chunk-size 0,20,10 --encoder-chunk-look-back -1 "$SOUND"
cmp -s "$T/out" whole && bad "fewer ones" "they are the same"

# Text comes while the pipe is open.
mkfifo pipe
"$STENO" -q -m online - <pipe >live 2>"$T/err" &
pid=$!
exec 5>pipe
head -c 60044 "$SOUND" >&5 # 1.9 s: three chunks
for _ in $(seq 300); do
    [ -s live ] && break
    sleep 0.1
done
is "the first words are there before the audio ends" "$(tr -d '\n' <live)" 七零
tail -c +60045 "$SOUND" >&5
exec 5>&-
wait $pid
is "the pipe is transcribed" $? 0
same whole live

IN=$SOUND
expect 0 "standard input that is a file, too" -q -m online -
same whole "$T/out"
"$STENO" -q -m online - < <(cat "$F/audio/en_lucas.wav") >"$T/out" 2>"$T/err"
is "another pipe" "$(tr '\n' ' ' <"$T/out")" "nine zero six five five "
head -c 20000 /dev/urandom | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "a pipe of noise is refused" $? 4
true | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "an empty pipe is refused" $? 4
head -c 44 "$SOUND" | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "a pipe that ends behind its header" $? 0
out_empty
IN=/dev/null

expect 0 "a stream of final words" stream -q -m online "$SOUND"
lines() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "$T/out"; }
is "those of the turn" "$(lines final | tr -d '\n')" "$(lines endpoint)"
is "as in the whole" "$(printf "$(lines endpoint)")" "$(tr -d '\n' <whole)"
expect 0 "in other chunks" stream -q -m online --chunk-size 0,20,10 "$SOUND"
[ "$(lines final | wc -l)" -lt 6 ] || bad "fewer ones" "$(lines final)"
expect 2 "updates are not for it" stream -q -m online --step 2 "$SOUND"
err_has "--step is not for this model"
expect 2 "nor are turns that end by the clock" stream -q -m online --max-turn 9 "$SOUND"
err_has "--max-turn is not for this model"

expect 0 "it is written as one file" convert -q online online.gguf
expect 0 "which is told from one for whole clips" -q -m online.gguf "$SOUND"
same whole "$T/out"
expect 0 "and in fewer bits" quantize -q online.gguf online-q8.gguf q8_0
expect 0 "gives the same text" -q -m online-q8.gguf "$SOUND"
same whole "$T/out"
finish
