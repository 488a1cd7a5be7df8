# steno: --resume compares all that results are made of: options, the files that they name, and second models.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
head -c 80044 "$DIGITS" >one.wav
echo one.wav >m.jsonl
cat >rules.gbnf <<'G'
root ::= [^x]+
G
printf 'six\n' >words.txt

# resumed CHANGE ARGUMENT...: after CHANGE (a command) and with ARGUMENT..., no result counts as finished
resumed() {
    local change=$1
    shift
    local claim="$* ${change#:}"
    rm -rf out b.jsonl
    expect 0 "transcribe: results before $claim" -q -m "$MODEL" -l zh -o out -f json,srt "${base[@]}" one.wav
    expect 0 "batch: results before $claim" batch -q -m "$MODEL" -l zh -i m.jsonl -o b.jsonl "${base[@]}"
    expect 0 "transcribe: the same is finished, $claim" -m "$MODEL" -l zh -o out -f json,srt "${base[@]}" --resume one.wav
    err_has "1 of 1 inputs were finished before"
    expect 0 "batch: the same is finished, $claim" batch -q -m "$MODEL" -l zh -i m.jsonl -o b.jsonl "${base[@]}" --resume
    $change
    if [ "$verbs" != batch ]; then
        expect 0 "transcribe: the input is not finished with $claim" -m "$MODEL" -l zh -o out -f json,srt "${base[@]}" --resume "$@" one.wav
        err_lacks "finished before"
    fi
    if [ "$verbs" != transcribe ]; then
        expect 2 "batch: the journal is refused with $claim" batch -q -m "$MODEL" -l zh -i m.jsonl -o b.jsonl "${base[@]}" --resume "$@"
        err_has "of another run"
    fi
}
verbs=both base=(--word-timestamps)
resumed : --gelu tanh
resumed : --alignment-heads 0,1
resumed : --no-word-timestamps
resumed : --token-logprobs
resumed : --channels 0
resumed : --audio-track 1
verbs=transcribe
resumed : --offset-n 5
resumed : --dump dumped
verbs=both base=(--grammar rules.gbnf)
resumed 'sed -i s/x/y/ rules.gbnf'
base=(--hotwords @words.txt)
resumed 'sed -i s/six/two/ words.txt'
F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ -d "$F" ]; then
    cp -r "$F" vad
    verbs=transcribe base=(--vad fsmn --vad-model vad)
    resumed 'touch -d 2001-01-01 vad/model.pt vad/am.mvn'
else
    echo "(not tried: a second model; STENO_SHARED does not name a folder with material/funasr)"
fi
finish
