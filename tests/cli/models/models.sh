# steno: the choice of a model, and messages about bad ones. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

expect 3 "a missing model exits 3" -m none.bin "$DIGITS"
err_has "none.bin"
err_lines 1
out_empty

: >empty.bin
head -c 100000 "$MODEL" >cut.bin
head -c 1000 /dev/zero >zeros.bin
mkdir folder.bin
for m in empty cut zeros folder; do
    expect 3 "a model that is $m exits 3 with one line that names it" -m $m.bin "$DIGITS"
    err_has "steno: $m.bin: "
    err_lines 1
    expect 3 "info reports a model that is $m" info $m.bin
    err_has "steno: $m.bin: "
    out_empty
done

mkdir empty_folder
expect 3 "a folder without a model exits 3" -m empty_folder "$DIGITS"
err_has "empty_folder: the folder holds no model"
expect 3 "a folder that is not there exits 3" -m no_folder/ "$DIGITS"
err_has "no such file or folder"
expect 0 "info names the format" info "$MODEL"
out_has "format: whisper.cpp .bin"
out_has "vocabulary: with the model"

expect 3 "without any model there is advice" "$DIGITS"
err_has "no model was found"
err_has "steno --demo FILE"
err_lines 1

STENO_MODEL=$MODEL expect 0 "STENO_MODEL is used and named" "$DIGITS"
err_has "(from STENO_MODEL)"
STENO_MODEL=$MODEL expect 3 "-m goes before STENO_MODEL" -m none.bin "$DIGITS"
STENO_MODEL=none.bin expect 3 "a STENO_MODEL that is missing is reported" "$DIGITS"
STENO_MODEL=$MODEL expect 0 "-q keeps notes away" -q "$DIGITS"
err_lines 0

mkdir -p "$HOME/.cache/whisper.cpp" models
cp "$MODEL" "$HOME/.cache/whisper.cpp/ggml-tiny.bin"
expect 0 "a model in a cache is found and named" "$DIGITS"
err_has "model: $HOME/.cache/whisper.cpp/ggml-tiny.bin"
expect 0 "a name finds a file in a cache" -m tiny "$DIGITS"
expect 0 "a file name finds a file in a cache" -m ggml-tiny.bin "$DIGITS"
expect 3 "an unknown name suggests one" -m tinny "$DIGITS"
err_has "did you mean $HOME/.cache/whisper.cpp/ggml-tiny.bin?"
cp "$MODEL" models/notes.bin
truncate -s 50M models/notes.bin
printf ggml >models/ggml-small.bin
head -c 2000000 "$MODEL" >models/ggml-broken.bin
truncate -s 40M models/ggml-broken.bin
truncate -s 60M models/ggml-other.bin
expect 0 "a larger file that does not open is reported and ignored" "$DIGITS"
err_has "ggml-broken.bin"
err_has "the best local model that fits memory and keeps up with speech; -m selects another"
err_lacks "notes.bin"
err_lacks "ggml-other.bin"
# The choice among several models depends on one measurement alone.
speeds=$HOME/.cache/steno/speed.tsv
[ "$(wc -l <"$speeds")" = 1 ] || bad "the machine's speed is kept" "$(cat "$speeds")"
cp "$MODEL" models/ggml-large-v3.bin
rm models/ggml-broken.bin models/notes.bin models/ggml-other.bin models/ggml-small.bin
for figures in "100000 1000 ggml-large-v3.bin" "2 8 ggml-tiny.bin" "100000 1 ggml-tiny.bin"; do
    set -- $figures
    printf '%s\t%s\t%s\n' "$(cut -f 1 "$speeds")" "$1" "$2" >faked
    cp faked "$speeds"
    expect 0 "with figures $1 and $2 it is $3" "$DIGITS"
    err_has "$3 (the best local model that fits memory and keeps up with speech"
    same faked "$speeds"
done
expect 0 "another number of threads is another machine" -t 1 "$DIGITS"
[ "$(wc -l <"$speeds")" = 2 ] || bad "the speed of another number of threads is kept" "$(cat "$speeds")"
echo "nonsense" >"$speeds"
expect 0 "a damaged file of speeds is replaced" "$DIGITS"
[ "$(wc -l <"$speeds")" = 2 ] || bad "the replaced file has both speeds" "$(cat "$speeds")"
rm "$speeds"
chmod a-w "$HOME/.cache/steno" 2>/dev/null
expect 0 "a run without a writable cache uses estimates" "$DIGITS"
chmod u+w "$HOME/.cache/steno"
rm -r models
mkdir "$T/xdg" "$T/xdg/steno"
cp "$MODEL" "$T/xdg/steno/mine.bin"
XDG_CACHE_HOME=$T/xdg expect 0 "XDG_CACHE_HOME moves the caches" -m mine "$DIGITS"

