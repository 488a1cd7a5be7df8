# steno: the places of results, and results that cannot be written. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}
left() { find "$1" -name '.steno-*' | grep -q . && bad "no temporary file is left in $1" "$(ls -A "$1")"; }

old_mask=$(umask)
umask 027
t 0 "a folder is made with its parents, a file per format is written" "$DIGITS" -f all -o a/b
umask "$old_mask"
out_empty
is "the files are named after input and format" "$(cd a/b && echo *)" \
    "zh_phrases.json zh_phrases.srt zh_phrases.tsv zh_phrases.txt zh_phrases.vtt"
is "a file's mode follows the umask" "$(stat -c %a a/b/zh_phrases.txt)" 640
left a/b
cp "$DIGITS" two.wav
expect 0 "the written files are reported" -m "$MODEL" -l zh two.wav "$DIGITS" -f txt,json -o listed
is "each input has a line with its files" "$(grep -v ' inputs: ' "$T/err")" "steno: two.wav: wrote listed/two.txt, listed/two.json
steno: $DIGITS: wrote listed/zh_phrases.txt, listed/zh_phrases.json"
err_lines 3
err_has "steno: 2 inputs: 2 done; 14."
IN=$DIGITS expect 0 "the written file of standard input is reported" -m "$MODEL" -l zh - -o listed
is "standard input has a line with its file" "$(cat "$T/err")" "steno: standard input: wrote listed/stdin.txt"
expect 0 "-q prints no line about written files" -q -m "$MODEL" -l zh two.wav -o listed
err_lines 0

for f in txt srt vtt tsv; do
    t 0 "$f goes to standard output as it goes to a file" "$DIGITS" -f $f
    same "$T/out" a/b/zh_phrases.$f
done
t 0 "json goes to standard output with a newline" "$DIGITS" -f json
{ cat a/b/zh_phrases.json; echo; } >json
same "$T/out" json

cp "$DIGITS" two.dots.wav
cp "$DIGITS" .hidden
cp "$DIGITS" plain
t 0 "only the last extension is removed, and leading dots are not one" two.dots.wav .hidden plain -o c
is "the names have no other extension" "$(cd c && echo .h* *)" ".hidden.txt plain.txt two.dots.txt"

t 0 "a template names the files" two.dots.wav -o g --output-template "{stem}-{language}.{format}.x" -f srt,txt
is "the names follow the template" "$(cd g && echo *)" "two.dots-zh.srt.x two.dots-zh.txt.x"
t 0 "a template may name folders below the output folder" two.dots.wav plain -o g2 --output-template "{language}/{stem}/{format}"
is "the folders follow the template" "$(cd g2 && find . -type f | sort | tr '\n' ' ')" "./zh/plain/txt ./zh/two.dots/txt "
left g2

# ---- beside the input, and words of the run
mkdir -p in/a in/b
cp two.dots.wav in/a/talk.wav
cp two.dots.wav in/b/talk.wav
t 0 "-o @ is accepted" in/a/talk.wav in/b/talk.wav -o @ -f txt,srt
is "-o @ writes results beside their inputs" "$(echo in/*/*)" \
    "in/a/talk.srt in/a/talk.txt in/a/talk.wav in/b/talk.srt in/b/talk.txt in/b/talk.wav"
t 0 "-o @/FOLDER is accepted" in/a/talk.wav -o @/texts --output-template "{n}-{stem}.{format}"
is "-o @/FOLDER writes results in a folder beside the input" "$(ls in/a/texts)" "1-talk.txt"
(cd in/a && t 0 "-o @ is accepted for an input in the current folder" talk.wav -o @ -f vtt && [ -s talk.vtt ]) ||
    bad "-o @ writes into the current folder" "$(ls in/a)"
t 0 "a template with {dir} is accepted" in/a/talk.wav "$PWD/in/b/../b/talk.wav" -o g4 --output-template "{dir}/{n}.{format}"
is "a relative input has its folder below the output folder" "$(cd g4 && find . -name 1.txt)" "./in/a/1.txt"
is "an absolute input has its whole path below the output folder" "$(cd g4 && find . -name 2.txt)" ".$PWD/in/b/b/2.txt"
t 0 "a template with date, time and model is accepted" in/a/talk.wav -o g5 --output-template "{model}_{date}_{time}.{format}"
ls g5 | grep -qE '^whisper-digits_20[0-9]{2}-[01][0-9]-[0-3][0-9]_[0-2][0-9](-[0-6][0-9]){2}\.txt$' ||
    bad "the name has the model, the date and the time" "$(ls g5)"
