# steno: text while somebody speaks. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

DIGITS=$SRC/tests/data/demo.wav
untimed() { sed 's/"latency_ms":[^}]*/"latency_ms":0/' "$1"; } # what comes through a pipe is as late as the clock says
spaced() { # final words, with their spaces
    sed -n 's/^{"type":"final".*"text":"\([^"]*\)","spaces":\([0-9]*\).*/\2 \1/p' "$T/out" |
        awk '{ n = $1; sub(/^[0-9]+ /, ""); printf "%*s%s", n, "", $0 }'
}
texts() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "${2-$T/out}"; }

expect 0 "a file, as it would come" stream -q -m "$MODEL" -l en "$DIGITS"
out_has '{"type":"endpoint","turn":1,"start":0.000,'
is "one end" "$(texts endpoint | wc -l)" "1"
is "final words are the turn's text" "$(texts final | tr '\n' ' ' | sed 's/ $//')" "$(texts endpoint)"
is "so are they with their spaces" "$(spaced)" "$(texts endpoint)"
cp "$T/out" whole
untimed whole >"$T/untimed"
tail -c +45 "$DIGITS" >samples.raw
expect 0 "samples of another program" stream -q -m "$MODEL" -l en --raw s16le samples.raw
same "$T/out" whole
for n in 1 5 4096; do
    dd if=samples.raw bs=$((n * 997)) 2>/dev/null | "$STENO" stream -q -m "$MODEL" -l en --raw s16le - >"$T/out"
    untimed "$T/out" >piped
    same piped "$T/untimed"
done
cat "$DIGITS" | "$STENO" stream -q -m "$MODEL" -l en >"$T/out"
untimed "$T/out" >piped
same piped "$T/untimed"
# What is said comes as text and as subtitles, too; the words are the same.
expect 0 "as text" stream -q -m "$MODEL" -l en -f txt "$DIGITS"
is "a line for a turn" "$(cat "$T/out")" "$(texts endpoint whole)"
for f in srt vtt; do
    expect 0 "as $f" stream -q -m "$MODEL" -l en -f $f --max-turn 2 "$DIGITS"
    cp "$T/out" turns.$f
    expect 0 "cues of two turns follow each other" lint-subs turns.$f
    is "its words" "$(grep -v -e '-->' -e '^[0-9]*$' -e WEBVTT turns.$f | tr '\n' ' ' | sed 's/ $//')" "zero nine one eight. two seven."
done
is "cues are numbered on" "$(grep -cx -e 1 -e 2 turns.srt)" "2"
is "one head" "$(grep -c WEBVTT turns.vtt)" "1"
silence 2 >silence.wav
for f in txt srt; do
    expect 0 "silence as $f" stream -q -m "$MODEL" -l en -f $f silence.wav
    out_empty
done
expect 0 "text is UTF-8" stream -q -m "$MODEL" -l zh "$SRC/tests/data/audio/zh_phrases.wav"
out_has '"text":"六零七八。零三九。五一。"'

# What is heard can be helped along, and translated.
expect 0 "a translation" stream -q -m "$MODEL" -l zh --task translate -f txt "$SRC/tests/data/audio/zh_phrases.wav"
out_has "six zero seven eight."
expect 0 "hot words" stream -q -m "$MODEL" -l en -f txt --hotwords "six" --hotwords-boost 10 "$DIGITS"
out_has "seven six."
expect 0 "a prompt" stream -q -m "$MODEL" -l en -f txt --initial-prompt "eins zwei drei vier eins zwei drei vier" "$DIGITS"
cp "$T/out" prompted
expect 0 "beams" stream -q -m "$MODEL" -l en -f txt --beam-size 5 "$DIGITS"
out_has "zero nine one eight. two seven."
expect 2 "no hot word" stream -q -m "$MODEL" --hotwords , "$DIGITS"
err_has "--hotwords: it has no words"
expect 2 "too many beams" stream -q -m "$MODEL" --beam-size 33 "$DIGITS"
for o in "--vad-threshold 0.4" "--vad-min-silence-ms 300"; do
    expect 2 "a pause without a detector" stream -q -m "$MODEL" $o "$DIGITS"
    err_has "${o% *} needs --vad"
done
expect 2 "a format that is none of these" stream -q -m "$MODEL" -f lrc "$DIGITS"
err_has "lrc"

# Through a pipe whose sound comes at its own speed: late is what lies between a word's arrival and its line. A pause of who writes counts
# for nothing.
if ! sanitized; then
    { tail -c +45 "$DIGITS" | head -c 64000; sleep 3; tail -c +45 "$DIGITS" | tail -c +64001; } |
        "$STENO" stream -q -m "$MODEL" -l en --raw s16le - >"$T/out"
    is "its words" "$(texts endpoint)" "$(texts endpoint whole)"
    grep -c '"latency_ms":[0-9]' "$T/out" >/dev/null || bad "lines are late by the clock" "$(cat "$T/out")"
    sed -n '/"type":"endpoint"/s/.*"latency_ms":\(-*[0-9]*\)}/\1/p' "$T/out" | awk '$1 < 0 || $1 >= 2500 { exit 1 }' ||
        bad "the pause of a pipe is no latency" "$(cat "$T/out")"