WHISPER=${STENO_SHARED:-/none}/material/whisper-digits
if [ -d "$WHISPER" ]; then
    pt=$WHISPER/whisper-digits.pt
    mv "$HOME/.cache" "$HOME/cache"
    HERE_STENO=$STENO
    mkdir -p "$T/alone"
    cp "$STENO" "$T/alone/steno" # where no built-in model is found
    STENO=$T/alone/steno
    ln -s "$pt" "$T/work/alone.pt"
    expect 3 "the message about a model without a vocabulary names --vocab" -m alone.pt "$DIGITS"
    err_has "alone.pt: the model has no vocabulary"
    err_has "--vocab"
    err_lines 1
    for v in "$MODEL" "$WHISPER/hf" "$WHISPER/hf/tokenizer.json" "$WHISPER/hf/vocab.json"; do
        expect 0 "--vocab takes $(basename "$v")" -m alone.pt --vocab "$v" "$DIGITS"
        err_lines 0
        cp "$T/out" "from_$(basename "$v")"
        same from_whisper-digits.bin "$T/out"
    done
    expect 3 "a vocabulary that is missing exits 3" -m alone.pt --vocab none.json "$DIGITS"
    err_has "none.json"
    err_lines 1
    expect 3 "a file that is no vocabulary exits 3" -m alone.pt --vocab "$DIGITS" "$DIGITS"
    err_lines 1
    mkdir -p "$HOME/.cache/whisper.cpp"
    cp "$SRC/tests/data/base.bin" "$HOME/.cache/whisper.cpp/ggml-small.bin"
    cp "$MODEL" "$HOME/.cache/whisper.cpp/ggml-tiny.bin"
    expect 0 "a vocabulary that does not fit is ignored" -m alone.pt "$DIGITS"
    err_has "vocabulary: $HOME/.cache/whisper.cpp/ggml-tiny.bin"
    same from_whisper-digits.bin "$T/out"
    rm "$HOME/.cache/whisper.cpp/ggml-tiny.bin"
    expect 3 "the message names --vocab where no vocabulary fits" -m alone.pt "$DIGITS"
    err_has "alone.pt: the model has no vocabulary, and none on this machine fits; give one with --vocab"
    err_has "openai-whisper's package has it as whisper/assets/multilingual.tiktoken: put that beside the model"
    err_lines 1
    rm -r "$HOME/.cache"
    # ---- vocabularies alone, in their usual places
    if type -P python3 >/dev/null; then
        python3 - "$WHISPER/hf/vocab.json" >words.tiktoken <<'END'
import base64, json, sys
plain = [*range(33, 127), *range(161, 173), *range(174, 256)] # GPT-2's letters for bytes
byte = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)}
for word, rank in sorted(json.load(open(sys.argv[1])).items(), key=lambda w: w[1]):
    if rank < 50257 and all(c in byte for c in word): print(base64.b64encode(bytes(byte[c] for c in word)).decode(), rank)
