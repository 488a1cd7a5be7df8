# steno: links by whose names other programs' command lines are understood. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

names="llama-funasr-cli llama-funasr-paraformer llama-funasr-sensevoice llama-funasr-vad whisper whisper-cli whisper-cpp"
there() { find "$1" -mindepth 1 -printf '%f\n' | LC_ALL=C sort | tr '\n' ' '; }
mkdir bin
PATH=$PWD/bin:$PATH

expect 0 "what would be done" install-dialects --dry-run bin
is "a line for each name" "$(sed 's/ ->.*//; s,.*/,,' "$T/out" | LC_ALL=C sort | tr '\n' ' ')" "$names "
out_has "bin/whisper -> $STENO"
none "and it is not done" "$(there bin)"
expect 0 "links are made" install-dialects bin
is "all of them" "$(there bin)" "$names "
err_lines 0
is "they lead here" "$(realpath bin/whisper)" "$STENO"
expect 0 "made again they are there" install-dialects bin
is "every one" "$(grep -c ' is there$' "$T/out")" 7

cp "$DIGITS" a.wav
whisper a.wav --model "$MODEL" -f txt >"$T/out" 2>"$T/err" || bad "whisper is found by its name" "$?"
out_has "Detected language: Chinese"
[ -s a.txt ] || bad "it writes as there" "no a.txt"
whisper-cli -m "$MODEL" -l zh -osrt -np a.wav >"$T/out" 2>"$T/err" || bad "whisper-cli is found by its name" "$?"
[ -s a.wav.srt ] || bad "it writes as there" "no a.wav.srt"
llama-funasr-vad -m none 2>"$T/err"
err_has "usage: llama-funasr-vad -m MODEL -a SOUND"

rm bin/whisper bin/whisper-cli
echo mine >bin/whisper
ln -s /bin/true bin/whisper-cli
expect 6 "what is not ours is not touched" install-dialects bin
err_has "bin/whisper-cli: it exists and is not a link to steno: nothing is done"
rm bin/whisper-cli bin/whisper-cpp
expect 6 "nor is anything else done then" install-dialects bin
err_has "bin/whisper: it exists"
out_empty
is "the file is what it was" "$(cat bin/whisper)" mine
[ ! -e bin/whisper-cpp ] || bad "no link is made" "one is"
expect 0 "but for names that are free" install-dialects bin whisper-cli whisper-cpp
is "these alone" "$(grep -c -e '->' "$T/out")" 2
ln -sf /nowhere/steno bin/whisper-cpp
expect 0 "a link to a steno that has gone is ours" install-dialects bin whisper-cpp
is "it leads here" "$(realpath bin/whisper-cpp)" "$STENO"

expect 0 "what would be removed" install-dialects --remove --dry-run bin
is "is still there" "$(there bin)" "$names "
expect 0 "links are removed" install-dialects --remove bin
err_has "bin/whisper: not a link to steno; it stays"
is "and nothing else" "$(there bin)" "whisper "
expect 0 "where there is none, nothing is done" install-dialects --remove bin whisper-cli
out_empty
rm bin/whisper

mkdir own early
cp "$STENO" own/steno 2>/dev/null
STENO=$PWD/own/steno
expect 0 "beside the program links are short" install-dialects own whisper
is "a name" "$(readlink own/whisper)" steno
err_has "own is not in PATH"
printf '#!/bin/sh\n' >early/whisper
chmod +x early/whisper
PATH=$PWD/early:$PWD/own:$PATH expect 0 "what comes first in PATH is told" install-dialects own whisper
err_has "early/whisper comes before it in PATH"

expect 2 "a folder is needed" install-dialects
expect 2 "a file is no folder" install-dialects a.wav
err_has "a.wav is not a folder"
expect 6 "a folder that is not there" install-dialects none
err_has "none: no such folder; make it first: mkdir -p \"none\""
expect 2 "a program that is not known" install-dialects bin other
err_has "other is not a known program"
finish
