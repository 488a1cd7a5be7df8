# steno: inputs, good and bad. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() { # t CODE CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}

t 0 "a file gives text" "$DIGITS"
cp "$T/out" text
[ "$(wc -l <text)" -eq 3 ] || bad "three phrases are three lines" "$(cat text)"

t 4 "a missing file exits 4" none.wav
err_has "steno: none.wav: "
err_lines 1
out_empty
t 4 "an empty name is printed in quotes" ""
err_has 'steno: "": No such file'
: >empty.wav
echo "this is no sound" >letter.txt
mkdir folder.wav
head -c 30 "$DIGITS" >cut.wav
for f in empty.wav letter.txt folder.wav cut.wav; do
    t 4 "$f is reported in one line" $f
    err_has "steno: $f: "
    err_lines 1
done
t 4 "a film without sound is reported" "$SRC/tests/data/audio/silent_film.mp4"
t 4 "all inputs unreadable exits 4, a line each" none.wav empty.wav folder.wav
err_lines 3

if [ "$(id -u)" -ne 0 ]; then
    cp "$DIGITS" secret.wav
    chmod 0 secret.wav
    t 4 "a file without permission is reported" secret.wav
    err_has "ermission"
else
    echo "(not tried as root: a file without permission)"
fi

t 2 "the same input twice cannot have two outputs" "$DIGITS" "$DIGITS" -o out1
cp "$DIGITS" second.wav
t 1 "one bad input among several exits 1, and the others are written" "$DIGITS" none.wav second.wav -o out1
err_has "steno: none.wav: "
err_lines 1
same out1/zh_phrases.txt text
same out1/second.txt text
[ ! -e out1/none.txt ] || bad "a bad input has no output" "it has"

t 0 "several inputs go to standard output in order" "$DIGITS" second.wav
cat text text >twice
same "$T/out" twice

IN=$DIGITS t 0 "standard input from a file equals the file" -
same "$T/out" text
cat "$DIGITS" | "$STENO" -q -m "$MODEL" -l zh - >piped 2>"$T/err"
is "standard input from a pipe is read" $? 0
same piped text
IN=$DIGITS t 0 "standard input has an output name" - -o out2
same out2/stdin.txt text
t 4 "empty standard input exits 4" -

odd=$'odd\e[31m\xff\nname.wav'
cp "$DIGITS" "./$odd"
t 0 "a file of any name can be read" "./$odd"
same "$T/out" text
t 4 "a name is shown without control characters" "./$odd.none"
err_has 'odd\x1b[31m\xff\x0aname.wav.none'
err_lines 1
iconv -f UTF-8 -t UTF-8 <"$T/err" >/dev/null 2>&1 || bad "messages are valid UTF-8" "$(od -c "$T/err" | head -3)"

t 1 "jsonl has a line for every input, failed ones too" -f jsonl "$DIGITS" none.wav letter.txt
is "jsonl has the job, three inputs and the sums" \
    "$(sed 's/^{"type": "\([a-z]*\)", "schema_version": 2, .*}$/\1/' "$T/out" | tr '\n' ' ')" \
    "job transcript transcript transcript summary "
is "the options stand in the job's line alone" "$(grep -n '"options": {"task": ' "$T/out" | cut -d: -f1)" 1
sums='"inputs": 3, "ok": 1, "empty": 0, "failed": 2, "duration": 7.[0-9]*, "seconds": [0-9.e-]*, "speed": [0-9.]*}$'
sed -n 5p "$T/out" | grep -q "$sums" || bad "the last line has the sums" "$(sed -n 5p "$T/out")"
sed -i '1d;$d' "$T/out"
is "the line of a file has its digest" \
    "$(sed -n '1s/.*"sha256": "\([0-9a-f]*\)".*/\1/p' "$T/out")" "$(sha256sum <"$DIGITS" | cut -d' ' -f1)"
sed -n 1p "$T/out" | grep -q '"status": "ok", "error": null, "language": "zh", "language_probability": null, "text": "\\u516d' ||
    bad "the status of the first input is ok" "$(sed -n 1p "$T/out")"
failed='"sha256": null.*"seconds": null, "speed": null, "status": "error", "error": "none.wav: .*"segments": null, .*null}$'
sed -n 2p "$T/out" | grep -q "$failed" ||
    bad "the status of a missing file is error" "$(sed -n 2p "$T/out")"
sed -n 3p "$T/out" | grep -q "\"sha256\": \"$(sha256sum <letter.txt | cut -d' ' -f1)\".*\"status\": \"error\"" ||
    bad "a file without sound has a digest" "$(sed -n 3p "$T/out")"
err_lines 2
if type -P python3 >/dev/null; then
    python3 -c 'import json, sys
for line in sys.stdin: json.loads(line, parse_constant=lambda c: sys.exit(c))' <"$T/out" ||
        bad "every line is JSON without NaN" "$(cat "$T/out")"
