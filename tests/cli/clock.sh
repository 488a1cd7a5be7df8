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

t 0 "a film whose sound begins late is transcribed" "$LATE" -f srt
is "the cue stands where a player shows it" "$(first)" "00:00:04,080 --> 00:00:06,740"
err_has "late.mkv: $note"
err_lines 1
cp "$T/out" cue
t 0 "-q prints no line about the late sound" -q "$LATE" -f srt
same "$T/out" cue
err_lines 0
t 0 "a film with an edit list is transcribed" -q "$SRC/tests/data/audio/late.mp4" -f srt
is "the cue follows the edit list" "$(first)" "00:00:04,020 --> 00:00:06,740"
cp "$SRC/tests/data/audio/late.mp4" other.mp4
t 0 "two films are transcribed in a batch" -q --batch-size 2 "$LATE" other.mp4 -f srt -o batch
same batch/late.srt cue
is "the second film of a batch keeps its own start" "$(sed -n 2p batch/other.srt)" "00:00:04,020 --> 00:00:06,740"
cat "$LATE" | "$STENO" -q -m "$MODEL" -l zh -f srt - >"$T/out" 2>"$T/err"
same "$T/out" cue
IN=$LATE t 0 "standard input has the same cue" -q - -f srt
same "$T/out" cue

for how in split 0; do
    t 0 "--channels $how reads late sound" -q "$LATE" -f srt --channels $how
    same "$T/out" cue
done
t 2 "--diarize counts the channels of late sound" "$LATE" --diarize
err_has "and this has 1"
t 0 "an offset before the sound changes nothing" -q "$LATE" -f srt --offset-ms 1000
same "$T/out" cue
t 0 "a duration that reaches the sound's end changes nothing" -q "$LATE" -f srt --offset-ms 1000 --duration-ms 6229
same "$T/out" cue
t 0 "a clip may begin before the sound" -q "$LATE" -f srt --clip-timestamps 0,20
is "a clip that begins before the sound has the same cue" "$(first)" "$(sed -n 2p cue)"
t 0 "words of late sound have times" -q "$LATE" -f json --word-timestamps
grep -o '"start": [0-9.]*' "$T/out" | awk '$2 < 4 { bad = 1 } END { exit bad || NR < 2 }' || bad "words begin behind 4 s" "$(cat "$T/out")"
expect 0 "the language is found behind the silence" -q -m "$MODEL" "$LATE" -f srt
same "$T/out" cue
expect 0 "detect finds the language behind the silence" detect -q -m "$MODEL" "$LATE"
out_has "zh 0.99"
expect 0 "align reads late sound" align -m "$MODEL" -l zh "$LATE" "一二三四五"
awk '$1 < 4000 || $2 > 7300 { bad = 1 } END { exit bad || NR != 5 }' "$T/out" || bad "words lie behind 4 s" "$(cat "$T/out")"
err_has "$note"
expect 0 "stream reads late sound" stream -m "$MODEL" -l zh "$LATE"
grep -m 1 -o '"start":[0-9.]*' "$T/out" | grep -q '"start":4' || bad "the first text begins at 4 s" "$(head -1 "$T/out")"
err_has "$note"

F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ -d "$F" ]; then
    expect 0 "vad reads late sound" vad -m "$F" "$LATE"
    awk '$1 < 4000 { bad = 1 } END { exit bad || NR < 1 }' "$T/out" || bad "spans lie behind 4 s" "$(cat "$T/out")"
    err_has "$note"
    t 0 "--vad reads late sound" -q --vad fsmn --vad-model "$F" "$LATE" -f srt
    [[ $(first) == 00:00:04,* ]] || bad "clips of voice activity lie behind 4 s" "$(cat "$T/out")"
fi

