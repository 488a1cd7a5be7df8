# steno: links whose names select other programs' command lines. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

names="llama-funasr-cli llama-funasr-paraformer llama-funasr-sensevoice llama-funasr-vad whisper whisper-cli whisper-cpp"
there() { find "$1" -mindepth 1 -printf '%f\n' | LC_ALL=C sort | tr '\n' ' '; }
mkdir bin
PATH=$PWD/bin:$PATH

expect 0 "--dry-run is accepted" install-dialects --dry-run bin
is "--dry-run prints a line for each name" "$(sed 's/ ->.*//; s,.*/,,' "$T/out" | LC_ALL=C sort | tr '\n' ' ')" "$names "
out_has "bin/whisper -> $STENO"
none "--dry-run makes no link" "$(there bin)"
expect 0 "install-dialects is accepted" install-dialects bin
is "install-dialects makes all links" "$(there bin)" "$names "
err_lines 0
is "the link whisper points to steno" "$(realpath bin/whisper)" "$STENO"
expect 0 "install-dialects accepts links that exist" install-dialects bin
is "install-dialects reports each link that exists" "$(grep -c ' is there$' "$T/out")" 7

cp "$DIGITS" a.wav
whisper a.wav --model "$MODEL" -f txt >"$T/out" 2>"$T/err" || bad "whisper is found by its name" "$?"
out_has "Detected language: Chinese"
[ -s a.txt ] || bad "whisper writes its file" "no a.txt"
whisper-cli -m "$MODEL" -l zh -osrt -np a.wav >"$T/out" 2>"$T/err" || bad "whisper-cli is found by its name" "$?"
[ -s a.wav.srt ] || bad "whisper-cli writes its file" "no a.wav.srt"
llama-funasr-vad -m none 2>"$T/err"
err_has "usage: llama-funasr-vad -m MODEL -a SOUND"

rm bin/whisper bin/whisper-cli
echo mine >bin/whisper
ln -s /bin/true bin/whisper-cli
expect 6 "a file in place of a link is refused" install-dialects bin
err_has "bin/whisper-cli: it exists and is not a link to steno: nothing is done"
rm bin/whisper-cli bin/whisper-cpp
expect 6 "a file in place of a link stops the other links" install-dialects bin
err_has "bin/whisper: it exists"
out_empty
is "the file in place of a link is not changed" "$(cat bin/whisper)" mine
[ ! -e bin/whisper-cpp ] || bad "no link is made beside a refused one" "one is"
expect 0 "install-dialects makes links of given names" install-dialects bin whisper-cli whisper-cpp
is "install-dialects makes the two given links alone" "$(grep -c -e '->' "$T/out")" 2
ln -sf /nowhere/steno bin/whisper-cpp
expect 0 "a link to a steno that was removed is replaced" install-dialects bin whisper-cpp
is "the replaced link points to steno" "$(realpath bin/whisper-cpp)" "$STENO"

expect 0 "--remove --dry-run is accepted" install-dialects --remove --dry-run bin
is "--remove --dry-run removes no link" "$(there bin)" "$names "
expect 0 "--remove is accepted" install-dialects --remove bin
err_has "bin/whisper: not a link to steno; it stays"
is "--remove leaves other files" "$(there bin)" "whisper "
expect 0 "--remove of a missing link exits 0" install-dialects --remove bin whisper-cli
out_empty
rm bin/whisper

mkdir own early
cp "$STENO" own/steno 2>/dev/null
STENO=$PWD/own/steno
expect 0 "links in the program's folder are accepted" install-dialects own whisper
is "a link in the program's folder is the name alone" "$(readlink own/whisper)" steno
err_has "own is not in PATH"
printf '#!/bin/sh\n' >early/whisper
chmod +x early/whisper
PATH=$PWD/early:$PWD/own:$PATH expect 0 "a program that comes first in PATH is reported" install-dialects own whisper
err_has "early/whisper comes before it in PATH"

expect 2 "install-dialects needs a folder" install-dialects
expect 2 "a file is refused as the folder" install-dialects a.wav
err_has "a.wav is not a folder"
expect 6 "a missing folder is reported" install-dialects none
err_has "none: no such folder; make it first: mkdir -p \"none\""
expect 2 "an unknown program is refused" install-dialects bin other
err_has "other is not a known program"
finish
