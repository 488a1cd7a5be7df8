# steno: text while somebody speaks. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

DIGITS=$SRC/tests/data/demo.wav
texts() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "${2-$T/out}"; }

expect 0 "a file, as it would come" stream -q -m "$MODEL" -l en "$DIGITS"
out_has '{"type":"endpoint","turn":1,"start":0.000,'
is "one end" "$(texts endpoint | wc -l)" "1"
is "final words are the turn's text" "$(texts final | tr '\n' ' ' | sed 's/ $//')" "$(texts endpoint)"
cp "$T/out" whole
tail -c +45 "$DIGITS" >samples.raw
for n in 1 5 4096; do
    expect 0 "samples of another program" stream -q -m "$MODEL" -l en --raw s16le samples.raw
    same "$T/out" whole
    dd if=samples.raw bs=$((n * 997)) 2>/dev/null | "$STENO" stream -q -m "$MODEL" -l en --raw s16le - >"$T/out"
    same "$T/out" whole
done
IN=$DIGITS expect 0 "a pipe" stream -q -m "$MODEL" -l en
same "$T/out" whole
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
    for f in de_stereo.ogg fr.flac de.opus de.aac de.webm de_video.mkv de_video.mp4 de.m4a de.aiff de_8k.wav; do
        expect 0 "$f" stream -q -m "$MODEL" -l de "$SRC/tests/data/audio/$f"
        cp "$T/out" file
        cat "$SRC/tests/data/audio/$f" | "$STENO" stream -q -m "$MODEL" -l de >"$T/out"
        is "$f in a pipe" "$(cat "$T/out")" "$(cat file)"
    done
    expect 0 "words of an MP3" stream -q -m "$MODEL" -l de "$SRC/tests/data/audio/de_22k.mp3"
    cp "$T/out" file
    cat "$SRC/tests/data/audio/de_22k.mp3" | "$STENO" stream -q -m "$MODEL" -l de >"$T/out" # FFmpeg leaves its padding at the end of a pipe
    is "in a pipe" "$(texts endpoint)" "$(texts endpoint file)"
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
    head -c 3200 samples.raw >nothing
    for r in 1000 384000; do expect 0 "the least and the highest rate" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done
fi
expect 2 "a rate of no samples" stream -q -m "$MODEL" --raw-rate 8000 "$DIGITS"
err_has "--raw-rate and --raw-channels are about --raw"
for r in 999 384001; do expect 2 "a rate beyond them" stream -q -m "$MODEL" --raw s16le --raw-rate $r nothing; done

# At the speed of the sound: the same words, that of the whole sound, no sooner than they were said.
SECONDS=0
expect 0 "as if it were spoken now" stream -q -m "$MODEL" -l en --realtime "$DIGITS"
[ $SECONDS -ge 3 ] || bad "a sound of 3.7 s takes its time" "$SECONDS s"
is "its words" "$(texts endpoint)" "$(texts endpoint whole)"
is "lines that say how late they are" "$(grep -cE '"latency_ms":[0-9]+}$' "$T/out")" "$(grep -c . "$T/out")"
cp "$SRC/tests/data/audio/zh_phrases.wav" phrases.wav
"$STENO" -q -m "$MODEL" -l zh --output-format txt phrases.wav | tr -d '\n' >offline
expect 0 "phrases" stream -q -m "$MODEL" -l zh phrases.wav
is "text of the whole" "$(printf "$(texts endpoint)")" "$(cat offline)"
is "in final words" "$(printf "$(texts final | tr -d '\n')")" "$(cat offline)"
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

# A microphone: ALSA's file plugin hears a pipe, into which a file is put at its own speed.
expect 2 "samples and a microphone" stream -m "$MODEL" --mic --raw s16le
err_has "--mic and --raw exclude each other"
expect 2 "a microphone has a speed" stream -m "$MODEL" --mic --realtime
if ! sanitized; then # a sanitizer has to be loaded first
    STENO_NO_LIBRARY=libasound.so.2 LD_PRELOAD=$STENO_NO_LIBRARY_AT expect 4 "without ALSA's library" stream -q -m "$MODEL" --mic
    err_has "default: ALSA's library (libasound.so.2) is not installed"
fi
mkfifo sound
cat >asoundrc <<END
pcm.speech { type file slave { pcm { type null } } file "/dev/null" infile "$PWD/sound" format "raw" }
END
export ALSA_CONFIG_PATH=$PWD/asoundrc
expect 4 "a microphone that is not there" stream -q -m "$MODEL" --mic other
if grep -q "is not installed" "$T/err"; then
    echo "(not tried: hearing a microphone; there is no libasound.so.2)"
else
    err_has "other: this microphone cannot be opened"
    "$STENO" stream -q -m "$MODEL" -l en --mic speech >"$T/out" 2>"$T/err" &
    pid=$!
    { # in hundred milliseconds; then silence
        for i in $(seq 0 40); do
            tail -c +$((i * 3200 + 1)) samples.raw | head -c 3200
            sleep 0.1
        done
        head -c 64000 /dev/zero
        for _ in $(seq 100); do
            grep -q '"type":"final"' "$T/out" && break
            sleep 0.1
        done
        kill -TERM $pid
    } >sound
    wait $pid
    is "its exit code" $? 143
    is "the words it heard" "$(texts endpoint | sed 's/ *seven.*//')" "$(texts endpoint whole | sed 's/ *seven.*//')"
    [ -n "$(texts partial)" ] || bad "words come while it is heard" "$(cat "$T/out")"
    awk -F '"latency_ms":' '$2 + 0 < 0 { exit 1 }' "$T/out" || bad "nothing is told before it is said" "$(cat "$T/out")"
fi
unset ALSA_CONFIG_PATH

F=${STENO_SHARED:-/none}/material/funasr
if [ -d "$F" ]; then
    V="--vad silero --vad-model $F/silero/ggml-silero-v6.2.0.bin"
    expect 0 "turns by Silero VAD" stream -q -m "$MODEL" -l en $V "$F/audio/vad/pauses.wav"
    [ "$(texts endpoint | wc -l)" -gt 8 ] || bad "a turn for each stretch" "$(texts endpoint)"
    out_has '"type":"endpoint","turn":1,"start":1.282,"end":4.542,"text":"five six six five nine'
    cp "$T/out" whole
    tail -c +45 "$F/audio/vad/pauses.wav" >samples.raw
    expect 0 "the same from samples" stream -q -m "$MODEL" -l en --raw s16le $V samples.raw
    same "$T/out" whole
    V="--vad fsmn --vad-model $F/fsmn-vad/pt"
    expect 0 "a CTC head, and FSMN-VAD" stream -q -m "$F/models/sensevoice/pt" $V "$F/audio/vad/pauses.wav"
    is "two turns" "$(texts endpoint | wc -l)" "2"
    expect 2 "the wrong kind" stream -q -m "$MODEL" --vad silero --vad-model "$F/fsmn-vad/pt" "$DIGITS"
fi
finish
