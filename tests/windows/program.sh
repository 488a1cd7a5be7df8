#!/usr/bin/env bash
# steno: the program for Windows, under Wine. SPDX-License-Identifier: MIT
#
# STENO is a script that runs it. With STENO_NATIVE, the program of this system, results are compared byte by byte.
. "$(dirname "$0")/../cli/lib.sh"
command -v wine >/dev/null || { echo "skipped: wine is not installed"; exit 77; }
DEMO=$SRC/tests/data/demo.wav
windows() { winepath -w "$1" 2>/dev/null | tr -d '\r'; } # a path as a user of Windows types it

expect 0 "the version is printed" --version
out_has "steno "
expect 0 "help is printed" --help
out_has "Usage: steno"
grep -q $'\r' "$T/out" && bad "lines end as they do elsewhere" "there is a carriage return"
expect 2 "an unknown option is refused" "$DEMO" --nonsense
err_has "unknown option --nonsense"
expect 4 "a missing file is reported" missing.wav -m "$MODEL"
err_has "missing.wav: No such file or directory"
head -c 20000 "$MODEL" >damaged.bin
expect 3 "a damaged model is reported" "$DEMO" -m damaged.bin
err_has "the file ends at byte 20000"
expect 2 "what Windows lacks has its reason" serve
err_has "steno serve is not available on Windows"
expect 2 "the same after help" help serve

# ---- transcripts

expect 0 "text is that of other systems" "$DEMO" -m "$MODEL"
is "text" "$(cat "$T/out")" $'zero nine one eight.\ntwo seven.'
expect 0 "subtitles have whole lines" "$DEMO" -m "$MODEL" -f srt
is "srt" "$(cat "$T/out")" $'1\n00:00:00,000 --> 00:00:01,860\nzero nine one eight.\n\n2\n00:00:02,740 --> 00:00:03,720\ntwo seven.'
for format in txt srt vtt tsv json json-full; do
    [ -n "${STENO_NATIVE-}" ] || { echo "(not tried: the bytes of $format; there is no program of this system)"; continue; }
    "$STENO_NATIVE" "$DEMO" -m "$MODEL" -f $format >"$T/native" 2>/dev/null || continue
    expect 0 "$format equals that of this system's program" "$DEMO" -m "$MODEL" -f $format
    same "$T/native" "$T/out"
done
if [ -n "${STENO_NATIVE-}" ]; then
    RATE=$SRC/tests/data/audio/de_8k.wav
    expect 0 "a file at another rate is read" "$RATE" -m "$MODEL" -l de -f srt
    "$STENO_NATIVE" "$RATE" -m "$MODEL" -l de -f srt >"$T/native" 2>/dev/null
    same "$T/native" "$T/out"
fi
IN=$DEMO expect 0 "standard input is read" - -m "$MODEL"
is "text" "$(cat "$T/out")" $'zero nine one eight.\ntwo seven.'
cat "$DEMO" | "$STENO" - -m "$MODEL" >"$T/out" 2>"$T/err" || bad "a pipe is read" "exit code $?"
is "text of a pipe" "$(cat "$T/out")" $'zero nine one eight.\ntwo seven.'

# ---- names

mkdir -p 'Записи 録音'
cp "$DEMO" 'Записи 録音/приве́т 数字.wav'
cp "$DEMO" 'Записи 録音/naïve [1].wav'
expect 0 "a name in any script is found" 'Записи 録音/приве́т 数字.wav' -m "$MODEL" -f srt -o out
err_has "приве́т 数字.srt"
[ -s 'out/приве́т 数字.srt' ] || bad "its result has its name" "$(ls -R out)"
expect 0 "a path with backslashes is found" "$(windows "$PWD/Записи 録音/приве́т 数字.wav")" -m "$(windows "$MODEL")" \
    -f txt --output-dir="$(windows "$PWD/other")"
[ -s 'other/приве́т 数字.txt' ] || bad "the folder after = is a path" "$(ls -R .)"
expect 0 "the program expands patterns" 'Записи 録音\*.wav' -m "$MODEL" -f tsv -o out
[ "$(find out -name '*.tsv' | wc -l)" = 2 ] || bad "both files match" "$(ls out)"
expect 0 "a folder is searched" 'Записи 録音' -m "$MODEL" -f json -o out
[ "$(find out -name '*.json' | wc -l)" = 2 ] || bad "both files are found" "$(ls out)"
expect 0 "a result is replaced" 'Записи 録音/naïve [1].wav' -m "$MODEL" -f json -o out
[ -z "$(find . -name '.steno-*')" ] || bad "no temporary file stays" "$(find . -name '.steno-*')"
cp "$DEMO" same.wav
expect 2 "an input is not overwritten" same.wav -m "$MODEL" -f txt --output-template 'same.wav' -o .
same "$DEMO" same.wav

# Wine makes Ctrl-C of this signal.
echo "Ctrl-C ends a run with exit code 130 and leaves no result that is not whole"
long_speech 60 >long.wav
"$STENO" long.wav -v -m "$MODEL" -f txt -o stopped >"$T/out" 2>"$T/err" &
run=$!
for ((i = 0; i < 300; i++)); do
    grep -q 'attempt 1' "$T/err" && break
    sleep 0.1
done
kill -INT $run
wait $run
is "exit code" "$?" 130
none "files" "$(find stopped -name '*.txt' -o -name '.steno-*')"

# ---- other verbs

expect 0 "info prints a model" info "$MODEL"
out_has "family: whisper"
expect 1 "doctor reports that no model is there" doctor
out_has "decoding: built-in WAV reader"
out_has "demo model: "
expect 0 "quantize writes a model" quantize "$MODEL" q8.bin q8_0
expect 0 "which transcribes" "$DEMO" -m q8.bin
is "text of q8_0" "$(cat "$T/out")" $'zero nine one eight.\ntwo seven.'
expect 0 "convert writes a model" convert "$MODEL" whisper.pt
expect 0 "which transcribes, too" "$DEMO" -m whisper.pt
is "text of .pt" "$(cat "$T/out")" $'zero nine one eight.\ntwo seven.'
if [ -n "${STENO_NATIVE-}" ]; then
    "$STENO_NATIVE" quantize "$MODEL" native.bin q8_0 2>/dev/null
    same native.bin q8.bin
    "$STENO_NATIVE" convert "$MODEL" native.pt 2>/dev/null
    same native.pt whisper.pt
fi
expect 0 "subtitles are checked" lint-subs 'out/приве́т 数字.srt'
expect 0 "a text is tokenized" tokenize -m "$MODEL" 'два 二'
expect 0 "its tokens are decoded" tokenize -m "$MODEL" --decode "$(cut -d' ' -f1 "$T/out" | tr '\n' ' ')"
is "text of the tokens" "$(cat "$T/out")" 'два 二'
printf '{"audio_filepath": "same.wav", "id": "one"}\n' >manifest.jsonl
expect 0 "a manifest is transcribed" batch -i manifest.jsonl --output batch -m "$MODEL"
expect 2 "what Windows lacks there has its reason" batch -i manifest.jsonl --output alone --isolate -m "$MODEL"
err_has "--isolate is not available on Windows"
finish
