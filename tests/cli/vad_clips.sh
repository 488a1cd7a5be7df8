# steno: transcribing only where somebody speaks. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ ! -d "$F" ]; then
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -m "$MODEL" -l zh --vad fsmn --vad-model "$F" "$@"
}
clips() { sed -n 's/.*: speech in \([0-9]*\) clips$/\1/p' "$T/err" | tr '\n' ' '; }

silence 5 >silence.wav
t 0 "silence gives an empty text" -q silence.wav
out_empty
err_lines 0
t 0 "silence has its files" -v silence.wav -f txt,srt,json,jsonl -o quiet
is "no clips" "$(clips)" "0 "
is "their names" "$(cd quiet && echo *)" "silence.json silence.jsonl silence.srt silence.txt"
notes='"notes": [{"kind": "no-speech", "text": "no speech was found: all samples are 0"}]' # an empty text says why
is "an object without segments" "$(cat quiet/silence.json)" '{"text": "", "segments": [], "language": "zh", '"$notes}"
end='"duration": 5.0, "seconds": S, "speed": S, "status": "ok", "error": null, "language": "zh", "language_probability": null, "text": "", '
end+='"segments": [], '"$notes"', "flags": []}'
[[ $(sed -E '1d; s/"(seconds|speed)": [0-9.e-]+/"\1": S/g' quiet/silence.jsonl) == *"$end" ]] ||
    bad "the record is well, with the length of the audio" "$(cat quiet/silence.jsonl)"
expect 0 "no language is made up" -q -m "$MODEL" --vad fsmn --vad-model "$F" silence.wav -f json
is "it is unknown" "$(cat "$T/out")" '{"text": "", "segments": [], "language": "unknown", '"$notes}"
t 0 "the options are in the record, and context is off" -q silence.wav -f jsonl
out_has '"vad": "fsmn"'
out_has '"condition-on-previous-text": false'
t 0 "context stays when it is asked for" -q silence.wav -f jsonl --condition-on-previous-text
out_has '"condition-on-previous-text": true'

t 0 "speech is one clip" -v "$DIGITS"
is "one clip" "$(clips)" "1 "
[ -s "$T/out" ] || bad "there is text" "there is none"
t 0 "speech behind silence keeps its place" -v silence.wav "$DIGITS" silence.wav -f tsv
is "clips of each file" "$(clips)" "0 1 0 "
{ tail -c +45 silence.wav; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; } >pcm
wav <pcm >apart.wav # speech at 10 and at 22.2 s
t 0 "long pauses part clips" -v apart.wav -f tsv
is "two clips" "$(clips)" "2 "
t 0 "what lies outside offset and duration is no speech" -v apart.wav --duration-ms 9000
is "none at the beginning" "$(clips)" "0 "
t 0 "an offset" -v apart.wav --offset-ms 20000
is "one at the end" "$(clips)" "1 "
t 0 "an offset past the end" -v apart.wav --offset-ms 90000
is "none there" "$(clips)" "0 "
t 0 "short spans are dropped" -v apart.wav --vad-min-speech-ms 60000
is "all are short" "$(clips)" "0 "
long_speech 6 >long.wav # 43 s
t 0 "no clip is longer than a window" -v long.wav --vad-max-speech-s none
is "two clips" "$(clips)" "2 "
IN=apart.wav t 0 "standard input" -v -
is "two clips" "$(clips)" "2 "
cat apart.wav | "$STENO" -v -m "$MODEL" -l zh --vad fsmn --vad-model "$F" - >"$T/out" 2>"$T/err"
is "a pipe is heard twice" "$(clips)" "2 "
finish
