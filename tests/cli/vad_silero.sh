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

expect 0 "spans by Silero's own code are printed" vad -m "$V" "$F/audio/vad/jfk.wav"
lines "the spans are the golden ones, samples / 16" $'322 2270\n3266 4446\n5378 7678\n8162 10622'
expect 0 "spans by the rules of whisper.cpp are printed" vad -m "$V" --vad-rules whisper-cpp "$F/audio/vad/jfk.wav"
lines "the spans are whisper.cpp's, 32-227 327-441 538-768 816-1062 cs" $'322 2270\n3266 4414\n5378 7678\n8162 10622'
expect 0 "wider margins and longer pauses are accepted" vad -m "$V" --vad-speech-pad-ms 100 --vad-min-silence-ms 500 "$F/audio/vad/jfk.wav"
lines "the spans are those of the golden setting" $'252 2340\n3196 4516\n5308 7748\n8092 11000'
expect 0 "a lower --vad-neg-threshold is accepted" vad -m "$V" --vad-neg-threshold 0.0001 "$F/audio/vad/jfk.wav"
lines "pauses count as speech" "322 11000"
expect 0 "--streaming prints openings" vad -m "$V" --streaming --vad-max-speech-s 3 "$F/audio/vad/sample.wav"
out_has "1026 -1"
expect 2 "FSMN-VAD's schedule is refused" vad -m "$V" --vad-schedule live "$F/audio/vad/jfk.wav"
err_has "--vad-schedule"
expect 2 "a threshold below 0 is refused" vad -m "$V" --vad-threshold -0.5 "$F/audio/vad/jfk.wav"
err_has "--vad-threshold"
expect 2 "Silero's rules are refused for FSMN-VAD" vad -m "$F/fsmn-vad/pt" --vad-rules whisper-cpp "$F/audio/vad/jfk.wav"
err_has "--vad-rules"
expect 0 "info prints the family" info "$V"
out_has "family: silero"

# Before recognisers: the text has the times of the sound.
silence 5 >silence.wav
{ tail -c +45 silence.wav; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; } >pcm
wav <pcm >apart.wav
expect 0 "clips are transcribed one after the other" -v -m "$MODEL" -l zh --vad silero --vad-model "$V" apart.wav -f tsv
err_has "speech in 2 clips"
[ "$(sed -n 2p "$T/out" | cut -f1)" -ge 9900 ] || bad "words after 10 s have times after 9.9 s" "$(cat "$T/out")"
expect 0 "silence has no text" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" silence.wav
out_empty
expect 0 "a model with a CTC head decodes spans of Silero VAD" -m "$S" --vad silero --vad-model "$V" -f tsv "$F/audio/vad/pauses.wav"
out_has $'1282\t4542\tfive six six five nine'
expect 0 "a model with integrate-and-fire decodes spans of Silero VAD" \
    -m "$F/models/paraformer/pt" --vad silero --vad-model "$V" -f tsv "$F/audio/vad/pauses.wav"
out_has $'1282\t4542\tfive six six five nine'
expect 0 "an audio language model decodes spans of Silero VAD" \
    -m "$F/models/nano/pt" --vad silero --vad-model "$V" -f tsv "$F/audio/en_george.wav"
expect 2 "a detector of the wrong kind is refused" -m "$S" --vad fsmn --vad-model "$V" silence.wav
err_has "use --vad silero"
mkdir -p beside hub/models--ggml-org--whisper-vad/snapshots/abc hub/models--ggml-org--whisper-vad/refs
ln -sf "$S" beside/model
ln -sf "$V" beside/ggml-silero-v6.2.0.bin
expect 0 "a detector beside the model is found and takes its options" \
    -m beside/model --vad silero --vad-speech-pad-ms 0 -f tsv "$F/audio/vad/pauses.wav"
err_has "voice activity: beside/ggml-silero-v6.2.0.bin"
out_has $'1312\t4512\tfive'
rm beside/ggml*
cp "$V" hub/models--ggml-org--whisper-vad/snapshots/abc/ggml-silero-v5.1.2.bin
echo abc >hub/models--ggml-org--whisper-vad/refs/main
HF_HUB_CACHE=$PWD/hub expect 0 "a detector in the hub's cache is found" -m beside/model --vad silero silence.wav
err_has "snapshots/abc/ggml-silero-v5.1.2.bin"

# Speech is joined to one sound, as in whisper.cpp.
joined() { expect 0 "$1" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join "${@:2}"; }
joined "joined speech keeps its own times" --vad-rules whisper-cpp apart.wav -f tsv
[ "$(sed -n 2p "$T/out" | cut -f1)" -ge 9900 ] || bad "joined words after 10 s have times after 9.9 s" "$(cat "$T/out")"
[ "$(tail -n 1 "$T/out" | cut -f2)" -ge 22000 ] || bad "joined words after 22 s have times after 22 s" "$(cat "$T/out")"
expect 0 "joined silence is accepted" -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join silence.wav -f json
is "an object of joined silence has no segments, and a note with the reason" \
    "$(cat "$T/out")" '{"text": "", "segments": [], "language": "zh", "notes": '"\
[{\"kind\": \"no-speech\", \"text\": \"no speech was found: all samples are 0\"}]}"
expect 0 "--vad-join is accepted in a batch" \
    -q -m "$MODEL" -l zh --vad silero --vad-model "$V" --vad-join --batch-size 2 silence.wav apart.wav -f tsv
expect 2 "--vad-join is refused for a model with a CTC head" -m "$S" --vad silero --vad-model "$V" --vad-join silence.wav
err_has "--vad-join is for Whisper"
expect 2 "an overlap without --vad-join is refused" -m "$MODEL" --vad silero --vad-model "$V" --vad-samples-overlap 0.2 silence.wav
err_has "needs --vad-join"

# Damaged files: refused by name, at once.
for n in 0 3 7 20 60 105 110 130 1000 885000; do
    head -c "$n" "$V" >cut.bin
    expect 3 "a file that is cut after $n bytes is refused" info cut.bin
    err_has "cut.bin"
done
change() { # BYTE VALUE
    cp "$V" changed.bin
    printf "$2" | dd of=changed.bin bs=1 seek="$1" conv=notrunc 2>/dev/null
    expect 3 "a file with a changed byte $1 is refused" vad -m changed.bin silence.wav
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