touch in/a/talk.mp3
t 2 "two inputs with one result beside them are refused" in/a/talk.wav in/a/talk.mp3 -o @
err_has "two inputs would be written as in/a/talk.txt"
t 2 "a result that would replace an input is refused" in/a/talk.wav -o @ --output-template "{stem}.wav"
err_has "in/a/talk.wav is an input and would be overwritten"
t 2 "standard input has no folder" - -o @
err_has "standard input has no folder; give one"
t 2 "an address has no folder" http://localhost/x.wav -o @
err_has "has no folder; give one"
t 2 "a template with .. is refused" in/a/talk.wav -o @ --output-template "../{stem}"
err_has "leaves the output folder"
t 4 "a missing input exits 4" none/talk.wav -o @/texts
[ ! -e none ] || bad "no folder is made for a missing input" "$(ls -R none)"
t 0 "./@ is accepted as a folder" in/a/talk.wav -o ./@
is "./@ is a folder named @" "$(ls @)" "talk.txt"
mkdir g3
cp "$DIGITS" g3/in.zh
t 2 "an output that the language makes an input is not written" g3/in.zh -o g3 --output-template "{stem}.{language}"
same g3/in.zh "$DIGITS"
t 0 "formats that the reference does not have are accepted by name" "$DIGITS" -f verbose_json,jsonl,csv,lrc -o h
is "the files have the names of their formats" "$(cd h && echo *)" "zh_phrases.csv zh_phrases.jsonl zh_phrases.lrc zh_phrases.verbose_json"
for f in csv lrc jsonl; do
    t 0 "$f goes to standard output as it goes to a file" "$DIGITS" -f $f
    differs='s/"model": "[^"]*"\|"seconds": [^,]*, "speed": [^,]*//g' # between runs
    sed "$differs" "$T/out" >shown
    sed "$differs" h/zh_phrases.$f >filed
    same shown filed
done

echo old >c/plain.txt
t 0 "an older output is replaced" plain -o c
same c/plain.txt a/b/zh_phrases.txt

echo old >c/zh_phrases.txt
(ulimit -f 0; "$STENO" -q -m "$MODEL" -l zh "$DIGITS" -o c 2>&1; echo "code $?") | cat >limit
grep -q "code 6" limit || bad "a full disk exits 6" "$(cat limit)"
is "the older output survives a failed write" "$(cat c/zh_phrases.txt)" old
left c

: >c/.steno-aB3xYz
chmod 1200 c/.steno-aB3xYz # the mode of a file while it is written
: >c/.steno-notes
: >c/.steno-sounds
t 0 "a run beside files of a killed run is accepted" "$DIGITS" -o c
is "the files of the killed run alone are removed" "$(ls -A c | grep steno | tr '\n' ' ')" ".steno-notes .steno-sounds "
rm c/.steno-notes c/.steno-sounds

mkdir -p d/zh_phrases.txt
t 6 "an output that is a folder exits 6" "$DIGITS" -o d
err_has "d/zh_phrases.txt: cannot write"
left d
: >file
t 6 "an output folder that is a file exits 6 before decoding" "$DIGITS" -o file
err_has "file: cannot write there"
t 6 "an output folder that cannot be made exits 6" "$DIGITS" -o file/below
t 6 "an output folder without permission exits 6" "$DIGITS" -o /proc/steno
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 shut
    t 6 "a read-only folder exits 6" "$DIGITS" -o shut
fi
cp "$DIGITS" sound.txt
t 2 "an output never replaces its input" sound.txt -o .
same sound.txt "$DIGITS"

for f in txt srt json; do
    "$STENO" -q -m "$MODEL" -l zh -f $f "$DIGITS" >/dev/full 2>"$T/err"
    is "$f on a full device exits 6" $? 6
    err_has "standard output: cannot write"
    err_lines 1
    "$STENO" -q -m "$MODEL" -l zh -f $f "$DIGITS" >&- 2>"$T/err"
    is "$f on a closed standard output exits 6" $? 6
    err_lines 1
done
"$STENO" -q -m "$MODEL" -l zh "$DIGITS" -o e >&- 2>"$T/err"
is "files need no standard output" $? 0
same e/zh_phrases.txt a/b/zh_phrases.txt
"$STENO" -q -m "$MODEL" -l zh "$DIGITS" <&- 2>&- >"$T/out"
is "closed standard input and error do not stop the run" $? 0
same "$T/out" a/b/zh_phrases.txt

mkfifo gone
"$STENO" -q -m "$MODEL" -l zh "$DIGITS" >gone 2>"$T/err" &
exec 4<gone
exec 4<&-
wait $!
is "a reader that closes exits 6" $? 6
err_has "the reader has gone"
err_lines 1
finish
