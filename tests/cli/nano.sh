# steno: Fun-ASR-Nano from the command line. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

S=${STENO_SHARED:-/none}/material/funasr
[ -r "$S/README.md" ] || { echo "skipped: STENO_SHARED does not name the FunASR collection"; exit 77; }
NANO=$S/models/nano
ENCODER=$NANO/gguf/funasr-encoder-mini.gguf LLM=$NANO/gguf/qwen3-mini-f32.gguf
A=$S/audio

# Every form of its files has the same text.
args="-q --compute f32"
expect 0 "a folder is read" $args -m "$NANO/pt" "$A/zh_synth.wav" "$A/en_george.wav"
cp "$T/out" plain
expect 0 "an encoder and its language model are read" $args -m "$ENCODER" --llm "$LLM" "$A/zh_synth.wav" "$A/en_george.wav"
same "$T/out" plain
expect 0 "convert writes one file" convert -q "$NANO/pt" one.gguf
expect 0 "the one file is read" $args -m one.gguf "$A/zh_synth.wav" "$A/en_george.wav"
same "$T/out" plain
cp "$ENCODER" "$LLM" .
expect 0 "an encoder finds the language model beside it" $args -m "$(basename "$ENCODER")" "$A/zh_synth.wav" "$A/en_george.wav"
same "$T/out" plain

# Files that are decoded together have the result that each has alone. The same holds for windows and spans of speech.
files=("$A/zh_synth.wav" "$A/en_george.wav" "$A/zh_synth_long.wav" "$A/ja_synth.wav")
[ -r "${files[3]}" ] || files=("$A"/*.wav)
for more in "" "--chunk-length 1" "--vad fsmn --vad-model $S/fsmn-vad/pt" "--guards retry --repetition-penalty 0.05 --chunk-length 1"; do
    : >alone
    for f in "${files[@]}"; do
        expect 0 "a file alone is decoded: $more" -q -f json -m "$NANO/pt" $more "$f"
        cat "$T/out" >>alone
    done
    for b in 1 3 8; do
        expect 0 "files together are decoded, -b $b: $more" -q -f json -m "$NANO/pt" $more -b $b "${files[@]}"
        same "$T/out" alone
    done
done

# A loop has a flag, and --guards retry decodes it again.
expect 0 "a loop is decoded" -q -f json -m "$NANO/pt" --repetition-penalty 0.05 --sample-length 60 "$A/zh_synth.wav"
out_has '"flags": ["repetition"'
expect 0 "--guards retry decodes a loop again" -q -f json -m "$NANO/pt" --repetition-penalty 0.05 --guards retry "$A/zh_synth.wav"
out_has '"flags": ["retried"]'

# Options that the model does not serve are refused by name, with advice.
refused() { # refused MESSAGE ARGUMENT...
    local message=$1
    shift
    expect 2 "$* is refused" -q -m "$NANO/pt" "$@" "$A/zh_synth.wav"
    err_has "$message"
}
for o in "--beam-size 3" "--temperature 0.4" "--initial-prompt one" "--clip-timestamps 0,1" "--grammar root::=[a]" "--keep-tags" \
    "--without-timestamps" "--suppress-tokens 5" "--audio-ctx 40" "--best-of 5" "--verify" "--task translate" "--max-len 4"; do
    refused "${o%% *} is for" $o
done
refused "--temperature is for encoder-decoder models; this nano model does not serve it" --temperature 0.4
refused "--task is for multilingual encoder-decoder models" --task translate
refused "--beam-size is for encoder-decoder models, and for those with a CTC head or a transducer" --beam-size 3
refused "--vocab is for models whose vocabulary may lie elsewhere" --vocab "$NANO/pt"
refused "--max-len is for models with word times" --max-len 4
refused "--no-cmvn is for models whose filter banks are shifted and scaled" --no-cmvn
refused "--word-timestamps is for models with word times" --word-timestamps
refused "--compression-ratio-threshold judges attempts: it needs --guards" --guards off --compression-ratio-threshold 2
refused "-l 'xx' is not one that the model is asked for by name" -l xx
refused "a window of this model is 15000 ms long" --chunk-length 20

refused "--llm is for the encoder's file of two" --llm "$LLM"
expect 2 "--llm is refused for a file with its own language model" -q -m one.gguf --llm "$LLM" "$A/zh_synth.wav"
err_has "one.gguf has its own language model: leave it out"

# Pairs of files that are not a model.
wrong() { # wrong MESSAGE ARGUMENT...
    local message=$1
    shift
    "$STENO" -q "$@" "$A/zh_synth.wav" >"$T/out" 2>"$T/err" && bad "$*" "it is accepted"
    err_has "$message"
}
mkdir empty && cp "$ENCODER" empty/e.gguf
wrong "its language model is missing" -m empty/e.gguf
wrong "want a GGUF file of the architecture qwen3" -m "$ENCODER" --llm "$ENCODER"
wrong "no/such.gguf" -m "$ENCODER" --llm no/such.gguf
head -c 3000 "$LLM" >cut.gguf
wrong "cut.gguf" -m "$ENCODER" --llm cut.gguf
wrong "is for audio language models" -m "$MODEL" --llm "$LLM"
finish
