# steno: sounds that are cut short. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() { # t CODE CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}
head -c 150000 "$DIGITS" >cut.wav # of 231020

t 0 "a cut file is transcribed and reported" cut.wav
err_has "steno: cut.wav: is cut short: it promises 7.22 s and holds 4.69 s"
err_lines 1
[ -s "$T/out" ] || bad "the text of a cut file is printed" "nothing is"
t 1 "--strict exits 1 on a cut file and writes its results" --strict cut.wav -f txt,json -o out
[ -s out/cut.txt ] && [ -s out/cut.json ] || bad "--strict writes both files of a cut file" "$(ls out)"
t 0 "--strict exits 0 on a whole file" --strict "$DIGITS"
err_lines 0
t 1 "--strict exits 1 when one of two files is cut" --strict "$DIGITS" cut.wav
t 1 "--strict exits 1 when one of two files in a batch is cut" --strict -b 2 "$DIGITS" cut.wav
err_lines 1
t 0 "--strict exits 0 when the requested part is whole" --strict --duration-ms 2000 "$DIGITS"
err_lines 0

for f in json verbose_json jsonl; do
    t 0 "$f flags a cut file" -f $f cut.wav
    out_has '"flags": ["truncated"]'
    t 0 "$f of a whole file is written" -f $f "$DIGITS"
    ! grep -q truncated "$T/out" || bad "$f of a whole file has no flag" "$(cat "$T/out")"
done
t 0 "jsonl of a whole file has an empty list of flags" -f jsonl "$DIGITS"
out_has '"flags": []}'
t 0 "a cut file with channels apart is reported once" --channels split cut.wav
err_lines 1
expect 0 "align reports a cut file" align -q -m "$MODEL" -l zh cut.wav "六零七八"
err_has "is cut short"
expect 0 "translate reports a cut file" translate -q -m "$MODEL" -l zh cut.wav
err_has "is cut short"

if have_ffmpeg "other containers"; then
    for f in de_22k.mp3 de_video.mkv de.w64 de.avi de.opus de.wma; do
        head -c $(($(stat -c %s "$SRC/tests/data/audio/$f") * 2 / 3)) "$SRC/tests/data/audio/$f" >"cut_$f"
        t 1 "a cut $f is reported" --strict "cut_$f"
        err_has "cut_$f: is cut short: it "
    done
    head -c 2600 "$SRC/tests/data/audio/de.aac" >cut.aac
    t 1 "a cut AAC file has a damaged packet" --strict -f json cut.aac
    out_has '"flags": ["damaged"]'
    err_has "1 damaged packet"
    for table in stts stsz stsc stco; do # a table of 2,147,483,647 entries
        cp "$SRC/tests/data/audio/late.mp4" sizes.mp4
        at=$(grep -abo $table sizes.mp4 | head -1 | cut -d : -f 1)
        [ $table = stsz ] && at=$((at + 4)) # a common size comes before the count
        printf '\177\377\377\377' | dd of=sizes.mp4 bs=1 seek=$((at + 8)) conv=notrunc status=none
        t 4 "a film with too many entries in $table is damaged" sizes.mp4
        err_has "sizes.mp4: is damaged"
    done
fi
finish
