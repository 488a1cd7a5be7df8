# steno: an interrupted run is resumed, and its result is that of a run without interruption. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
long_speech "$(in_full && ! sanitized && echo 12 || echo 8)" >long.wav # two windows, or three
cp "$DIGITS" short.wav

# ended CODE SIGNAL SIZE ARGUMENT...: begin a run and end it when more than SIZE bytes are kept
ended() {
    local want=$1 sig=$2 size=$3
    shift 3
    rm -rf out
    env --default-signal=INT,TERM,HUP "$STENO" -o out "$@" long.wav >"$T/out" 2>"$T/err" &
    local pid=$!
    until [ "$(cat out/.steno_resume/* 2>/dev/null | wc -c)" -gt "$size" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.005; done
    kill -"$sig" $pid 2>/dev/null
    wait $pid 2>/dev/null
    local code=$?
    [ $code = "$want" ] || [ $code = 0 ] || bad "SIG$sig ends the run" "exit code $code, not $want"
    interrupted=$((interrupted + (code == want)))
}
interrupted=0
is_kept() { [ -n "$(ls out/.steno_resume 2>/dev/null)" ]; }

# interrupt SIZE ARGUMENT...: the same by SIGINT; repeated when the run finishes first, as on a busy machine
interrupt() {
    local i size=$1
    shift
    for i in 1 2 3 4 5 6; do
        ended 130 INT "$size" "$@"
        ! is_kept || return 0
    done
    bad "a run is interrupted before its end" "all of $i were over before"
}

# resumes NAME SIZES ARGUMENT...: a run is ended at several places, in several ways, and then resumed
resumes() {
    local name=$1 sizes=$2 sigs=(INT 130 TERM 143 KILL 137) i=0
    shift 2
    rm -rf want
    expect 0 "$name: a run without interruption is written" -q "$@" -o want long.wav
    [ ! -e want/.steno_resume ] || bad "a run without interruption leaves no journal" "$(ls want/.steno_resume)"
    for size in $sizes; do
        ended "${sigs[i % 6 + 1]}" "${sigs[i % 6]}" "$size" "$@"
        if [ "${sigs[i % 6]}" != KILL ] && is_kept && ! grep -q -- '--resume continues there' "$T/err"; then
            bad "the message about SIG${sigs[i % 6]} names --resume" "$(cat "$T/err")"
        fi
        rm -rf out/.steno-*
        expect 0 "$name: a run ended by SIG${sigs[i % 6]} is resumed" "$@" -o out --resume long.wav
        for file in want/*; do same "out/${file##*/}" "$file"; done
        i=$((i + 2))
    done
}

resumes "Whisper" "1 2000 4000" -m "$MODEL" -l zh -f json,srt
sanitized || resumes "words, a beam" "2000" -m "$MODEL" -l zh -f json,vtt --word-timestamps --beam-size 2
FUNASR=${STENO_SHARED:-/none}/material/funasr
if ! sanitized && [ -d "$FUNASR" ]; then
    resumes "SenseVoice behind voice activity" "1" -m "$FUNASR/models/sensevoice/pt" -f json,srt --vad fsmn \
        --vad-model "$FUNASR/fsmn-vad/pt"
fi
if in_full; then
    resumes "a language that is found, fallback, checked" "2000" -m "$MODEL" -f json --verify --temperature 0.4
    resumes "both texts" "2000" -m "$MODEL" -l zh -f json --task both
    resumes "in a batch" "1" -m "$MODEL" -l zh -f json -b 3 --no-condition-on-previous-text --without-timestamps
    if [ -d "$FUNASR" ]; then
        resumes "Whisper behind voice activity" "2000" -m "$MODEL" -l zh -f json --vad fsmn --vad-model "$FUNASR/fsmn-vad/pt"
        resumes "Paraformer" "1" -m "$FUNASR/models/paraformer/pt" -f json --word-timestamps
    fi
fi
[ $interrupted -gt 1 ] || bad "more than one run is ended" "$interrupted of them"

# ---- finished inputs are skipped
W=(-m "$MODEL" -l zh -f json -o many)
expect 0 "three inputs are transcribed with --resume" "${W[@]}" --resume short.wav "$DIGITS" long.wav
expect 0 "finished inputs are skipped" "${W[@]}" --resume short.wav "$DIGITS" long.wav
err_has "3 of 3 inputs were finished before"
err_lines 1
rm many/short.json
expect 0 "an input without its result is transcribed" "${W[@]}" --resume short.wav "$DIGITS" long.wav
err_has "2 of 3 inputs were finished before"
[ -s many/short.json ] || bad "the missing result is written again" "$(ls many)"
touch -d "1 hour ago" short.wav
expect 0 "an input that changed is transcribed" "${W[@]}" --resume short.wav "$DIGITS" long.wav
err_has "2 of 3 inputs were finished before"
expect 0 "inputs are transcribed again with other options" "${W[@]}" --resume --beam-size 2 short.wav "$DIGITS"
err_lacks "finished before"
expect 0 "inputs are transcribed again without --resume" "${W[@]}" short.wav "$DIGITS"
err_lacks "finished before"

# ---- beside the inputs, with names of the run
mkdir -p one two
cp "$DIGITS" one/a.wav
cp "$DIGITS" two/a.wav
B=(-m "$MODEL" -l zh -f txt -o @ --output-template "{n}-{date}-{time}.{format}")
expect 0 "inputs of two folders are transcribed with --resume" "${B[@]}" --resume one/a.wav two/a.wav
expect 0 "finished inputs of two folders are skipped" "${B[@]}" --resume one/a.wav two/a.wav
err_has "2 of 2 inputs were finished before"
touch -d "1 hour ago" two/a.wav
rm two/2-*
expect 0 "an input of the second folder that changed is transcribed" "${B[@]}" --resume one/a.wav two/a.wav
err_has "1 of 2 inputs were finished before"
is "the result of the second input keeps its number" "$(ls two | sed 's/-.*//')" "2
a.wav"

# ---- journals of other runs
interrupt 1500 -m "$MODEL" -l zh -f json
expect 0 "a journal of other options is not used" -m "$MODEL" -l zh -f json --beam-size 2 -o out --resume long.wav
err_has "its journal is of another run (it was with other options); it starts again"
interrupt 1500 -m "$MODEL" -l zh -f json
for file in out/.steno_resume/*; do printf x >>"$file"; done
expect 0 "a journal with half a piece at its end is accepted" -m "$MODEL" -l zh -f json -o out --resume long.wav
expect 0 "a run without interruption writes the result" -q -m "$MODEL" -l zh -f json -o want long.wav
same out/long.json want/long.json
interrupt 1500 -m "$MODEL" -l zh -f json
for file in out/.steno_resume/*; do
    n=$(stat -c %s "$file")
    printf '\377\377\377\377' | dd of="$file" bs=1 seek=$((n - 40)) conv=notrunc 2>"$T/dd"
done
expect 0 "a journal with a damaged piece is accepted" -m "$MODEL" -l zh -f json -o out --resume long.wav short.wav
grep -qE 'long.wav: (continues where it ended, as far as its journal is not damaged|its journal .* is damaged; it starts again)' \
    "$T/err" || bad "the damaged piece is reported" "$(cat "$T/err")"
same out/long.json want/long.json

# ---- mistakes, and folders that cannot be written
expect 2 "--resume is refused without a folder" -m "$MODEL" --resume short.wav
err_has "--resume needs --output-dir"
finish
