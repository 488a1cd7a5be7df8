# steno: transcribing speech alone. SPDX-License-Identifier: MIT
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
t 0 "silence has a file of each format" -v silence.wav -f txt,srt,json,jsonl -o quiet
is "silence has no clips" "$(clips)" "0 "
is "the files of silence have its name" "$(cd quiet && echo *)" "silence.json silence.jsonl silence.srt silence.txt"
notes='"notes": [{"kind": "no-speech", "text": "no speech was found: all samples are 0"}]' # the reason of an empty text
is "json of silence has no segments" "$(cat quiet/silence.json)" '{"text": "", "segments": [], "language": "zh", '"$notes}"
end='"duration": 5.0, "seconds": S, "speed": S, "status": "ok", "error": null, "language": "zh", "language_probability": null, "text": "", '
end+='"segments": [], '"$notes"', "flags": []}'
[[ $(sed -E '1d; s/"(seconds|speed)": [0-9.e-]+/"\1": S/g' quiet/silence.jsonl) == *"$end" ]] ||
    bad "jsonl of silence has the status ok and the length of the audio" "$(cat quiet/silence.jsonl)"
expect 0 "the language of silence is not detected" -q -m "$MODEL" --vad fsmn --vad-model "$F" silence.wav -f json
is "the language of silence is unknown" "$(cat "$T/out")" '{"text": "", "segments": [], "language": "unknown", '"$notes}"
t 0 "the record has the options, and context is off" -q silence.wav -f jsonl
out_has '"vad": "fsmn"'
out_has '"condition-on-previous-text": false'
t 0 "--condition-on-previous-text keeps context" -q silence.wav -f jsonl --condition-on-previous-text
out_has '"condition-on-previous-text": true'

t 0 "speech is transcribed" -v "$DIGITS"
is "speech makes one clip" "$(clips)" "1 "
[ -s "$T/out" ] || bad "speech has text" "there is none"
t 0 "speech behind silence keeps its place" -v silence.wav "$DIGITS" silence.wav -f tsv
is "each file has its clips" "$(clips)" "0 1 0 "
{ tail -c +45 silence.wav; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; tail -c +45 silence.wav; tail -c +45 "$DIGITS"; } >pcm
wav <pcm >apart.wav # speech at 10 and at 22.2 s
t 0 "long pauses part clips" -v apart.wav -f tsv
is "a long pause makes two clips" "$(clips)" "2 "
t 0 "--duration-ms limits the search for speech" -v apart.wav --duration-ms 9000
is "no clip lies within the duration" "$(clips)" "0 "
t 0 "--offset-ms is accepted" -v apart.wav --offset-ms 20000
is "one clip lies behind the offset" "$(clips)" "1 "
t 0 "an offset past the end is accepted" -v apart.wav --offset-ms 90000
is "no clip lies behind the end" "$(clips)" "0 "
t 0 "short spans are dropped" -v apart.wav --vad-min-speech-ms 60000
is "no span is long enough" "$(clips)" "0 "
long_speech 6 >long.wav # 43 s
t 0 "no clip is longer than a window" -v long.wav --vad-max-speech-s none
is "speech of 43 s makes two clips" "$(clips)" "2 "
IN=apart.wav t 0 "standard input is read" -v -
is "standard input has two clips" "$(clips)" "2 "
cat apart.wav | "$STENO" -v -m "$MODEL" -l zh --vad fsmn --vad-model "$F" - >"$T/out" 2>"$T/err"
is "a pipe is read twice and has two clips" "$(clips)" "2 "
finish
