# steno: text during speech. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

DIGITS=$SRC/tests/data/demo.wav
untimed() { sed 's/"latency_ms":[^}]*/"latency_ms":0/' "$1"; } # latencies of a pipe depend on the clock
spaced() { # final words, with their spaces
    sed -n 's/^{"type":"final".*"text":"\([^"]*\)","spaces":\([0-9]*\).*/\2 \1/p' "$T/out" |
        awk '{ n = $1; sub(/^[0-9]+ /, ""); printf "%*s%s", n, "", $0 }'
}
texts() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "${2-$T/out}"; }

for m in tests/data/qwen3_asr models/parakeet-digits; do
    expect 0 "$m decodes turns" stream -q -m "$SRC/$m" "$DIGITS"
    is "$m prints the end of the turn" "$(texts endpoint | wc -l)" 1
done
expect 0 "a file is read at the pace of its decoding" stream -q -m "$MODEL" -l en "$DIGITS"
out_has '{"type":"endpoint","turn":1,"start":0.000,'
is "the file has one turn" "$(texts endpoint | wc -l)" "1"
is "final words are the turn's text" "$(texts final | tr '\n' ' ' | sed 's/ $//')" "$(texts endpoint)"
is "the final words with their spaces are the turn's text" "$(spaced)" "$(texts endpoint)"
cp "$T/out" whole
untimed whole >"$T/untimed"
tail -c +45 "$DIGITS" >samples.raw
expect 0 "samples of another program are read" stream -q -m "$MODEL" -l en --raw s16le samples.raw
same "$T/out" whole
for n in 1 5 4096; do
    dd if=samples.raw bs=$((n * 997)) 2>/dev/null | "$STENO" stream -q -m "$MODEL" -l en --raw s16le - >"$T/out"
    untimed "$T/out" >piped
    same piped "$T/untimed"
done
cat "$DIGITS" | "$STENO" stream -q -m "$MODEL" -l en >"$T/out"
untimed "$T/out" >piped
same piped "$T/untimed"
# Text and subtitles have the same words.
expect 0 "-f txt is accepted" stream -q -m "$MODEL" -l en -f txt "$DIGITS"
is "-f txt prints a line for a turn" "$(cat "$T/out")" "$(texts endpoint whole)"
for f in srt vtt; do
    expect 0 "-f $f is accepted" stream -q -m "$MODEL" -l en -f $f --max-turn 2 "$DIGITS"
    cp "$T/out" turns.$f
    expect 0 "lint-subs accepts $f of two turns" lint-subs turns.$f
    is "$f has the words" "$(grep -v -e '-->' -e '^[0-9]*$' -e WEBVTT turns.$f | tr '\n' ' ' | sed 's/ $//')" \
        "zero nine one eight. two seven."
done
is "the cues of the second turn have the next numbers" "$(grep -cx -e 1 -e 2 turns.srt)" "2"
is "vtt has one head" "$(grep -c WEBVTT turns.vtt)" "1"
silence 2 >silence.wav
for f in txt srt; do
    expect 0 "silence gives no $f" stream -q -m "$MODEL" -l en -f $f silence.wav
    out_empty
done
expect 0 "the text is UTF-8" stream -q -m "$MODEL" -l zh "$SRC/tests/data/audio/zh_phrases.wav"
out_has '"text":"六零七八。零三九。五一。"'

# Options of decoding, and translation.
expect 0 "--task translate translates" stream -q -m "$MODEL" -l zh --task translate -f txt "$SRC/tests/data/audio/zh_phrases.wav"
out_has "six zero seven eight."
expect 0 "hot words change the text" stream -q -m "$MODEL" -l en -f txt --hotwords "six" --hotwords-boost 10 "$DIGITS"
out_has "seven six."
expect 0 "a prompt is accepted" stream -q -m "$MODEL" -l en -f txt --initial-prompt "eins zwei drei vier eins zwei drei vier" "$DIGITS"
cp "$T/out" prompted
expect 0 "beams are accepted" stream -q -m "$MODEL" -l en -f txt --beam-size 5 "$DIGITS"
out_has "zero nine one eight. two seven."
expect 2 "hot words without a word are refused" stream -q -m "$MODEL" --hotwords , "$DIGITS"
err_has "--hotwords: it has no words"
expect 2 "too many beams are refused" stream -q -m "$MODEL" --beam-size 33 "$DIGITS"
for o in "--vad-threshold 0.4" "--vad-min-silence-ms 300"; do
    expect 2 "$o is refused without a detector" stream -q -m "$MODEL" $o "$DIGITS"
    err_has "${o% *} needs --vad"
