# steno: text from a microphone, while it records. SPDX-License-Identifier: MIT
#
# ALSA's file plugin reads a pipe, into which a file is written at its own speed.
. "$(dirname "$0")/lib.sh"

DIGITS=$SRC/tests/data/demo.wav
texts() { sed -n "s/^{\"type\":\"$1\".*\"text\":\"\([^\"]*\)\".*/\1/p" "${2-$T/out}"; }

expect 2 "samples and a microphone exclude each other" stream -m "$MODEL" --mic --raw s16le
err_has "--mic and --raw exclude each other"
expect 2 "--realtime is refused for a microphone" stream -m "$MODEL" --mic --realtime
cat >asoundrc <<END
pcm.speech { type file slave { pcm { type null } } file "/dev/null" infile "$PWD/sound" format "raw" }
END
export ALSA_CONFIG_PATH=$PWD/asoundrc
expect 4 "a missing microphone is reported" stream -q -m "$MODEL" --mic other
if grep -q "STENO_MIC=OFF" "$T/err"; then
    err_has "other: this build has no microphone support (STENO_MIC=OFF); read samples from another program: arecord "
    out_empty
    expect 4 "the default microphone is reported as unsupported" stream -q -m "$MODEL" --mic
    err_has "default: this build has no microphone support"
    finish
fi
if ! sanitized; then # a sanitizer has to be loaded first
    STENO_NO_LIBRARY=libasound.so.2 LD_PRELOAD=$STENO_NO_LIBRARY_AT expect 4 "a missing library is reported" stream -q -m "$MODEL" --mic
    err_has "default: ALSA's library (libasound.so.2) is not installed"
    expect 4 "a missing microphone is reported" stream -q -m "$MODEL" --mic other
fi
if grep -q "is not installed" "$T/err"; then
    echo "(not tried: a microphone; there is no libasound.so.2)"
    finish
fi
err_has "other: this microphone cannot be opened"
expect 0 "the file has its words" stream -q -m "$MODEL" -l en "$DIGITS"
cp "$T/out" whole
tail -c +45 "$DIGITS" >samples.raw
mkfifo sound
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
is "SIGTERM exits 143" $? 143
is "the microphone has the words of the file" "$(texts endpoint | sed 's/ *seven.*//')" "$(texts endpoint whole | sed 's/ *seven.*//')"
[ -n "$(texts partial)" ] || bad "words are printed while the microphone records" "$(cat "$T/out")"
awk -F '"latency_ms":' '$2 + 0 < 0 { exit 1 }' "$T/out" || bad "no word is printed before it is spoken" "$(cat "$T/out")"
finish