fi
t 1 "a failed input has a line in its own file" -f txt,jsonl none.wav "$DIGITS" -o lines
is "each input has its files" "$(cd lines && echo *)" "none.jsonl zh_phrases.jsonl zh_phrases.txt"
for f in none zh_phrases; do
    is "$f.jsonl has the job and the input" "$(sed 's/^{"type": "\([a-z]*\)", .*/\1/' lines/$f.jsonl | tr '\n' ' ')" "job transcript "
done
cat "$DIGITS" | "$STENO" -q -m "$MODEL" -l zh -f jsonl - >piped 2>"$T/err"
grep -q '"input": "-", "sha256": null' piped || bad "a pipe has no digest" "$(cat piped)"

# ---- the sums of several inputs
s() { # s CODE CLAIM ARGUMENT...: with messages
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -m "$MODEL" -l zh "$@"
}
sums() {
    sed -n 's/^steno: \([0-9]* inputs: .*\)$/\1/p' "$T/err" |
        sed -E 's/ [0-9.]+ s of audio in [0-9.]+ s(, speed [0-9.]+x)?$/ AUDIO\1/; s/[0-9.]+x/X/'
}
silence 3 >silence.wav
s 0 "one input has no sums" "$DIGITS"
none "one input prints no sums" "$(sums)"
s 0 "one input in jsonl is transcribed" "$DIGITS" -f jsonl
is "jsonl of one input has the job and the input" "$(sed 's/^{"type": "\([a-z]*\)", .*/\1/' "$T/out" | tr '\n' ' ')" "job transcript "
s 0 "two inputs are transcribed" "$DIGITS" second.wav
is "two inputs have sums" "$(sums)" "2 inputs: 2 done; AUDIO, speed X"
grep -q '14\.[0-9] s of audio' "$T/err" || bad "the sums count both lengths" "$(tail -1 "$T/err")"
is "the sums are the last line" "$(tail -1 "$T/err" | cut -d' ' -f2-3)" "2 inputs:"
for b in 1 2; do
    s 1 "inputs that fail or are silent are counted, $b at a time" \
        "$DIGITS" none.wav silence.wav second.wav letter.txt -o sums$b -f txt -b $b
    is "the sums count them, $b at a time" "$(sums)" "5 inputs: 3 done (1 without text), 2 failed; AUDIO, speed X"
done
s 4 "inputs that all fail exit 4" none.wav empty.wav -f jsonl
is "the sums of failed inputs have no speed" "$(sums)" "2 inputs: 0 done, 2 failed; AUDIO"
is "jsonl of two failed inputs has the job, both inputs and the sums" "$(sed 's/^{"type": "\([a-z]*\)", .*/\1/' "$T/out" | tr '\n' ' ')" \
    "job transcript transcript summary "
s 0 "-q is accepted for two inputs" "$DIGITS" second.wav -q
none "-q prints no sums" "$(sums)"
mkdir of
cp "$DIGITS" second.wav of
s 0 "a folder is transcribed" of
is "the sums count the files of a folder" "$(sums)" "2 inputs: 2 done; AUDIO, speed X"

t 0 "silence is an input without text" silence.wav
out_empty
err_lines 0
t 0 "silence gives an object without segments" silence.wav -f json
out_has '"segments": []'

if have_ffmpeg "a film"; then
    expect 0 "a film's sound is transcribed" -q -m "$MODEL" -l de "$SRC/tests/data/audio/de_video.mkv"
    cp "$T/out" film
    expect 0 "the sound of the film alone is transcribed" -q -m "$MODEL" -l de "$SRC/tests/data/audio/de.m4a"
    [ -s film ] && [ -s "$T/out" ] || bad "the film and its sound have texts" "$(head film "$T/out")"
fi
# ---- texts of several inputs on standard output have their names before them
cp "$DIGITS" "$(printf 'a\nb.wav')"
expect 0 "the text of one input is printed" -q -m "$MODEL" -l zh "$DIGITS"
cp "$T/out" one
for how in "" "--batch-size 2" "--max-len 5"; do
    # shellcheck disable=SC2086
    expect 4 "an input that fails alone prints no name: $how" -m "$MODEL" -l zh $how nothing.wav
    out_empty
    # shellcheck disable=SC2086
    expect 1 "several inputs have names: $how" -m "$MODEL" -l zh $how "$DIGITS" nothing.wav "$(printf 'a\nb.wav')"
    is "two names stand between arrows, as head writes them: $how" "$(grep -c '^==> .* <==$' "$T/out")" 2
    is "the first name is the first input's: $how" "$(head -n 1 "$T/out")" "==> $DIGITS <=="
    grep -qxF '==> a b.wav <==' "$T/out" || bad "a name is one line" "$(cat "$T/out")"
done
expect 0 "one input prints its text without a name" -m "$MODEL" -l zh "$DIGITS"
same "$T/out" one
expect 0 "-q leaves names out" -q -m "$MODEL" -l zh "$DIGITS" "$DIGITS"
cat one one >two
same "$T/out" two
expect 0 "other formats than text have no names" -m "$MODEL" -l zh -f tsv "$DIGITS" "$DIGITS"
grep -q '==>' "$T/out" && bad "tsv has rows alone" "$(cat "$T/out")"
finish