done
expect 2 "a format that streams do not have is refused" stream -q -m "$MODEL" -f lrc "$DIGITS"
err_has "lrc"

# Through a pipe whose sound comes at its own speed: latency is the time from a word's arrival to its line. A pause of the writer does
# not count.
if ! sanitized; then
    { tail -c +45 "$DIGITS" | head -c 64000; sleep 3; tail -c +45 "$DIGITS" | tail -c +64001; } |
        "$STENO" stream -q -m "$MODEL" -l en --raw s16le - >"$T/out"
    is "a pipe with a pause has the words of the file" "$(texts endpoint)" "$(texts endpoint whole)"
    grep -c '"latency_ms":[0-9]' "$T/out" >/dev/null || bad "lines are late by the clock" "$(cat "$T/out")"
    sed -n '/"type":"endpoint"/s/.*"latency_ms":\(-*[0-9]*\)}/\1/p' "$T/out" | awk '$1 < 0 || $1 >= 2500 { exit 1 }' ||
        bad "the pause of a pipe is no latency" "$(cat "$T/out")"
fi

expect 0 "--max-turn 2 is accepted" stream -q -m "$MODEL" -l en --max-turn 2 --step 0.5 "$DIGITS"
is "a maximum of 2 s makes two turns" "$(texts endpoint | wc -l)" "2"

# Samples of other rates and channels equal a sound file of them.
{ head -c 24 "$DIGITS"; le 4 22050; le 4 44100; tail -c +33 "$DIGITS"; } >rate.wav
if have_ffmpeg "other rates"; then
    expect 0 "samples of another rate are read" stream -q -m "$MODEL" -l en --raw s16le --raw-rate 22050 samples.raw
    cp "$T/out" rate
    expect 0 "a file of another rate gives the same lines" stream -q -m "$MODEL" -l en rate.wav
    same rate "$T/out"
    IN=samples.raw expect 0 "samples in two channels are read" stream -q -m "$MODEL" -l en --raw s16le --raw-channels 2 --raw-rate 8000 -
    forms="de_22k.mp3 fr.flac de.aac de.webm de_video.mp4 de_8k.wav"
    ! in_full || forms="$forms de_stereo.ogg de.opus de_video.mkv de.m4a de.aiff"
    for f in $forms; do
        expect 0 "$f is read" stream -q -m "$MODEL" -l de "$SRC/tests/data/audio/$f"
        cp "$T/out" file
        cat "$SRC/tests/data/audio/$f" | "$STENO" stream -q -m "$MODEL" -l de >"$T/out"
        is "$f in a pipe gives the same lines" "$(untimed "$T/out")" "$(untimed file)"
    done
    # Lines are printed while the pipe is open.
    mkfifo flac
    "$STENO" stream -q -m "$MODEL" -l fr flac >"$T/out" 2>"$T/err" &
    pid=$!
    exec 6>flac
    head -c 65000 "$SRC/tests/data/audio/fr.flac" >&6
    for _ in $(seq 300); do
        grep -q partial "$T/out" && break
        sleep 0.1
    done
    [ -n "$(texts partial)" ] || bad "words are printed while the pipe is open" "$(cat "$T/out")"
    tail -c +65001 "$SRC/tests/data/audio/fr.flac" >&6
    exec 6>&-
    wait $pid
    is "the stream of a pipe exits 0" $? 0
    head -c 9000 /dev/zero >many.raw
    for n in 8 9 63 64; do expect 0 "$n channels are accepted" stream -q -m "$MODEL" --raw s16le --raw-channels $n many.raw; done
    for n in 0 65 99999999999999999999; do
        expect 2 "$n channels are refused" stream -q -m "$MODEL" --raw s16le --raw-channels $n many.raw
        err_has "$n is out of range; it takes 1 to 64"
    done
    head -c 3200 samples.raw >nothing
    for r in 1000 384000; do expect 0 "a rate of $r Hz is accepted" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done
