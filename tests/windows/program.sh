#!/usr/bin/env bash
# steno: the program for Windows, under Wine. SPDX-License-Identifier: MIT
#
# STENO is a script that runs it. With STENO_NATIVE, the program of this system, results are compared byte by byte; without it the test
# ends as skipped, after all that it can try.
. "$(dirname "$0")/../cli/lib.sh"
command -v wine >/dev/null || { echo "skipped: wine is not installed"; exit 77; }
DEMO=$SRC/tests/data/demo.wav
native() { # ARGUMENT...: run this system's program; leaves $T/native
    "$STENO_NATIVE" "$@" </dev/null >"$T/native" 2>"$T/native.err" ||
        bad "this system's program runs" "exit code $?: $(tail -n 1 "$T/native.err")"
}
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
for format in txt srt vtt tsv json json_full; do
    [ -n "${STENO_NATIVE-}" ] || break
    native "$DEMO" -m "$MODEL" -f $format
    expect 0 "$format equals that of this system's program" "$DEMO" -m "$MODEL" -f $format
    same "$T/native" "$T/out"
done
if [ -n "${STENO_NATIVE-}" ]; then
    RATE=$SRC/tests/data/audio/de_8k.wav
    expect 0 "a file at another rate is read" "$RATE" -m "$MODEL" -l de -f srt
    native "$RATE" -m "$MODEL" -l de -f srt
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
cp "$DEMO" 'Записи 録音/шрифт.ttf'
expect 2 "the file of a font is found" "$DEMO" -m "$MODEL" -f ass -o out --font 'Записи 録音\шрифт.ttf'
err_has "is not a TrueType or OpenType font"
[ -z "$(find . -name '.steno-*')" ] || bad "no temporary file stays" "$(find . -name '.steno-*')"
[ "$(find out -name '*.json' | wc -l)" = 2 ] || bad "it is replaced under its name" "$(ls out)"
expect 0 "an absolute folder that is missing is made" "$DEMO" -m "$MODEL" -f txt -o "$(windows "$T")\\new\\folder"
[ -s "$T/new/folder/demo.txt" ] || bad "its result is there" "$(ls -R "$T/new")"
printf '%s\\demo.wav\r\n# %s\n\nЗаписи 録音\\naïve [1].wav\n' "$(windows "$SRC/tests/data")" 'a\comment' >list.txt
expect 0 "names in a list have backslashes" @list.txt -m "$MODEL" -f txt -o listed
is "results of a list" "$(cd listed && echo *)" "demo.txt naïve [1].txt"
expect 2 "a value that is no path stays" "$DEMO" -m "$MODEL" -l 'out\d'
err_has 'out\d'
expect 0 "an operand that is no path stays" tokenize -m "$MODEL" 'out\d'
expect 0 "its tokens are decoded" tokenize -m "$MODEL" --decode "$(cut -d' ' -f1 "$T/out" | tr '\n' ' ')"
is "text of the tokens" "$(cat "$T/out")" 'out\d'
printf 'a text' >text.txt && mkdir folder && printf 'два 二' >folder/text.txt
expect 0 "behind @ it is one" tokenize -m "$MODEL" '@folder\text.txt'
cp "$T/out" tokens
expect 0 "and has the same text" tokenize -m "$MODEL" 'два 二'
same tokens "$T/out"
mkdir models && cp "$MODEL" models/m.bin
export STENO_MODEL='models\none.bin'
expect 3 "a variable names a model by a relative path" "$DEMO"
err_has 'models/none.bin'
STENO_MODEL='models\m.bin'
expect 0 "which is read" "$DEMO"
unset STENO_MODEL
long=$(printf 'l%.0s' {1..120})
mkdir -p "$long/$long/$long" && cp "$DEMO" "$long/$long/$long/far.wav" && cp "$MODEL" "$long/$long/$long/far.bin"
expect 0 "paths longer than 260 are read and written" "$long\\$long\\$long\\far.wav" -f txt -m "$long/$long/$long/far.bin" \
    -o "$long/$long/$long/out"
[ -s "$long/$long/$long/out/far.txt" ] || bad "its result is there" "$(ls "$long/$long/$long")"
cp "$DEMO" same.wav
expect 2 "an input is not overwritten" same.wav -m "$MODEL" -f txt --output-template 'same.wav' -o .
same "$DEMO" same.wav

# Wine makes Ctrl-C of this signal.
echo "Ctrl-C ends a run with exit code 130 and leaves no result that is not whole"
long_speech 30 >long.wav
"$STENO" long.wav -m "$MODEL" -f txt -o stopped >"$T/out" 2>"$T/err" &
run=$!
for ((i = 0; i < 3000; i++)); do
    [ "$(cat stopped/.steno_resume/* 2>/dev/null | wc -c)" -le 1500 ] || break
    kill -0 $run 2>/dev/null || break
    sleep 0.01
done
kill -INT $run
wait $run
is "exit code" "$?" 130
none "files" "$(find stopped -name '*.txt' -o -name '.steno-*')"
err_has "--resume continues there"
expect 0 "the run goes on where it ended" long.wav -m "$MODEL" -f txt -o stopped --resume
err_has "continues where it ended"
expect 0 "a run without interruption" long.wav -m "$MODEL" -f txt -o straight
same straight/long.txt stopped/long.txt

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
    native quantize "$MODEL" native.bin q8_0
    same native.bin q8.bin
    native convert "$MODEL" native.pt
    same native.pt whisper.pt
fi
expect 0 "subtitles are checked" lint-subs 'out/приве́т 数字.srt'
expect 0 "a text is tokenized" tokenize -m "$MODEL" 'два 二'
expect 0 "its tokens are decoded" tokenize -m "$MODEL" --decode "$(cut -d' ' -f1 "$T/out" | tr '\n' ' ')"
is "text of the tokens" "$(cat "$T/out")" 'два 二'

# ---- journals: what is written later stands at their end

mkdir -p audio
for name in one two three; do cp "$DEMO" "audio/$name.wav"; done
printf '{"audio_filepath": "audio\\\\one.wav"}\n{"audio_filepath": "audio/two.wav"}\naudio\\three.wav\n' >manifest.jsonl
expect 0 "a manifest is transcribed" batch -i manifest.jsonl --output whole.jsonl -m "$MODEL"
is "lines of the journal" "$(grep -c '"type": "transcript"' whole.jsonl)" 3
grep -q '"id": "audio/one.wav"' whole.jsonl || bad "a path has slashes" "$(cut -c1-200 whole.jsonl)"
grep -q 'audio\\' whole.jsonl && bad "and no backslash" "$(grep 'audio\\' whole.jsonl | cut -c1-200)"
head -n 2 whole.jsonl >part.jsonl
cp part.jsonl begun.jsonl
expect 0 "what a journal lacks is transcribed" batch -i manifest.jsonl --output part.jsonl -m "$MODEL" --resume
cmp -s begun.jsonl <(head -n 2 part.jsonl) || bad "a journal keeps its start" "$(cut -c1-200 part.jsonl)"
is "results" \
    "$(grep '"type": "transcript"' part.jsonl | grep -o '"id": "[^"]*"' | sort | tr '\n' ' ')" \
    '"id": "audio/one.wav" "id": "audio/three.wav" "id": "audio/two.wav" '
expect 2 "what Windows lacks there has its reason" batch -i manifest.jsonl --output alone --isolate -m "$MODEL"
err_has "--isolate is not available on Windows"
[ -n "${STENO_NATIVE-}" ] || [ "$failures" != 0 ] || { echo "skipped: there is no program of this system to compare with"; exit 77; }
finish
