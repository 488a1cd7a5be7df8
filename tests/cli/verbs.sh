# steno: info, detect, doctor, bench. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 0 "info prints keys and values" info "$MODEL"
for line in "family: whisper" "weights: " "n_audio_ctx: 1500" "n_vocab: 51865" "multilingual: yes" "languages: en zh de es"; do
    out_has "$line"
done
grep -vqE '^[a-z_]+: ' "$T/out" && bad "every line is key: value" "$(cat "$T/out")"
grep -q '^kv_bytes: [1-9]' "$T/out" || bad "info prints the size of keys and values" "$(cat "$T/out")"
expect 0 "info reads a language model" info "$SRC/tests/data/lm/qwen3-q4_0.gguf"
kv() { sed -n "s/^$1: //p" "$T/out"; }
is "keys and values of all layers are the sum of the layers" "$(kv kv_bytes)" "$(($(kv kv_bytes_per_layer) * $(kv n_text_layer)))"
expect 0 "info reads a transducer" info "$SRC/tests/data/fuzz/nemo/tdt"
for line in "format: NeMo" "family: parakeet" "name: tdt" "decoder_types: tdt" "durations: 0 1 3" \
    "attention_before: 4" "attention_after: 2"; do
    grep -qxF "$line" "$T/out" || bad "info prints $line" "$(cat "$T/out")"
done
tdt=$SRC/tests/data/fuzz/nemo/tdt
for verb in "" info stream; do
    sound=$DIGITS
    [ "$verb" = info ] && sound=
    expect 2 "\"steno $verb\" refuses a head that the model does not have" $verb -m "$tdt" --decoder-type ctc $sound
    err_has "--decoder-type is ctc, and $tdt decodes with tdt only: leave it out"
    expect 2 "\"steno $verb\" refuses a head of a model without any" $verb -m "$MODEL" --decoder-type ctc $sound
    err_has "--decoder-type is for models with a transducer, a CTC head, or both (Parakeet); this whisper model does not serve it"
done
expect 0 "info --json prints one object" info --json "$MODEL"
out_has '"family": "whisper"'
is "info --json prints one line" "$(wc -l <"$T/out")" 1
expect 0 "info --plan prints the commands" info --plan "$MODEL"
[ "$(wc -l <"$T/out")" -gt 40 ] || bad "the plan has many lines" "$(wc -l <"$T/out")"

expect 0 "detect prints codes and probabilities, most likely first" detect -q -m "$MODEL" "$DIGITS"
is "the first language is Chinese" "$(head -1 "$T/out" | cut -d' ' -f1)" zh
is "detect prints five languages" "$(wc -l <"$T/out")" 5
sort -c -k2,2gr "$T/out" 2>/dev/null || bad "the probabilities fall" "$(cat "$T/out")"
expect 0 "detect -n 2 is accepted" detect -q -n 2 -m "$MODEL" "$DIGITS"
is "detect -n 2 prints two languages" "$(wc -l <"$T/out")" 2
expect 4 "detect reports a missing file" detect -q -m "$MODEL" none.wav
err_lines 1

nan=${STENO_SHARED:-/none}/material/repro/detect_nan.bin
if [ -r "$nan" ]; then
    for how in detect "detect --json" "" "-f jsonl"; do
        expect 3 "damaged weights are reported by \"steno $how\"" $how -q -m "$nan" "$DIGITS"
        err_has "its weights are damaged"
        ! grep -qiE '\b(nan|inf|infinity)\b' "$T/out" || bad "no output has a NaN" "$(cat "$T/out")"
    done
    for f in json jsonl verbose_json; do
        expect 3 "damaged weights are reported with -f $f" -q -l en -f $f -m "$nan" "$DIGITS"
        [ $f = jsonl ] || out_empty
    done
fi

STENO_MODEL=$MODEL expect 0 "doctor finds nothing wrong" doctor
for line in "level c: usable" "threads: " "problems: none" "steno: "; do out_has "$line"; done
out_has "default model: $MODEL"
STENO_MODEL=$T/none.bin expect 1 "doctor reports a missing default model" doctor
out_has "problem: default model"
STENO_MODEL=$MODEL TMPDIR=$T/none expect 1 "doctor reports a missing temporary folder" doctor
out_has "problem: temporary folder"
STENO_MODEL=$MODEL expect 0 "doctor --json prints one object" doctor --json
out_has '"problems": []'

for line in "level used: " "cgroup: " "caches: " "memory: " "memory limit: " "huge pages: " "library libz: " "decoding: " \
    "model folders: $HOME/.cache/steno"; do
    STENO_MODEL=$MODEL expect 0 "doctor prints ${line%%: *}" doctor
    out_has "$line"
done
STENO_MODEL=$MODEL expect 0 "doctor MODEL opens the model" doctor "$MODEL"
for line in "file: $MODEL" "format: whisper.cpp .bin" "family: whisper" "status: opens" "problems: none"; do out_has "$line"; done
head -c 100000 "$MODEL" >cut.bin
expect 3 "doctor MODEL prints the fault, its place and advice" doctor cut.bin
for line in "format: whisper.cpp .bin" "size: 100000 bytes" "status: damaged file" "place: " "cause: " "advice: " "problem: cut.bin: "; do
    out_has "$line"
done
err_lines 0
echo '<html>' >page.bin
expect 3 "doctor MODEL recognizes a web page" doctor page.bin
out_has "format: a web page"
expect 3 "doctor MODEL reports a missing file" doctor none.bin
out_has "format: missing"
expect 3 "doctor --json MODEL prints one object" doctor --json cut.bin
out_has '"status": "damaged file"'
is "doctor --json MODEL prints one line" "$(wc -l <"$T/out")" 1
if [ -d "${STENO_SHARED:-/none}/material/bad" ]; then
    for m in "${STENO_SHARED:-/none}"/material/bad/{whisper,gguf,safetensors,torch}/*; do
        expect 3 "doctor explains $(basename "$m")" doctor "$m"
        out_has "cause: "
    done
fi

expect 0 "bench --json has a median, a least and a most per phase" bench -q -m "$MODEL" --runs 2 --json
for key in load_ms mel_ms encode_ms cross_ms prompt_ms_per_token decode_ms_per_token beam5_ms_per_step batch8_ms_per_step total_ms; do
    grep -qE "\"$key\": \{\"median\": [0-9.]+, \"min\": [0-9.]+, \"max\": [0-9.]+\}" "$T/out" || bad "bench prints $key" "$(cat "$T/out")"
done
for key in machine shape type threads peak_rss_bytes; do out_has "\"$key\": "; done
expect 0 "bench times a punctuation model" bench -q -m "$SRC/tests/data/punctuation_streaming" --runs 1 -f tsv
for key in mark20 mark200; do grep -qE "$key.ms.[0-9.]+" "$T/out" || bad "bench prints $key" "$(cat "$T/out")"; done
expect 2 "bench refuses an unknown shape" bench --shape enormous
err_has "enormous"
err_lines 1
expect 2 "bench refuses an unknown type" bench --shape tiny --type f12
finish