fi
expect 2 "--raw-rate is refused without --raw" stream -q -m "$MODEL" --raw-rate 8000 "$DIGITS"
err_has "--raw-rate and --raw-channels need --raw"
for r in 999 384001; do expect 2 "a rate of $r Hz is refused" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done

# At the speed of the sound: the words of the whole sound, no sooner than they were spoken.
SECONDS=0
expect 0 "--realtime is accepted" stream -q -m "$MODEL" -l en --realtime "$DIGITS"
[ $SECONDS -ge 3 ] || bad "--realtime takes as long as the sound of 3.7 s" "$SECONDS s"
is "--realtime gives the words of the file" "$(texts endpoint)" "$(texts endpoint whole)"
is "each line of --realtime has its latency" "$(grep -cE '"latency_ms":[0-9]+}$' "$T/out")" "$(grep -c . "$T/out")"

# Eleven seconds at the speed of the sound: partial words are less than a second late, and the final words are those of the whole sound.
# The test waits for the clock only where a sanitizer has to be loaded first.
{
    tail -c +45 "$SRC/tests/data/golden/en_twelve.wav"
    head -c 16000 /dev/zero
    tail -c +45 "$DIGITS"
    head -c 352000 /dev/zero
} | head -c 352000 >eleven.raw
wav <eleven.raw >eleven.wav
if sanitized; then expect 0 "eleven seconds are read with --realtime" stream -q -m "$MODEL" -l en --realtime eleven.wav
else LD_PRELOAD=$STENO_NO_WAIT expect 0 "eleven seconds are read with --realtime" stream -q -m "$MODEL" -l en --realtime eleven.wav
fi
"$STENO" -q -m "$MODEL" -l en -f txt eleven.wav | tr '\n' ' ' | sed 's/ $//' >offline
is "the final words are the text of the whole sound" "$(texts final | tr '\n' ' ' | sed 's/ $//')" "$(cat offline)"
is "the turn's text is the text of the whole sound" "$(texts endpoint)" "$(cat offline)"
[ "$(texts partial | wc -l)" -ge 8 ] || bad "at least eight lines have partial words" "$(cat "$T/out")"
behind() { # behind KIND: for each line, the time in ms since the end of the sound that was decoded for it
    grep "\"type\":\"$1\"" "$T/out" |
        sed -n 's/.*"end":\([0-9.]*\),.*"heard":\([0-9.]*\).*"latency_ms":\([0-9]*\)}/\1 \2 \3/p' | awk '{ print $3 - ($2 - $1) * 1000 }'
}
if ! sanitized; then
    behind partial | awk '$1 < 0 || $1 >= 1000 { bad = 1 } END { exit bad || !NR }' ||
        bad "partial words are less than a second behind" "$(behind partial | tr '\n' ' ')"
fi

