# steno: times count from the start of the file, where its sound begins later. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

have_ffmpeg "films" || exit 77
LATE=$SRC/tests/data/audio/late.mkv # "一二三四五", from 4.087 s on
t() { # t CODE CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -m "$MODEL" -l zh "$@"
}
first() { sed -n 2p "$T/out"; }
note='the sound begins 4.087 s after the file'"'"'s start'

t 0 "a film whose sound is late" "$LATE" -f srt
is "its cue is where a player shows it" "$(first)" "00:00:04,080 --> 00:00:06,740"
err_has "late.mkv: $note"
err_lines 1
cp "$T/out" cue
t 0 "without messages" -q "$LATE" -f srt
same "$T/out" cue
err_lines 0
t 0 "an edit list" -q "$SRC/tests/data/audio/late.mp4" -f srt
is "is followed, too" "$(first)" "00:00:04,020 --> 00:00:06,740"
cp "$SRC/tests/data/audio/late.mp4" other.mp4
t 0 "two of them in a batch" -q --batch-size 2 "$LATE" other.mp4 -f srt -o batch
same batch/late.srt cue
is "each has its own start" "$(sed -n 2p batch/other.srt)" "00:00:04,020 --> 00:00:06,740"
cat "$LATE" | "$STENO" -q -m "$MODEL" -l zh -f srt - >"$T/out" 2>"$T/err"
same "$T/out" cue
IN=$LATE t 0 "standard input" -q - -f srt
same "$T/out" cue

t 0 "an offset before the sound changes nothing" -q "$LATE" -f srt --offset-ms 1000
same "$T/out" cue
t 0 "nor does a duration that reaches its end" -q "$LATE" -f srt --offset-ms 1000 --duration-ms 6229
same "$T/out" cue
t 0 "a clip that begins before the sound" -q "$LATE" -f srt --clip-timestamps 0,20
is "has the same cue" "$(first)" "$(sed -n 2p cue)"
t 0 "words, too" -q "$LATE" -f json --word-timestamps
grep -o '"start": [0-9.]*' "$T/out" | awk '$2 < 4 { bad = 1 } END { exit bad || NR < 2 }' || bad "words begin behind 4 s" "$(cat "$T/out")"
expect 0 "its language is found behind the silence" -q -m "$MODEL" "$LATE" -f srt
same "$T/out" cue
expect 0 "and by detect" detect -q -m "$MODEL" "$LATE"
out_has "zh 0.99"
expect 0 "align" align -m "$MODEL" -l zh "$LATE" "一二三四五"
awk '$1 < 4000 || $2 > 7300 { bad = 1 } END { exit bad || NR != 5 }' "$T/out" || bad "words lie behind 4 s" "$(cat "$T/out")"
err_has "$note"
expect 0 "stream" stream -m "$MODEL" -l zh "$LATE"
grep -m 1 -o '"start":[0-9.]*' "$T/out" | grep -q '"start":4' || bad "the first text begins at 4 s" "$(head -1 "$T/out")"
err_has "$note"

F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ -d "$F" ]; then
    expect 0 "vad" vad -m "$F" "$LATE"
    awk '$1 < 4000 { bad = 1 } END { exit bad || NR < 1 }' "$T/out" || bad "spans lie behind 4 s" "$(cat "$T/out")"
    err_has "$note"
    t 0 "clips of voice activity" -q --vad fsmn --vad-model "$F" "$LATE" -f srt
    [[ $(first) == 00:00:04,* ]] || bad "they lie there" "$(cat "$T/out")"
fi

# The other programs' times count from the first sound, and they print no note.
for form in "whisper $LATE --model $MODEL --language zh --output_format srt" "whisper-cli -m $MODEL -l zh -osrt -of late $LATE"; do
    expect 0 "--compat ${form%% *}" --compat $form
    [[ $(sed -n 2p late.srt) == 00:00:00,* ]] || bad "its times begin with the sound" "$(cat late.srt)"
    err_lacks "begins"
    rm late.srt
done
finish
