# steno: streams of a model that decodes chunk by chunk. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 2 "--chunk-size is refused for models without chunks" -q -m "$MODEL" --chunk-size 0,8,4 "$DIGITS"
err_has "--chunk-size"
expect 2 "--encoder-chunk-look-back is refused for models without chunks" -q -m "$MODEL" --encoder-chunk-look-back 2 "$DIGITS"
err_has "--encoder-chunk-look-back"
expect 2 "--decoder-chunk-look-back is refused for models without chunks" -q -m "$MODEL" --decoder-chunk-look-back 2 "$DIGITS"
err_has "--decoder-chunk-look-back"

M=${STENO_SHARED:-/none}/material
N=$M/nemotron/nemotron-tiny.nemo
if [ -f "$N" ]; then
    V="--vad silero --vad-model $M/funasr/silero/ggml-silero-v6.2.0.bin"
    expect 0 "--vad makes each span of speech a stream" -q -m "$N" $V -f json "$DIGITS"
    out_has '"text"'
    for option in "--vad-threshold 0.3" "--vad-merge-s 1" "--vad-max-speech-s 5"; do
        expect 2 "$option needs voice activity" -q -m "$N" $option "$DIGITS"
        err_has "${option% *} needs --vad"
    done
    expect 2 "--clip-timestamps is refused for a transducer of streams" -q -m "$N" --clip-timestamps 0,1 "$DIGITS"
    err_has "cuts audio into clips, and this model decodes a file"
    expect 1 "an input of two fails" -q -m "$N" --resume -o parts -f json "$DIGITS" third.wav
    cp parts/zh_phrases.json first.json
    touch -d '2001-01-01' parts/zh_phrases.json
    cp "$DIGITS" third.wav
    expect 0 "--resume skips the finished input and transcribes the other" -m "$N" --resume -o parts -f json "$DIGITS" third.wav
    err_has "1 of 2 inputs were finished before"
    same parts/zh_phrases.json first.json
    is "the result of the finished input was not written again" "$(date -r parts/zh_phrases.json +%Y)" 2001
    [ -s parts/third.json ] || bad "the other input has a result" "$(ls parts)"
    expect 2 "--beam-size is refused for it, with the reason" -q -m "$N" --beam-size 4 "$DIGITS"
    err_has "--beam-size is for searches that end with their clip"
    expect 0 "--hotwords change its text" -q -m "$N" --hotwords "seven two" --hotwords-boost 20 "$DIGITS"
    out_has "seven two"
    cp "$T/out" whole
    expect 0 "--hotwords act in stream, too" stream -q -m "$N" --hotwords "seven two" --hotwords-boost 20 --lookahead 3 "$DIGITS"
    out_has "seven two"
    silence 3 >silence.wav
    expect 0 "text of silence is left out of a stream" stream -q -m "$N" -f txt silence.wav
    out_empty
    expect 0 "--guards off prints it" stream -q -m "$N" -f txt --guards off silence.wav
    [ -s "$T/out" ] || bad "--guards off prints it" "nothing"
fi

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

expect 0 "info prints the family" info -m online
out_has "family: paraformer-live"
expect 0 "a recording is transcribed chunk by chunk" -q -m online "$SOUND"
is "the text is complete" "$(tr -d '\n' <"$T/out")" 七零五五九四
cp "$T/out" whole
expect 2 "a chunk of no rows is refused" -q -m online --chunk-size 0,0,5 "$SOUND"
err_has "--chunk-size"
expect 2 "chunks with too many rows to look back on are refused" -q -m online --chunk-size 0,120,5 --encoder-chunk-look-back 9 "$SOUND"
err_has "--encoder-chunk-look-back"
expect 0 "larger chunks are accepted" -q -m online --chunk-size 0,20,10 --encoder-chunk-look-back -1 "$SOUND"
cmp -s "$T/out" whole && bad "larger chunks give other segments" "they are the same"

# Text is printed while the pipe is open.
mkfifo pipe
"$STENO" -q -m online - <pipe >live 2>"$T/err" &
pid=$!
exec 5>pipe
head -c 60044 "$SOUND" >&5 # 1.9 s: three chunks
for _ in $(seq 300); do
    [ -s live ] && break
    sleep 0.1
done
is "the first words are printed before the audio ends" "$(tr -d '\n' <live)" 七零
tail -c +60045 "$SOUND" >&5
exec 5>&-
wait $pid
is "the pipe is transcribed" $? 0
same whole live

IN=$SOUND
expect 0 "standard input from a file is transcribed" -q -m online -
same whole "$T/out"
"$STENO" -q -m online - < <(cat "$F/audio/en_lucas.wav") >"$T/out" 2>"$T/err"
is "a pipe of another file is transcribed" "$(tr '\n' ' ' <"$T/out")" "nine zero six five five "
head -c 20000 /dev/urandom | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "a pipe of noise is refused" $? 4
true | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "an empty pipe is refused" $? 4
head -c 44 "$SOUND" | "$STENO" -q -m online - >"$T/out" 2>"$T/err"
is "a pipe that ends behind its header is accepted" $? 0
out_empty
IN=/dev/null

expect 0 "stream prints final words" stream -q -m online "$SOUND"
lines() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "$T/out"; }
is "the final words are the turn's text" "$(lines final | tr -d '\n')" "$(lines endpoint)"
is "the turn's text is that of the recording" "$(printf "$(lines endpoint)")" "$(tr -d '\n' <whole)"
expect 0 "stream accepts larger chunks" stream -q -m online --chunk-size 0,20,10 "$SOUND"
[ "$(lines final | wc -l)" -lt 6 ] || bad "larger chunks give fewer final lines" "$(lines final)"
expect 2 "--step is refused for the model" stream -q -m online --step 2 "$SOUND"
err_has "--step is not for this model"
expect 2 "--max-turn is refused for the model" stream -q -m online --max-turn 9 "$SOUND"
err_has "--max-turn is not for this model"

expect 0 "convert writes the model as one file" convert -q online online.gguf
expect 0 "the one file is transcribed chunk by chunk" -q -m online.gguf "$SOUND"
same whole "$T/out"
expect 0 "quantize writes the model with fewer bits" quantize -q online.gguf online-q8.gguf q8_0
expect 0 "the model with fewer bits is transcribed" -q -m online-q8.gguf "$SOUND"
same whole "$T/out"
finish