fi

expect 0 "shorter turns" stream -q -m "$MODEL" -l en --max-turn 2 --step 0.5 "$DIGITS"
is "two of them" "$(texts endpoint | wc -l)" "2"

# Samples of other forms are what a sound file of them is.
{ head -c 24 "$DIGITS"; le 4 22050; le 4 44100; tail -c +33 "$DIGITS"; } >rate.wav
if have_ffmpeg "other rates"; then
    expect 0 "samples of another rate" stream -q -m "$MODEL" -l en --raw s16le --raw-rate 22050 samples.raw
    cp "$T/out" rate
    expect 0 "as a file" stream -q -m "$MODEL" -l en rate.wav
    same rate "$T/out"
    IN=samples.raw expect 0 "in two channels" stream -q -m "$MODEL" -l en --raw s16le --raw-channels 2 --raw-rate 8000 -
    forms="de_22k.mp3 fr.flac de.aac de.webm de_video.mp4 de_8k.wav"
    ! in_full || forms="$forms de_stereo.ogg de.opus de_video.mkv de.m4a de.aiff"
    for f in $forms; do
        expect 0 "$f" stream -q -m "$MODEL" -l de "$SRC/tests/data/audio/$f"
        cp "$T/out" file
        cat "$SRC/tests/data/audio/$f" | "$STENO" stream -q -m "$MODEL" -l de >"$T/out"
        is "$f in a pipe" "$(untimed "$T/out")" "$(untimed file)"
    done
    # Lines come while the pipe is open.
    mkfifo flac
    "$STENO" stream -q -m "$MODEL" -l fr flac >"$T/out" 2>"$T/err" &
    pid=$!
    exec 6>flac
    head -c 65000 "$SRC/tests/data/audio/fr.flac" >&6
    for _ in $(seq 300); do
        grep -q partial "$T/out" && break
        sleep 0.1
    done
    [ -n "$(texts partial)" ] || bad "words come while the pipe is open" "$(cat "$T/out")"
    tail -c +65001 "$SRC/tests/data/audio/fr.flac" >&6
    exec 6>&-
    wait $pid
    is "its end" $? 0
    head -c 9000 /dev/zero >many.raw
    for n in 8 9 63 64; do expect 0 "$n channels" stream -q -m "$MODEL" --raw s16le --raw-channels $n many.raw; done
    for n in 0 65 99999999999999999999; do
        expect 2 "$n channels" stream -q -m "$MODEL" --raw s16le --raw-channels $n many.raw
        err_has "$n is out of range; it takes 1 to 64"
    done
    head -c 3200 samples.raw >nothing
    for r in 1000 384000; do expect 0 "the least and the highest rate" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done
fi
expect 2 "a rate of no samples" stream -q -m "$MODEL" --raw-rate 8000 "$DIGITS"
err_has "--raw-rate and --raw-channels need --raw"
for r in 999 384001; do expect 2 "a rate beyond them" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done

# At the speed of the sound: the same words, that of the whole sound, no sooner than they were said.
SECONDS=0
expect 0 "as if it were spoken now" stream -q -m "$MODEL" -l en --realtime "$DIGITS"
[ $SECONDS -ge 3 ] || bad "a sound of 3.7 s takes its time" "$SECONDS s"
is "its words" "$(texts endpoint)" "$(texts endpoint whole)"
is "lines that say how late they are" "$(grep -cE '"latency_ms":[0-9]+}$' "$T/out")" "$(grep -c . "$T/out")"

# Eleven seconds as if they were spoken now: what is told is about sound of less than a second ago, and what is final is what the whole
# says. Nobody waits for the clock, but where a sanitizer has to be loaded first.
{
    tail -c +45 "$SRC/tests/data/golden/en_twelve.wav"
    head -c 16000 /dev/zero
    tail -c +45 "$DIGITS"
    head -c 352000 /dev/zero
} | head -c 352000 >eleven.raw
wav <eleven.raw >eleven.wav
if sanitized; then expect 0 "eleven seconds" stream -q -m "$MODEL" -l en --realtime eleven.wav
else LD_PRELOAD=$STENO_NO_WAIT expect 0 "eleven seconds" stream -q -m "$MODEL" -l en --realtime eleven.wav
fi
"$STENO" -q -m "$MODEL" -l en -f txt eleven.wav | tr '\n' ' ' | sed 's/ $//' >offline
is "what is final is the text of the whole" "$(texts final | tr '\n' ' ' | sed 's/ $//')" "$(cat offline)"
is "and so is the end of the turn" "$(texts endpoint)" "$(cat offline)"
[ "$(texts partial | wc -l)" -ge 8 ] || bad "words come all the while" "$(cat "$T/out")"
behind() { # behind KIND: how many ms ago the sound had ended that was heard for each line
    grep "\"type\":\"$1\"" "$T/out" |
        sed -n 's/.*"end":\([0-9.]*\),.*"heard":\([0-9.]*\).*"latency_ms":\([0-9]*\)}/\1 \2 \3/p' | awk '{ print $3 - ($2 - $1) * 1000 }'
}
if ! sanitized; then
    behind partial | awk '$1 < 0 || $1 >= 1000 { bad = 1 } END { exit bad || !NR }' ||
        bad "partial words are less than a second behind" "$(behind partial | tr '\n' ' ')"
