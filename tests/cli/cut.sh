# steno: sounds of which something is missing. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() { # t CODE CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}
head -c 150000 "$DIGITS" >cut.wav # of 231020

t 0 "a cut file is transcribed, and told" cut.wav
err_has "steno: cut.wav: is cut short: it promises 7.22 s and holds 4.69 s"
err_lines 1
[ -s "$T/out" ] || bad "what is there is written" "nothing is"
t 1 "with --strict that exits 1, and is written all the same" --strict cut.wav -f txt,json -o out
[ -s out/cut.txt ] && [ -s out/cut.json ] || bad "both files are there" "$(ls out)"
t 0 "a whole file is no matter to --strict" --strict "$DIGITS"
err_lines 0
t 1 "one cut file of several is enough" --strict "$DIGITS" cut.wav
t 1 "in a batch, too" --strict -b 2 "$DIGITS" cut.wav
err_lines 1
t 0 "what is asked for is whole: nothing is missing" --strict --duration-ms 2000 "$DIGITS"
err_lines 0

for f in json verbose_json jsonl; do
    t 0 "$f says it" -f $f cut.wav
    out_has '"flags": ["truncated"]'
    t 0 "$f of a whole file" -f $f "$DIGITS"
    ! grep -q truncated "$T/out" || bad "a whole file is not called truncated" "$(cat "$T/out")"
done
t 0 "every line of jsonl has the key" -f jsonl "$DIGITS"
out_has '"flags": []}'
t 0 "each channel apart is printed once" --channels split cut.wav
err_lines 1
expect 0 "align tells it" align -q -m "$MODEL" -l zh cut.wav "六零七八"
err_has "is cut short"
expect 0 "translate tells it" translate -q -m "$MODEL" -l zh cut.wav
err_has "is cut short"

if have_ffmpeg "other containers"; then
    for f in de_22k.mp3 de_video.mkv de.w64 de.avi de.opus de.wma; do
        head -c $(($(stat -c %s "$SRC/tests/data/audio/$f") * 2 / 3)) "$SRC/tests/data/audio/$f" >"cut_$f"
        t 1 "$f is cut" --strict "cut_$f"
        err_has "cut_$f: is cut short: it "
    done
    head -c 2600 "$SRC/tests/data/audio/de.aac" >cut.aac
    t 1 "bare AAC promises nothing, but its last packet is damaged" --strict -f json cut.aac
    out_has '"flags": ["damaged"]'
    err_has "1 damaged packet"
fi
finish
