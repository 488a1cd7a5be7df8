# steno: Silero VAD, by itself and before every recogniser. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
V=$F/silero/ggml-silero-v6.2.0.bin
S=$F/models/sensevoice/pt
lines() { is "$1" "$(cat "$T/out")" "$2"; }

expect 0 "spans of its own code" vad -m "$V" "$F/audio/vad/jfk.wav"
lines "samples / 16" $'322 2270\n3266 4446\n5378 7678\n8162 10622'
expect 0 "spans of whisper.cpp" vad -m "$V" --vad-rules whisper-cpp "$F/audio/vad/jfk.wav"
lines "32-227 327-441 538-768 816-1062 cs" $'322 2270\n3266 4414\n5378 7678\n8162 10622'
expect 0 "wider margins, longer pauses" vad -m "$V" --vad-speech-pad-ms 100 --vad-min-silence-ms 500 "$F/audio/vad/jfk.wav"
lines "the golden setting" $'252 2340\n3196 4516\n5308 7748\n8092 11000'
expect 0 "a lower border of silence" vad -m "$V" --vad-neg-threshold 0.0001 "$F/audio/vad/jfk.wav"
lines "pauses are speech" "322 11000"
expect 0 "news as they come" vad -m "$V" --streaming --vad-max-speech-s 3 "$F/audio/vad/sample.wav"
out_has "1026 -1"
expect 2 "the other detector's schedule" vad -m "$V" --vad-schedule live "$F/audio/vad/jfk.wav"
err_has "--vad-schedule"
expect 2 "what is no probability" vad -m "$V" --vad-threshold -0.5 "$F/audio/vad/jfk.wav"
err_has "--vad-threshold"
expect 2 "its options for the other detector" vad -m "$F/fsmn-vad/pt" --vad-rules whisper-cpp "$F/audio/vad/jfk.wav"
err_has "--vad-rules"
expect 0 "what it is" info "$V"
out_has "family: silero"

# Before recognisers: at the times of the sound.
silence 5 >silence.wav
{ tail -c +45 silence.wav; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; } >pcm
wav <pcm >apart.wav
expect 0 "a window at a time" -v -m "$MODEL" -l zh --vad silero --vad-model "$V" apart.wav -f tsv
err_has "speech in 2 clips"
[ "$(sed -n 2p "$T/out" | cut -f1)" -ge 9900 ] || bad "what is said after 10 s is told so" "$(cat "$T/out")"
expect 0 "silence" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" silence.wav
out_empty
expect 0 "with a CTC head" -m "$S" --vad silero --vad-model "$V" -f tsv "$F/audio/vad/pauses.wav"
out_has $'1282\t4542\tfive six six five nine'
expect 0 "by integrate-and-fire" -m "$F/models/paraformer/pt" --vad silero --vad-model "$V" -f tsv "$F/audio/vad/pauses.wav"
out_has $'1282\t4542\tfive six six five nine'
expect 0 "a language model that hears" -m "$F/models/nano/pt" --vad silero --vad-model "$V" -f tsv "$F/audio/en_george.wav"
expect 2 "the wrong kind" -m "$S" --vad fsmn --vad-model "$V" silence.wav
err_has "use --vad silero"
mkdir -p beside hub/models--ggml-org--whisper-vad/snapshots/abc hub/models--ggml-org--whisper-vad/refs
ln -sf "$S" beside/model
ln -sf "$V" beside/ggml-silero-v6.2.0.bin
expect 0 "found beside the model, with its options" -m beside/model --vad silero --vad-speech-pad-ms 0 -f tsv "$F/audio/vad/pauses.wav"
err_has "voice activity: beside/ggml-silero-v6.2.0.bin"
out_has $'1312\t4512\tfive'
rm beside/ggml*
cp "$V" hub/models--ggml-org--whisper-vad/snapshots/abc/ggml-silero-v5.1.2.bin
echo abc >hub/models--ggml-org--whisper-vad/refs/main
HF_HUB_CACHE=$PWD/hub expect 0 "found in the hub's cache" -m beside/model --vad silero silence.wav
err_has "snapshots/abc/ggml-silero-v5.1.2.bin"

# Joined to one sound, as whisper.cpp has it.
joined() { expect 0 "$1" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join "${@:2}"; }
joined "speech as one sound, at its own times" --vad-rules whisper-cpp apart.wav -f tsv
[ "$(sed -n 2p "$T/out" | cut -f1)" -ge 9900 ] || bad "what is said after 10 s is told so" "$(cat "$T/out")"
[ "$(tail -n 1 "$T/out" | cut -f2)" -ge 22000 ] || bad "what is said after 22 s is told so" "$(cat "$T/out")"
expect 0 "silence joined" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join silence.wav -f json
is "an object without segments, which says why" "$(cat "$T/out")" '{"text": "", "segments": [], "language": "zh", "notes": '"\
[{\"kind\": \"no-speech\", \"text\": \"no speech was found: all samples are 0\"}]}"
expect 0 "several at a time" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join --batch-size 2 silence.wav apart.wav -f tsv
expect 2 "not for recognisers of spans" -m "$S" --vad silero --vad-model "$V" --vad-join silence.wav
err_has "--vad-join is for Whisper"
expect 2 "an overlap of nothing" -m "$MODEL" --vad silero --vad-model "$V" --vad-samples-overlap 0.2 silence.wav
err_has "needs --vad-join"

# Damaged files: refused by name, at once.
for n in 0 3 7 20 60 105 110 130 1000 885000; do
    head -c "$n" "$V" >cut.bin
    expect 3 "cut after $n bytes" info cut.bin
    err_has "cut.bin"
done
change() { # BYTE VALUE
    cp "$V" changed.bin
    printf "$2" | dd of=changed.bin bs=1 seek="$1" conv=notrunc 2>/dev/null
    expect 3 "byte $1" vad -m changed.bin silence.wav
    err_has "changed.bin"
}
change 4 '\377'
change 31 '\377'
change 38 '\377'
change 42 '\001'
change 90 '\001'
change 106 '\377'
change 110 '\377'
change 114 '\011'
change 118 '\377'
finish
