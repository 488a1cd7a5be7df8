# steno: command lines of other programs, and what they print. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

expect 2 "a program has to be named" --compat
err_has "--compat needs the name of a program: funasr, llama-funasr-sensevoice"
expect 2 "an unknown program is refused" --compat other -m x
err_has "unknown program \"other\"; known programs: funasr"
for how in "--compat funasr" --compat=llama-funasr-sensevoice "--compat llama-funasr-paraformer" "--compat llama-funasr-vad"; do
    name=${how##*[ =]}
    # shellcheck disable=SC2086
    for args in "" "-m x" "-a x" "-m x -a" "-m x -a y --no-such" "-m x -a y more" "--help"; do
        expect 1 "a mistake in $name shows its options: $args" $how $args
        err_has "usage: $name -m MODEL -a SOUND"
        err_lines 1
        out_empty
    done
done
for name in encoder embd; do
    expect 1 "llama-funasr-$name is refused by its name" --compat llama-funasr-$name -m x
    err_has "llama-funasr-$name is not served: it shows a stage"
done
expect 1 "an encoder without its language model is refused" --compat llama-funasr-cli --enc x -a y
err_has "usage: llama-funasr-cli --enc ENCODER -m LLM -a SOUND"
expect 1 "another backend is refused" --compat funasr -m x -a y --backend cuda
err_has "--backend cuda cannot be had"
expect 1 "features are refused" --compat funasr -f x -m y
err_has "-f is not served"
expect 1 "an option of another program of FunASR is refused" --compat llama-funasr-paraformer -m x -a y --keep-tags
err_has "usage: llama-funasr-paraformer"
expect 3 "a missing model is reported" --compat funasr -m none.gguf -a y
err_has "none.gguf"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    [ $failures -eq 0 ] || finish
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
S=$F/models/sensevoice/gguf/sensevoice-mini-q8.gguf
P=$F/models/paraformer/gguf/paraformer-mini-f16.gguf

prints() { # prints CLAIM BYTES ARGUMENT...: standard output to the byte, and $notes lines of notes, or none; BYTES as printf writes them
    local claim=$1 bytes=$2
    shift 2
    expect 0 "$claim" "$@"
    err_lines "${notes:-0}"
    # shellcheck disable=SC2059
    printf "$bytes" >want
    cmp -s "$T/out" want || bad "$claim" "$(od -c "$T/out" | head -5)"
}

prints "the text is printed, with the file's form of numbers and a newline" "4 4 2.\n" --compat funasr -m "$S" -a "$F/audio/en_bgm.wav"
prints "--keep-tags prints tags" \
    "<|en|><|NEUTRAL|><|BGM|><|withitn|>4 4 2.\n" --compat funasr --keep-tags -m "$S" -a "$F/audio/en_bgm.wav" --backend cpu
prints "--ids prints ids, a space behind each" \
    "4 12 17 29 373 346 373 346 371 393 \n" --compat funasr -m "$S" --ids -a "$F/audio/en_bgm.wav"
prints "--srt prints a subtitle for the whole, and no other newline" "1\n00:00:00,000 --> 00:00:01,852\n4 4 2.\n\n" \
    --compat funasr -m "$S" --srt -a "$F/audio/en_bgm.wav"
notes=1 prints "silence prints a newline" "\n" --compat funasr -m "$S" -a "$F/audio/silence.wav"
notes=1 prints "silence prints no subtitle" "" --compat funasr -m "$S" --srt -a "$F/audio/silence.wav"
err_has "silence.wav: no speech was found: all samples are 0"
"$STENO" --compat funasr -m "$S" --keep-tags -a "$F/audio/silence.wav" >"$T/out"
out_has "<|withitn|>"
prints "the last of two sounds is transcribed" "4 4 2.\n" --compat funasr -a "$F/audio/zh_synth.wav" -m "$S" -a "$F/audio/en_bgm.wav"
prints "a folder with the setting for words prints words" \
    "four four two\n" --compat funasr -m "$F/models/sensevoice/pt" -a "$F/audio/en_bgm.wav"
prints "a model without tags prints words without spaces" "fourfourtwo\n" --compat funasr -m "$P" -a "$F/audio/en_bgm.wav"
prints "--ids prints ids of a model without tags" "38 38 37 \n" --compat funasr -m "$P" -a "$F/audio/en_bgm.wav" --ids
N=$F/models/nano/gguf
A="--compat llama-funasr-cli --enc $N/funasr-encoder-mini.gguf -m $N/qwen3-mini-f32.gguf -a $F/audio/en_bgm.wav"
# shellcheck disable=SC2086
prints "an encoder and its language model print a text" "4 4 2.\n" $A -n 512 --chunk 15 --rep 1.0
# shellcheck disable=SC2086
prints "--srt prints a subtitle of an encoder and its language model" "1\n00:00:00,000 --> 00:00:01,852\n4 4 2.\n\n" $A --srt
expect 1 "tags of a model that has none are refused" --compat funasr --keep-tags -m "$P" -a "$F/audio/en_bgm.wav"
err_has "--keep-tags is for models with tags"
expect 4 "a missing sound is reported" --compat funasr -m "$S" -a none.wav
err_has "none.wav"

mkdir bin
for name in sensevoice paraformer vad; do ln -s "$STENO" bin/llama-funasr-$name; done
STENO=$PWD/bin/llama-funasr-paraformer
prints "the name of the link selects the program" "fourfourtwo\n" -m "$P" -a "$F/audio/en_bgm.wav"
STENO=$PWD/bin/llama-funasr-vad
prints "llama-funasr-vad prints spans of speech" "770 5980\n" -m "$F/fsmn-vad/gguf/fsmn-vad.gguf" -a "$F/audio/vad/sample.wav"
VAD_MAXSEG=3000
export VAD_MAXSEG
expect 0 "VAD_MAXSEG is accepted" -m "$F/fsmn-vad/gguf/fsmn-vad.gguf" -a "$F/audio/vad/sample.wav"
is "VAD_MAXSEG limits the spans to 3000 ms" "$(tr '\n' ';' <"$T/out")" "770 3780;3780 5980;"
expect 1 "a mistake names the program by the name of the link" -m x
err_has "usage: $STENO -m MODEL -a SOUND"
finish
