# steno: journals that cannot be written, or are damaged, cut or of another form: results are written, and the fault is reported.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
long_speech 6 >long.wav # two windows
cp "$DIGITS" short.wav
R=(-m "$MODEL" -l zh -f json)
expect 0 "a run without interruption writes the result" -q "${R[@]}" -o want long.wav
kept() { echo out/.steno_resume/*.0; }

# end_run: end a run of long.wav when something is kept; its journal is put aside once
end_run() {
    local i
    rm -rf out
    for i in 1 2 3 4 5 6; do
        env --default-signal=INT "$STENO" "${R[@]}" -o out long.wav >"$T/out" 2>"$T/err" &
        local pid=$!
        until [ "$(cat out/.steno_resume/* 2>/dev/null | wc -c)" -gt 1500 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done
        kill -INT $pid 2>/dev/null
        wait $pid
        [ -e "$(kept)" ] && break
    done
    [ -e "$(kept)" ] || bad "a run is ended before its end" "all of $i were over before"
    [ -z "$(kept)" ] || cp "$(kept)" journal
}
end_run
err_has "stopped; the text up to 0:0"
err_has "is kept in out/.steno_resume: the same command with --resume continues there"
name=$(basename "$(kept)")
# with CLAIM MESSAGE: --resume with the present journal prints MESSAGE and writes the result
with() {
    expect 0 "$1" "${R[@]}" -o out --resume long.wav
    err_has "$2"
    same out/long.json want/long.json
    rm -rf out
    mkdir -p out/.steno_resume
}
with "the journal is used as it was left" "long.wav: continues where it ended"
cp journal "out/.steno_resume/$name"
expect 0 "a run without --resume is accepted beside a journal" "${R[@]}" -o out long.wav
err_has "long.wav: an interrupted run has left a journal; without --resume it starts again"
[ ! -e out/.steno_resume ] || bad "a run without --resume removes the journal" "$(ls out/.steno_resume)"

# ---- damage
rm out/long.json # its stamp marks it as finished
mkdir -p out/.steno_resume
printf 'steno journal 1\n\1\2\3' >"out/.steno_resume/$name"
with "a journal of another version is not used" \
    "long.wav: its journal out/.steno_resume/$name is of another version of steno; it starts again"
: >"out/.steno_resume/$name"
with "an empty journal is not used" "is damaged; it starts again"
head -c 15 journal >"out/.steno_resume/$name"
with "a journal cut in its beginning is not used" "is damaged; it starts again"
head -c 100 journal >"out/.steno_resume/$name"
with "a journal cut in its key is not used" "is damaged; it starts again"
{ head -c 40 journal; printf X; tail -c +42 journal; } >"out/.steno_resume/$name"
with "a journal with another letter in its key is not used" "is damaged; it starts again"
head -c -1 journal >"out/.steno_resume/$name"
with "a journal cut in its last piece is accepted" "long.wav: "
{ head -c -40 journal; printf '\377\377\377\377'; tail -c 36 journal; } >"out/.steno_resume/$name"
with "a journal with a damaged piece at its end is accepted" "its journal"
grep -qE 'continues where it ended, as far as its journal is not damaged|is damaged; it starts again' "$T/err" ||
    bad "the damage is reported" "$(cat "$T/err")"
head -c 5000 /dev/urandom >"out/.steno_resume/$name"
with "noise in place of a journal is not used" "is damaged; it starts again"
truncate -s 268435457 "out/.steno_resume/$name" # a byte more than a journal may have
with "a journal that is too large is not used" "it is too large. Results are still written, but --resume cannot continue this input"

# ---- the reason is reported
cp journal "out/.steno_resume/$name"
touch -d "1 hour ago" long.wav
with "a journal of another file is not used" "its journal is of another run (the file has changed); it starts again"
end_run
cp "$MODEL" other.bin
expect 0 "a journal of another model is not used" -m other.bin -l zh -f json -o out --resume long.wav
err_has "its journal is of another run (it was another model); it starts again"
end_run
expect 0 "a journal of other arithmetic is not used" "${R[@]}" --compute f32 -o out --resume long.wav
err_has "its journal is of another run (it was another processor, or --compute); it starts again"
end_run
expect 0 "a journal of other options is not used" "${R[@]}" --beam-size 2 -o out --resume long.wav
err_has "its journal is of another run (it was with other options); it starts again"
end_run
expect 0 "a journal of other threads is used" "${R[@]}" -t 1 -o out --resume long.wav
err_has "long.wav: continues where it ended"
same out/long.json want/long.json

# ---- other files in the journal's place
R+=(-o out)
rm -rf out
# in_place CLAIM MESSAGE [--resume]: the run prints MESSAGE, keeps no journal and writes its results
in_place() {
    local claim=$1 message=$2
    shift 2
    rm -f out/long.json # its stamp marks it as finished
    expect 0 "$claim" "${R[@]}" "$@" long.wav
    err_has "$message"
    is "$claim: the fault is printed once" "$(grep -c "Results are still written" "$T/err")" 1
    same out/long.json want/long.json
    rm out/long.json
    expect 0 "$claim, with -q" -q "${R[@]}" "$@" long.wav
    err_lines 0
}
mkdir -p "out/.steno_resume/$name/x"
in_place "a folder in place of the journal is reported" \
    "out/.steno_resume/$name: it is not a regular file; remove it. Results are still written"
in_place "a folder in place of the journal is reported by --resume" \
    "out/.steno_resume/$name: it is not a regular file; remove it. Results" --resume
rm -r out/.steno_resume/*
echo precious >precious
ln -s ../../precious "out/.steno_resume/$name"
in_place "a link in place of the journal is reported" "out/.steno_resume/$name: it is not a regular file; remove it" --resume
is "the target of the link is not changed" "$(cat precious)" precious
rm -rf out/.steno_resume
mkdir out/.steno_resume
mkfifo "out/.steno_resume/$name"
in_place "a FIFO in place of the journal is reported" "out/.steno_resume/$name: it is not a regular file; remove it"
rm -rf out/.steno_resume
echo "no folder" >out/.steno_resume
in_place "a file in place of the journals' folder is reported" "Results are still written, but --resume cannot continue this input"
in_place "a file in place of the journals' folder is reported by --resume" "out/.steno_resume/$name: Not a directory" --resume
rm out/.steno_resume
if [ "$(id -u)" -ne 0 ]; then
    mkdir out/.steno_resume
    touch out/.steno_resume/other # a folder with nothing in it goes
    chmod 500 out/.steno_resume
    in_place "a read-only folder of journals is reported" "out/.steno_resume/$name: Permission denied. Results"
    chmod 700 out/.steno_resume
    cp journal "out/.steno_resume/$name"
    chmod 000 "out/.steno_resume/$name"
    in_place "a journal that may not be read is reported" "out/.steno_resume/$name: Permission denied. Results" --resume
    rm -rf out/.steno_resume
else
    echo "(not tried: files without permission; root has it)"
fi

# ---- no space: no file may be larger than a kilobyte
rm -rf out
( ulimit -f 1; exec "$STENO" -m "$MODEL" -l zh -f txt -o out long.wav ) >"$T/out" 2>"$T/err"
is "the result is written where there is no space for the journal" $? 0
err_has "Results are still written"
[ -s out/long.txt ] || bad "the result has text" "$(ls out)"
( ulimit -f 2; exec "$STENO" "${R[@]}" -f json,txt --resume long.wav short.wav ) >"$T/out" 2>"$T/err"
is "a result without space exits 6" $? 6
err_has "out/long.json: cannot write"
rm -rf out
expect 0 "the run is resumed when there is space" "${R[@]}" --resume long.wav short.wav
same out/long.json want/long.json

# ---- a failure keeps the text so far, and finished inputs
for i in 1 2 3 4 5 6; do
    rm -rf out
    "$STENO" "${R[@]}" short.wav long.wav >"$T/out" 2>"$T/err" &
    pid=$!
    until [ -e out/short.json ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done
    mkdir -p out/long.json 2>/dev/null # a folder where a result comes
    wait $pid
    code=$?
    [ $code = 0 ] || break
done
is "a result that cannot be written exits 6" $code 6
err_has "out/long.json: cannot write"
err_has "steno: long.wav; the text up to 0:00:4"
err_has "stopped; 1 of 2 inputs are finished: the same command with --resume does the others"
rmdir out/long.json
expect 0 "the run is resumed when the result can be written" "${R[@]}" --resume short.wav long.wav
err_has "1 of 2 inputs were finished before"
err_has "long.wav: continues where it ended"
same out/long.json want/long.json
finish
