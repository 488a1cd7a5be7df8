# steno: which model is used, and what is said about bad ones. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

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
    expect 3 "info says what is wrong with a model that is $m" info $m.bin
    err_has "steno: $m.bin: "
    out_empty
done
if [ -d "${STENO_SHARED:-/none}/material/bad/whisper" ]; then
    for m in "$STENO_SHARED"/material/bad/whisper/*.bin; do
        expect 3 "info refuses $(basename "$m")" info "$m"
        err_lines 1
    done
fi

expect 3 "without any model there is advice" "$DIGITS"
err_has "no model was found"
err_has "steno --demo FILE"
err_lines 1

STENO_MODEL=$MODEL expect 0 "STENO_MODEL is used and named" "$DIGITS"
err_has "(from STENO_MODEL)"
STENO_MODEL=$MODEL expect 3 "-m goes before STENO_MODEL" -m none.bin "$DIGITS"
STENO_MODEL=none.bin expect 3 "a STENO_MODEL that is missing is not passed over" "$DIGITS"
STENO_MODEL=$MODEL expect 0 "-q keeps notes away" -q "$DIGITS"
err_lines 0

mkdir -p "$HOME/.cache/whisper.cpp" models
cp "$MODEL" "$HOME/.cache/whisper.cpp/ggml-tiny.bin"
expect 0 "a model in a cache is found and named" "$DIGITS"
err_has "model: $HOME/.cache/whisper.cpp/ggml-tiny.bin"
expect 0 "a name finds a file in a cache" -m tiny "$DIGITS"
expect 0 "a file name finds a file in a cache" -m ggml-tiny.bin "$DIGITS"
expect 3 "a name that is none suggests one" -m tinny "$DIGITS"
err_has "did you mean $HOME/.cache/whisper.cpp/ggml-tiny.bin?"
cp "$MODEL" models/notes.bin
truncate -s 50M models/notes.bin
printf ggml >models/ggml-small.bin
head -c 2000000 "$MODEL" >models/ggml-broken.bin
truncate -s 40M models/ggml-broken.bin
truncate -s 60M models/ggml-other.bin
expect 0 "a larger file that does not open is told and passed over" "$DIGITS"
err_has "ggml-broken.bin"
err_has "the largest one found"
err_lacks "notes.bin"
err_lacks "ggml-other.bin"
rm -r models
mkdir "$T/xdg" "$T/xdg/steno"
cp "$MODEL" "$T/xdg/steno/mine.bin"
XDG_CACHE_HOME=$T/xdg expect 0 "XDG_CACHE_HOME moves the caches" -m mine "$DIGITS"

mkdir -p "$T/tree/bin" "$T/tree/share/steno/models/whisper-digits"
cp "$STENO" "$T/tree/bin/steno"
cp "$MODEL" "$T/tree/share/steno/models/whisper-digits/"
cp "$SRC/tests/data/demo.wav" "$T/tree/share/steno/"
rm -r "$HOME/.cache"
kept=$STENO
STENO=$T/tree/bin/steno
expect 0 "--demo finds the built-in model beside the program" --demo "$DIGITS"
err_has "digits only"
expect 0 "--demo without a file takes the recording that is installed with it" --demo
[ -s "$T/out" ] || bad "the demo recording gives text" "nothing"
expect 3 "the built-in model is never taken silently" "$DIGITS"
STENO=$kept
finish