END
        found_in() { # found_in CLAIM PATH [FILE]: the vocabulary at PATH is used and reported
            mkdir -p "$(dirname "$2")"
            cp "${3-words.tiktoken}" "$2"
            expect 0 "a vocabulary $1 is found" -m alone.pt "$DIGITS"
            err_has "vocabulary: $2 (the model has none"
            same from_whisper-digits.bin "$T/out"
            rm "$2"
        }
        found_in "in openai-whisper's folder" "$HOME/.cache/whisper/multilingual.tiktoken"
        found_in "in the package of a user" "$HOME/.local/lib/python3.11/site-packages/whisper/assets/multilingual.tiktoken"
        found_in "in a package of pipx" "$HOME/.local/share/pipx/venvs/w/lib/python3.9/site-packages/whisper/assets/multilingual.tiktoken"
        export VIRTUAL_ENV="$T/e[n]v*"
        found_in "in an environment of an odd name" "$VIRTUAL_ENV/lib/python3.12/site-packages/whisper/assets/multilingual.tiktoken"
        unset VIRTUAL_ENV
        hf=$HOME/.cache/huggingface/hub/models--openai--whisper-tiny
        mkdir -p "$hf/refs"
        printf 1234 >"$hf/refs/main"
        found_in "in Hugging Face's cache" "$hf/snapshots/1234/vocab.json" "$WHISPER/hf/vocab.json"
        mkdir -p "$HOME/.cache/whisper/multilingual.tiktoken" # a folder is no vocabulary, a damaged file is no vocabulary
        echo "x y" >"$HOME/.cache/whisper/gpt2.tiktoken"
        expect 3 "a file that is not a vocabulary is ignored" -m alone.pt "$DIGITS"
        err_has "none on this machine fits"
        err_lines 1
        rm -r "$HOME/.cache" "$HOME/.local"
    fi
    mkdir beside
    ln -s "$pt" beside/any.pt
    cp "$WHISPER"/hf/tokenizer.json beside/
    expect 0 "a vocabulary beside the model is used" -m beside/any.pt "$DIGITS"
    err_lines 0
    same from_whisper-digits.bin "$T/out"
    mv "$HOME/cache" "$HOME/.cache"
    expect 0 "a vocabulary in the caches is used and reported" -m alone.pt "$DIGITS"
    err_has "vocabulary: $HOME/.cache/whisper.cpp/ggml-tiny.bin"
    same from_whisper-digits.bin "$T/out"
    expect 0 "-q prints no note about a vocabulary" -q -m alone.pt "$DIGITS"
    err_lines 0
    expect 0 "info names format and vocabulary" info alone.pt
    out_has "format: PyTorch .pt"
    out_has "vocabulary: $HOME/.cache/whisper.cpp/ggml-tiny.bin"
    expect 0 "info names the vocabulary that was given" info alone.pt --vocab "$WHISPER/hf"
    out_has "vocabulary: $WHISPER/hf"

    mkdir -p "$HOME/.cache/whisper"
    ln -s "$pt" "$HOME/.cache/whisper/base.pt"
    expect 0 "a name finds a .pt in a cache" -m base "$DIGITS"
    rm -r "$HOME/.cache/whisper.cpp"
    hub=$HOME/.cache/huggingface/hub/models--openai--whisper-digits
    mkdir -p "$hub/snapshots/0123" "$hub/refs"
    ln -s "$WHISPER/hf" "$hub/snapshots/4567"
    printf 4567 >"$hub/refs/main"
    expect 0 "a vocabulary in Hugging Face's cache is used" -m base "$DIGITS"
    err_has "vocabulary: $hub/snapshots/4567"
    for name in openai/whisper-digits whisper-digits digits; do
        expect 0 "the name $name finds a snapshot in Hugging Face's cache" info "$name"
        out_has "file: $hub/snapshots/4567"
    done
    rm -r "$HOME/.cache/whisper"
    expect 0 "a snapshot is chosen like any other model" "$DIGITS"
    err_has "model: $hub/snapshots/4567 (the best local model"
    HF_HOME=$T/none expect 3 "HF_HOME moves Hugging Face's cache" -m digits "$DIGITS"
    HF_HUB_CACHE=$HOME/.cache/huggingface/hub HF_HOME=$T/none expect 0 "HF_HUB_CACHE goes before HF_HOME" info digits
    STENO=$HERE_STENO
fi

mkdir -p "$T/tree/bin" "$T/tree/share/steno/models/whisper-digits"
cp "$STENO" "$T/tree/bin/steno"
cp "$MODEL" "$T/tree/share/steno/models/whisper-digits/"
cp "$SRC/tests/data/demo.wav" "$T/tree/share/steno/"
rm -r "$HOME/.cache"
kept=$STENO
STENO=$T/tree/bin/steno
expect 0 "--demo finds the built-in model beside the program" --demo "$DIGITS"
err_has "digits only"
if [ -d "$WHISPER" ]; then
    expect 0 "the built-in model's vocabulary is used for a multilingual model without one" -m alone.pt "$DIGITS"
    err_has "vocabulary: $T/tree/share/steno/models/whisper-digits/whisper-digits.bin (the model has none"
    same from_whisper-digits.bin "$T/out"
fi
expect 0 "--demo without a file reads the installed recording" --demo
[ -s "$T/out" ] || bad "the demo recording gives text" "nothing"
expect 3 "the built-in model is not used without --demo" "$DIGITS"
STENO=$kept
finish
