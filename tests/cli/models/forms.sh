# steno: every form of a FunASR model has the same results with every verb. SPDX-License-Identifier: MIT
#
# Forms: the folder, its safetensors, the files of FunASR's runtime in every type (those of SenseVoice as they are published: without the
# scale of the features, the rows that ask in f16), and the files of convert and quantize. Values that rounding may change - times, numbers
# behind a text - is compared among forms that are not rounded.
. "$(dirname "$0")/../lib.sh"
F=${STENO_SHARED:-/none}/material/funasr
[ -d "$F" ] || { echo "skipped: STENO_SHARED does not name the FunASR collection"; exit 77; }
M=$F/models
clips=("$F"/audio/{en_george,en_bgm,zh_synth,zh_synth_long,ja_synth,silence}.wav)

tensors() { # tensors FOLDER NAME: its safetensors with what lies in the original folder
    mkdir "$2"
    ln -s "$1"/safetensors/* "$2"
    for file in am.mvn tokens.json; do [ ! -e "$1/pt/$file" ] || ln -s "$1/pt/$file" "$2/$file"; done
}
tensors "$M/sensevoice" sense-st
tensors "$M/paraformer" para-st
tensors "$M/paraformer-bicif" bicif-st
tensors "$F/fsmn-vad" vad-st

# forms NAME FOLDER WHOLE... -- ROUNDED...: the folder and its forms have the same results
forms() {
    local name=$1 folder=$2 form rounded=0 family
    shift 2
    echo "== $name"
    expect 0 "$name: info reads the folder" info "$folder"
    family=$(grep '^family: ' "$T/out")
    for format in txt json funasr; do
        expect 0 "$name: the folder is transcribed as $format" -q -m "$folder" -f $format --word-timestamps "${clips[@]}"
        cp "$T/out" want.$format
    done
    expect 0 "$name: --compat funasr reads the folder" --compat funasr -m "$folder" -a "${clips[0]}"
    cp "$T/out" want.compat
    expect 0 "$name: convert writes the folder as one file" convert -q "$folder" "$name.gguf"
    expect 0 "$name: quantize writes the folder as q8_0" quantize -q "$folder" "$name-q8.gguf" q8_0
    expect 0 "$name: quantize writes the file as f16" quantize -q "$name.gguf" "$name-f16.gguf" f16
    for form in "$name.gguf" "$@" "$name-q8.gguf" "$name-f16.gguf"; do
        [ "$form" != -- ] || { rounded=1 && continue; }
        expect 0 "$name: info reads $(basename "$form")" info "$form"
        is "$form has the same family" "$(grep '^family: ' "$T/out")" "$family"
        for format in $([ $rounded = 1 ] && echo txt || echo json funasr); do
            expect 0 "$name: $(basename "$form") is transcribed as $format" -q -m "$form" -f $format --word-timestamps "${clips[@]}"
            same "$T/out" want.$format
        done
        [ $rounded = 0 ] || continue
        if [ -d "$form" ]; then # files ask for digits and punctuation, and have their tensors in the folder's order
            expect 0 "$name: --compat funasr reads $form" --compat funasr -m "$form" -a "${clips[0]}"
            same "$T/out" want.compat
            continue
        fi
        expect 0 "$name: convert writes $(basename "$form") as one file" convert -q "$form" again.gguf
        same again.gguf "$name.gguf"
        expect 0 "$name: quantize writes $(basename "$form") as q8_0" quantize -q "$form" again.gguf q8_0
        same again.gguf "$name-q8.gguf"
    done
}
S=$M/sensevoice/gguf/sensevoice-mini
forms sense "$M/sensevoice/pt" sense-st $S.gguf -- $S-f16.gguf $S-q8.gguf $S-truecmvn.gguf
P=$M/paraformer/gguf/paraformer-mini
forms para "$M/paraformer/pt" para-st $P.gguf -- $P-f16.gguf $P-q8.gguf
B=$M/paraformer-bicif/gguf/paraformer-bicif-mini
forms bicif bicif-st -- $B-f16.gguf $B-q8.gguf

echo "== voice activity"
sounds=(sample pauses speech_in_noise silence5s)
for sound in "${sounds[@]}"; do
    expect 0 "vad reads $sound" vad -q -m "$F/fsmn-vad/pt" "$F/audio/vad/$sound.wav"
    cp "$T/out" "want.$sound"
done
expect 0 "convert writes the VAD's folder as one file" convert -q "$F/fsmn-vad/pt" vad.gguf
for form in vad-st "$F/fsmn-vad/gguf/fsmn-vad.gguf" vad.gguf; do
    for sound in "${sounds[@]}"; do
        expect 0 "vad reads $sound with $(basename "$form")" vad -q -m "$form" "$F/audio/vad/$sound.wav"
        cmp -s "$T/out" "want.$sound" || bad "$sound has the spans of the folder" "$(cat "$T/out")"
    done
    [ ! -d "$form" ] || continue
    expect 0 "convert writes $(basename "$form") as one file" convert -q "$form" again.gguf
    same again.gguf vad.gguf
done
for verb in detect "align x" "-l de"; do
    for form in "$M/sensevoice/pt" $S-q8.gguf "$M/paraformer/pt" $P-q8.gguf; do
        # shellcheck disable=SC2086
        expect 2 "$verb is refused by $(basename "$form")" ${verb% x} -m "$form" "${clips[0]}" ${verb#"${verb% x}"}
        err_lines 1
    done
done
finish