fi

cp "$SRC/tests/data/audio/zh_phrases.wav" phrases.wav
"$STENO" -q -m "$MODEL" -l zh --output-format txt phrases.wav | tr -d '\n' >offline
expect 0 "phrases" stream -q -m "$MODEL" -l zh phrases.wav
is "text of the whole" "$(printf "$(texts endpoint)")" "$(cat offline)"
is "in final words" "$(printf "$(texts final | tr -d '\n')")" "$(cat offline)"
is "with the spaces between them" "$(printf "$(spaced)")" "$(cat offline)"
awk -F '"latency_ms":' '$2 + 0 < 0 { exit 1 }' "$T/out" || bad "nothing is told before it is said" "$(cat "$T/out")"
silence 3 >silence.wav
expect 0 "nobody speaks" stream -q -m "$MODEL" -l en silence.wav
[ -z "$(texts final)" ] || bad "no final words" "$(texts final)"
head -c 0 samples.raw >nothing.raw
expect 0 "no sound" stream -q -m "$MODEL" --raw s16le nothing.raw
out_empty
expect 4 "a missing file" stream -q -m "$MODEL" none.wav
err_has none.wav
expect 4 "no samples" stream -q -m "$MODEL" --raw s16le none.raw
err_has none.raw
expect 2 "two files" stream -m "$MODEL" a.wav b.wav
expect 2 "a step that is too short" stream -m "$MODEL" --step 0.01 a.wav
err_has "--step"
for s in 0.2 10; do expect 0 "the least and the longest step" stream -q -m "$MODEL" -l en --step $s "$DIGITS"; done
for s in 0.19 10.1; do expect 2 "a step beyond them" stream -q -m "$MODEL" --step $s "$DIGITS"; done
for s in 2 30; do expect 0 "the shortest and the longest turn" stream -q -m "$MODEL" -l en --max-turn $s "$DIGITS"; done
for s in 1.9 30.1; do expect 2 "a turn beyond them" stream -q -m "$MODEL" --max-turn $s "$DIGITS"; done
expect 2 "a detector's model without the detector" stream -m "$MODEL" --vad-model x "$DIGITS"
err_has "--vad-model needs"
HF_HUB_CACHE=$PWD/none expect 2 "a detector that is nowhere" stream -q -m "$MODEL" --vad silero "$DIGITS"
err_has "--vad silero needs --vad-model"

# SIGTERM, as SIGINT, which the shell keeps from what it puts behind: what was heard is final.
mkfifo pipe
"$STENO" stream -q -m "$MODEL" -l en --raw s16le pipe >"$T/out" 2>"$T/err" &
pid=$!
exec 7>pipe
cat samples.raw >&7
for _ in $(seq 100); do
    grep -q '"type":"partial"' "$T/out" && break
    sleep 0.1
done
sleep 1
kill -TERM $pid
wait $pid
is "its exit code" $? 143
exec 7>&-
is "the turn is told to its end" "$(texts endpoint | wc -l)" "1"

F=${STENO_SHARED:-/none}/material/funasr
if [ -d "$F" ]; then
    V="--vad silero --vad-model $F/silero/ggml-silero-v6.2.0.bin"
    expect 0 "turns by Silero VAD" stream -q -m "$MODEL" -l en $V "$F/audio/vad/pauses.wav"
    [ "$(texts endpoint | wc -l)" -gt 8 ] || bad "a turn for each stretch" "$(texts endpoint)"
    out_has '"type":"endpoint","turn":1,"start":1.282,"end":4.542,"text":"five six six five nine'
    cp "$T/out" whole
    tail -c +45 "$F/audio/vad/pauses.wav" >samples.raw
    expect 0 "a longer pause ends a turn" stream -q -m "$MODEL" -l en $V --vad-min-silence-ms 2000 "$F/audio/vad/pauses.wav"
    [ "$(texts endpoint | wc -l)" -lt "$(texts endpoint whole | wc -l)" ] || bad "fewer turns" "$(texts endpoint)"
    expect 0 "nothing is that sure to be speech" stream -q -m "$MODEL" -l en $V --vad-threshold 1 "$F/audio/vad/pauses.wav"
    none "no turn" "$(texts endpoint)"
    expect 0 "the same from samples" stream -q -m "$MODEL" -l en --raw s16le $V samples.raw
    same "$T/out" whole
    V="--vad fsmn --vad-model $F/fsmn-vad/pt"
    expect 0 "a CTC head, and FSMN-VAD" stream -q -m "$F/models/sensevoice/pt" $V "$F/audio/vad/pauses.wav"
    is "two turns" "$(texts endpoint | wc -l)" "2"
    expect 2 "the wrong kind" stream -q -m "$MODEL" --vad silero --vad-model "$F/fsmn-vad/pt" "$DIGITS"
fi
finish
