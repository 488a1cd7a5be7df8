# steno: what is kept of a run cannot be written, or is damaged, cut or of another form: results are written, and it is told.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
long_speech 6 >long.wav # two windows
cp "$DIGITS" short.wav
R=(-m "$MODEL" -l zh -f json)
expect 0 "what it is" -q "${R[@]}" -o want long.wav
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
    [ -e "$(kept)" ] || bad "a run is ended" "all of $i were over before"
    [ -z "$(kept)" ] || cp "$(kept)" journal
}
end_run
err_has "stopped; the text up to 0:0"
err_has "is kept in out/.steno_resume: the same command with --resume continues there"
name=$(basename "$(kept)")
# with CLAIM SAID: the journal is as this says, and is gone on with
with() {
    expect 0 "$1" "${R[@]}" -o out --resume long.wav
    err_has "$2"
    same out/long.json want/long.json
    rm -rf out
    mkdir -p out/.steno_resume
}
with "as it was left" "long.wav: continues where it ended"
cp journal "out/.steno_resume/$name"
expect 0 "without --resume" "${R[@]}" -o out long.wav
err_has "long.wav: an interrupted run has left a journal; without --resume it starts again"
[ ! -e out/.steno_resume ] || bad "nothing is left then" "$(ls out/.steno_resume)"

# ---- damage
rm out/long.json # which says itself that it is finished
mkdir -p out/.steno_resume
printf 'steno journal 1\n\1\2\3' >"out/.steno_resume/$name"
with "of another version of its form" "long.wav: its journal out/.steno_resume/$name is of another version of steno; it starts again"
: >"out/.steno_resume/$name"
with "empty" "is damaged; it starts again"
head -c 15 journal >"out/.steno_resume/$name"
with "cut in its beginning" "is damaged; it starts again"
head -c 100 journal >"out/.steno_resume/$name"
with "cut in its key" "is damaged; it starts again"
{ head -c 40 journal; printf X; tail -c +42 journal; } >"out/.steno_resume/$name"
with "another letter in its key" "is damaged; it starts again"
head -c -1 journal >"out/.steno_resume/$name"
with "cut in its last piece" "long.wav: "
{ head -c -40 journal; printf '\377\377\377\377'; tail -c 36 journal; } >"out/.steno_resume/$name"
with "a damaged piece at the end" "its journal"
grep -qE 'continues where it ended, as far as its journal is not damaged|is damaged; it starts again' "$T/err" ||
    bad "damage is told" "$(cat "$T/err")"
head -c 5000 /dev/urandom >"out/.steno_resume/$name"
with "something else" "is damaged; it starts again"
truncate -s 268435457 "out/.steno_resume/$name" # a byte more than a journal may have
with "too large" "it is too large. Results are still written, but --resume cannot continue this input"

# ---- what decides is told
cp journal "out/.steno_resume/$name"
touch -d "1 hour ago" long.wav
with "another file" "its journal is of another run (the file has changed); it starts again"
end_run
cp "$MODEL" other.bin
expect 0 "another model" -m other.bin -l zh -f json -o out --resume long.wav
err_has "its journal is of another run (it was another model); it starts again"
end_run
expect 0 "other arithmetic" "${R[@]}" --compute f32 -o out --resume long.wav
err_has "its journal is of another run (it was another processor, or --compute); it starts again"
end_run
expect 0 "other options" "${R[@]}" --beam-size 2 -o out --resume long.wav
err_has "its journal is of another run (it was with other options); it starts again"
end_run
expect 0 "other threads are no other run" "${R[@]}" -t 1 -o out --resume long.wav
err_has "long.wav: continues where it ended"
same out/long.json want/long.json

# ---- what stands in its place
R+=(-o out)
rm -rf out
# in_place CLAIM SAID [--resume]: nothing can be kept, and the results are there
in_place() {
    local claim=$1 said=$2
    shift 2
    rm -f out/long.json # which says itself that it is finished
    expect 0 "$claim" "${R[@]}" "$@" long.wav
    err_has "$said"
    is "it is printed once" "$(grep -c "Results are still written" "$T/err")" 1
    same out/long.json want/long.json
    rm out/long.json
    expect 0 "$claim, quiet" -q "${R[@]}" "$@" long.wav
    err_lines 0
}
mkdir -p "out/.steno_resume/$name/x"
in_place "a folder" "out/.steno_resume/$name: it is not a regular file; remove it. Results are still written"
in_place "a folder, to go on with" "out/.steno_resume/$name: it is not a regular file; remove it. Results" --resume
rm -r out/.steno_resume/*
echo precious >precious
ln -s ../../precious "out/.steno_resume/$name"
in_place "a link" "out/.steno_resume/$name: it is not a regular file; remove it" --resume
is "what it points at stays" "$(cat precious)" precious
rm -rf out/.steno_resume
mkdir out/.steno_resume
mkfifo "out/.steno_resume/$name"
in_place "a FIFO" "out/.steno_resume/$name: it is not a regular file; remove it"
rm -rf out/.steno_resume
echo "no folder" >out/.steno_resume
in_place "a file in the folder's place" "Results are still written, but --resume cannot continue this input"
in_place "the same, to go on with" "out/.steno_resume/$name: Not a directory" --resume
rm out/.steno_resume
if [ "$(id -u)" -ne 0 ]; then
    mkdir out/.steno_resume
    touch out/.steno_resume/other # a folder with nothing in it goes
    chmod 500 out/.steno_resume
    in_place "a folder that may not be written" "out/.steno_resume/$name: Permission denied. Results"
    chmod 700 out/.steno_resume
    cp journal "out/.steno_resume/$name"
    chmod 000 "out/.steno_resume/$name"
    in_place "a file that may not be read" "out/.steno_resume/$name: Permission denied. Results" --resume
    rm -rf out/.steno_resume
else
    echo "(not tried: what may not be read or written; root may)"
fi

# ---- no space: no file may be larger than a kilobyte
rm -rf out
( ulimit -f 1; exec "$STENO" -m "$MODEL" -l zh -f txt -o out long.wav ) >"$T/out" 2>"$T/err"
is "where there is no space for it, the result is written" $? 0
err_has "Results are still written"
[ -s out/long.txt ] || bad "the result is there" "$(ls out)"
( ulimit -f 2; exec "$STENO" "${R[@]}" -f json,txt --resume long.wav short.wav ) >"$T/out" 2>"$T/err"
is "where there is no space for a result the exit code says so" $? 6
err_has "out/long.json: cannot write"
rm -rf out
expect 0 "with space it goes on" "${R[@]}" --resume long.wav short.wav
same out/long.json want/long.json

# ---- a failure keeps what was found, and finished inputs
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
is "a result that cannot be written" $code 6
err_has "out/long.json: cannot write"
err_has "steno: long.wav; the text up to 0:00:4"
err_has "stopped; 1 of 2 inputs are finished: the same command with --resume does the others"
rmdir out/long.json
expect 0 "it is written behind that" "${R[@]}" --resume short.wav long.wav
err_has "1 of 2 inputs were finished before"
err_has "long.wav: continues where it ended"
same out/long.json want/long.json
finish