# ---- AVI: a stream's offset stands in its head (dwStart)
# avi START < PCM > AVI: 16 kHz, mono, 16 bits; the sound begins START samples late
avi() {
    local n chunk=32000 at m
    cat >pcm
    n=$(stat -c %s pcm)
    for ((at = 0; at < n; at += chunk)); do
        m=$((n - at < chunk ? n - at : chunk))
        printf 00wb; le 4 $m; tail -c +$((at + 1)) pcm | head -c $m
    done >movi
    printf RIFF; le 4 $((4 + 8 + 4 + 64 + 8 + 4 + 64 + 24 + 8 + 4 + $(stat -c %s movi))); printf 'AVI LIST'
    le 4 $((4 + 64 + 8 + 4 + 64 + 24)); printf 'hdrlavih'
    le 4 56; le 4 1000000; le 4 32000; le 4 0; le 4 0; le 4 1; le 4 0; le 4 1; head -c 28 /dev/zero
    printf LIST; le 4 $((4 + 64 + 24)); printf 'strlstrh'
    le 4 56; printf auds; head -c 16 /dev/zero; le 4 1; le 4 16000; le 4 "$1"; le 4 $((n / 2))
    le 4 32000; le 4 0; le 4 2; head -c 8 /dev/zero
    printf strf; le 4 16; le 2 1; le 2 1; le 4 16000; le 4 32000; le 2 2; le 2 16
    printf LIST; le 4 $((4 + $(stat -c %s movi))); printf movi; cat movi
}
tail -c +45 "$DIGITS" | avi 0 >prompt.avi
tail -c +45 "$DIGITS" | avi 64000 >late.avi
t 0 "an AVI without an offset is transcribed" prompt.avi -f srt
err_lines 0
cp "$T/out" cue
t 0 "an AVI without an offset has the cues of its sound" "$DIGITS" -f srt
same "$T/out" cue
# later SECONDS < SRT: every time is SECONDS later
later() {
    awk -v by="$1" '/-->/ { for (i = 1; i < 4; i += 2) $i = substr($i, 1, 6) sprintf("%02d", substr($i, 7, 2) + by) substr($i, 9) }
        { print }'
}
later 4 <cue >late
t 0 "an AVI with an offset is transcribed" late.avi -f srt
same "$T/out" late
err_has "late.avi: the sound begins 4.000 s after the file's start"
cat late.avi | "$STENO" -q -m "$MODEL" -l zh -f srt - >"$T/out" 2>"$T/err"
same "$T/out" late
t 0 "offset and duration count from the file's start" -q late.avi -f srt --offset-ms 2000 --duration-ms 8000
out_has "$(sed -n 2p late)"
t 0 "clips count from the file's start" -q late.avi -f srt --clip-timestamps 2,60
is "a clip that begins before the sound has the first cue" "$(first)" "$(sed -n 2p late)"

# ---- a run that was interrupted is resumed by the same clock
long_speech 12 >long.wav
tail -c +45 long.wav | avi 64000 >long.avi
cp "$SRC/tests/data/audio/late.mkv" film.mkv
W=(-q -m "$MODEL" -l zh -f srt,json long.avi film.mkv)
expect 0 "a run without an interruption writes its files" "${W[@]}" -o want
is "the first cue begins behind the offset" "$(sed -n 2p want/long.srt | cut -c 1-8)" "00:00:04"
for i in 1 2 3 4 5 6; do
    rm -rf out
    env --default-signal=INT "$STENO" "${W[@]}" -o out >"$T/out" 2>"$T/err" &
    pid=$!
    until [ "$(cat out/.steno_resume/* 2>/dev/null | wc -c)" -gt 2000 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done
    kill -INT $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -z "$(ls out/.steno_resume 2>/dev/null)" ] || break
done
[ -n "$(ls out/.steno_resume 2>/dev/null)" ] || bad "a run is interrupted before its end" "all were over before"
expect 0 "--resume finishes the run" "${W[@]}" -o out --resume
for file in want/*; do same "out/${file##*/}" "$file"; done

# The other programs' times count from the first sound, and they print no note.
for form in "whisper $LATE --model $MODEL --language zh --output_format srt" "whisper-cli -m $MODEL -l zh -osrt -of late $LATE"; do
    expect 0 "--compat ${form%% *} reads late sound" --compat $form
    [[ $(sed -n 2p late.srt) == 00:00:00,* ]] || bad "times of --compat ${form%% *} begin with the sound" "$(cat late.srt)"
    err_lacks "begins"
    rm late.srt
done
finish
