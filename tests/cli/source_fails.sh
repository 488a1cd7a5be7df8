# steno: a source that fails in the middle leaves no result that looks whole. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

sanitized && { echo "skipped: a sanitizer has to be loaded first"; exit 77; }
[ -r "${STENO_FAILING_READ:-}" ] || { echo "skipped: no failing_read was built"; exit 77; }
long_speech 8 >talk.wav # longer than what is kept of it: read twice
cp "$DIGITS" good.wav
size=$(stat -c %s talk.wav)

# fails CLAIM ARGUMENT...: reads of talk.wav fail early, late, and when it is read a second time: exit 4, one line, no output
fails() {
    local claim=$1 after
    shift
    for after in 50000 $((size - 1000)) $((size + 50000)); do
        rm -rf out
        LD_PRELOAD=$STENO_FAILING_READ FAILING_FILE=talk.wav FAILING_AFTER=$after expect 4 "$claim, after $after bytes" "$@"
        err_has "talk.wav"
        err_has "error"
        out_empty
        [ -z "$(ls out 2>/dev/null)" ] || bad "$claim, after $after bytes: no file is written" "$(ls out)"
        [ $failures -eq 0 ] || finish
        ((read_once)) && [ $after -gt 60000 ] && break
    done
}
read_once=0
for f in srt json csv score; do
    fails "transcribe -f $f fails" -q -m "$MODEL" -l zh -f $f talk.wav
done
fails "transcribe -o fails" -q -m "$MODEL" -l zh -f all,lrc,csv -o out talk.wav
fails "--task both fails" -q -m "$MODEL" -l zh -f json --task both talk.wav
fails "align fails" align -q -m "$MODEL" -l zh talk.wav "六 五"
fails "align --json fails" align -q -m "$MODEL" -l zh --json talk.wav "六 五"
read_once=1
fails "detect fails" detect -q -m "$MODEL" talk.wav
fails "detect --json fails" detect -q -m "$MODEL" --json talk.wav

export FAILING_FILE=talk.wav FAILING_AFTER=50000
LD_PRELOAD=$STENO_FAILING_READ \
    expect 1 "the other file of a batch is written" -q -m "$MODEL" -l zh -b 2 -f json good.wav talk.wav
is "the other file has a whole object" "$(grep -c '^{"text": .*"language": "zh"}$' "$T/out")" 1
is "standard output has one line" "$(wc -l <"$T/out")" 1
LD_PRELOAD=$STENO_FAILING_READ expect 4 "jsonl has a line for the file that fails" -q -m "$MODEL" -f jsonl talk.wav
out_has '"status": "error"'
out_has '"text": null, "segments": null, "notes": null, "flags": null}'

F=${STENO_SHARED:-/none}/material/funasr
if [ -d "$F" ]; then
    cp "$F/audio/vad/pauses.wav" talk.wav
    size=$(stat -c %s talk.wav)
    fails "vad --json fails" vad -q -m "$F/fsmn-vad/pt" --json talk.wav
    fails "transcribe --vad fails" -q -m "$MODEL" -l zh --vad fsmn --vad-model "$F/fsmn-vad/pt" -f json talk.wav
    LD_PRELOAD=$STENO_FAILING_READ FAILING_FILE=talk.wav FAILING_AFTER=$((size - 1000)) \
        expect 4 "vad fails" vad -q -m "$F/fsmn-vad/pt" talk.wav
    grep -vqE '^[0-9]+ [0-9]+$' "$T/out" && bad "vad printed whole lines before it failed" "$(cat "$T/out")"
else
    echo "(not tried: vad; STENO_SHARED does not name the FunASR collection)"
fi
finish