cp "$SRC/tests/data/audio/zh_phrases.wav" phrases.wav
"$STENO" -q -m "$MODEL" -l zh --output-format txt phrases.wav | tr -d '\n' >offline
expect 0 "a file of Chinese phrases is read" stream -q -m "$MODEL" -l zh phrases.wav
is "the turn's text is that of the whole file" "$(printf "$(texts endpoint)")" "$(cat offline)"
is "the final words are the text of the whole file" "$(printf "$(texts final | tr -d '\n')")" "$(cat offline)"
is "the final words with their spaces are the text of the whole file" "$(printf "$(spaced)")" "$(cat offline)"
awk -F '"latency_ms":' '$2 + 0 < 0 { exit 1 }' "$T/out" || bad "no word is printed before it is spoken" "$(cat "$T/out")"
silence 3 >silence.wav
expect 0 "silence is read" stream -q -m "$MODEL" -l en silence.wav
[ -z "$(texts final)" ] || bad "silence has no final words" "$(texts final)"
head -c 0 samples.raw >nothing.raw
expect 0 "a file without samples is read" stream -q -m "$MODEL" --raw s16le nothing.raw
out_empty
expect 4 "a missing file is reported" stream -q -m "$MODEL" none.wav
err_has none.wav
expect 4 "a missing file of samples is reported" stream -q -m "$MODEL" --raw s16le none.raw
err_has none.raw
expect 2 "two files are refused" stream -m "$MODEL" a.wav b.wav
expect 2 "a step that is too short is refused" stream -m "$MODEL" --step 0.01 a.wav
err_has "--step"
for s in 0.2 10; do expect 0 "a step of $s s is accepted" stream -q -m "$MODEL" -l en --step $s "$DIGITS"; done
for s in 0.19 10.1; do expect 2 "a step of $s s is refused" stream -q -m "$MODEL" --step $s "$DIGITS"; done
for s in 0.5 30; do expect 0 "a padding of $s s is accepted" stream -q -m "$MODEL" -l en --audio-padding $s "$DIGITS"; done
expect 0 "a last pass over the turn is accepted" stream -q -m "$MODEL" -l en --last-pass turn "$DIGITS"
expect 2 "other last passes are refused" stream -q -m "$MODEL" -l en --last-pass none "$DIGITS"
for s in 0.4 30.1; do expect 2 "a padding of $s s is refused" stream -q -m "$MODEL" --audio-padding $s "$DIGITS"; done
for s in 2 30; do expect 0 "a turn of $s s is accepted" stream -q -m "$MODEL" -l en --max-turn $s "$DIGITS"; done
for s in 1.9 30.1; do expect 2 "a turn of $s s is refused" stream -q -m "$MODEL" --max-turn $s "$DIGITS"; done
expect 2 "--vad-model is refused without --vad" stream -m "$MODEL" --vad-model x "$DIGITS"
err_has "--vad-model needs"
HF_HUB_CACHE=$PWD/none expect 2 "a missing detector is reported" stream -q -m "$MODEL" --vad silero "$DIGITS"
err_has "--vad silero needs --vad-model"

# SIGTERM makes the decoded words final. SIGINT would too, but the shell does not pass it to background processes.
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
is "SIGTERM exits 143" $? 143
exec 7>&-
is "SIGTERM ends the turn" "$(texts endpoint | wc -l)" "1"

F=${STENO_SHARED:-/none}/material/funasr
if [ -d "$F" ]; then
    V="--vad silero --vad-model $F/silero/ggml-silero-v6.2.0.bin"
    expect 0 "--vad silero ends turns" stream -q -m "$MODEL" -l en $V "$F/audio/vad/pauses.wav"
    [ "$(texts endpoint | wc -l)" -gt 8 ] || bad "each stretch of speech has a turn" "$(texts endpoint)"
    out_has '"type":"endpoint","turn":1,"start":1.282,"end":4.542,"text":"five six six five nine'
    cp "$T/out" whole
    tail -c +45 "$F/audio/vad/pauses.wav" >samples.raw
    expect 0 "--vad-min-silence-ms 2000 is accepted" stream -q -m "$MODEL" -l en $V --vad-min-silence-ms 2000 "$F/audio/vad/pauses.wav"
    [ "$(texts endpoint | wc -l)" -lt "$(texts endpoint whole | wc -l)" ] || bad "a longer silence makes fewer turns" "$(texts endpoint)"
    expect 0 "--vad-threshold 1 is accepted" stream -q -m "$MODEL" -l en $V --vad-threshold 1 "$F/audio/vad/pauses.wav"
    none "no turn reaches the threshold 1" "$(texts endpoint)"
    expect 0 "samples give the lines of the file" stream -q -m "$MODEL" -l en --raw s16le $V samples.raw
    same "$T/out" whole
    V="--vad fsmn --vad-model $F/fsmn-vad/pt"
    expect 0 "--vad fsmn ends turns of a model with a CTC head" stream -q -m "$F/models/sensevoice/pt" $V "$F/audio/vad/pauses.wav"
    is "FSMN-VAD makes two turns" "$(texts endpoint | wc -l)" "2"
    expect 2 "--audio-padding is refused for SenseVoice" stream -q -m "$F/models/sensevoice/pt" --audio-padding 2 "$DIGITS"
    err_has "--audio-padding is for Whisper"
    expect 2 "--last-pass is refused for SenseVoice" stream -q -m "$F/models/sensevoice/pt" --last-pass turn "$DIGITS"
    err_has "--last-pass is for Whisper"
    expect 2 "a detector of the wrong kind is refused" stream -q -m "$MODEL" --vad silero --vad-model "$F/fsmn-vad/pt" "$DIGITS"
fi
finish
