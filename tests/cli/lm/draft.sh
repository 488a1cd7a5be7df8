# steno: a draft model beside another. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh -f json "$@"
}

# What is drafted is greedy: beams are the default without a draft.
for more in "" "--word-timestamps" "--initial-prompt one --suppress-regex .*3.*"; do
    t 0 "the text without a draft model is written, $more" --beam-size 0 $more "$DIGITS"
    cp "$T/out" alone
    for draft_max in "" "--draft-max 1" "--draft-max 15"; do
        t 0 "a draft model gives the same bytes, $more $draft_max" --draft "$MODEL" $draft_max $more "$DIGITS"
        same "$T/out" alone
    done
done
cp "$DIGITS" one.wav && cp "$DIGITS" two.wav
t 0 "several inputs are decoded with a draft model" -b 3 --draft "$MODEL" --draft-max 4 -o together one.wav two.wav
t 0 "a draft model as large as the model drafts no tokens by default" --draft "$MODEL" --print-timings "$DIGITS"
err_has "drafted 0 tokens"
t 0 "several inputs are decoded without a draft model" --beam-size 0 -o apart one.wav two.wav
same together/two.json apart/two.json
t 0 "--print-timings prints the number of accepted draft tokens" --draft "$MODEL" --draft-max 4 --print-timings "$DIGITS"
err_has "of them accepted"
grep -q "drafted [1-9][0-9]* tokens, [1-9][0-9]* of them accepted" "$T/err" ||
    bad "the timings have the numbers of draft tokens" "they do not"
expect 0 "translate accepts a draft model" translate -q -m "$MODEL" -l zh --draft "$MODEL" "$DIGITS"

t 3 "a missing draft model is reported" --draft nowhere.bin "$DIGITS"
head -c 4000 "$MODEL" >half.bin
t 3 "a damaged draft model is refused" --draft half.bin "$DIGITS"
LC_ALL=C sed 's/wonderful/wondarful/' "$MODEL" >other.bin
t 2 "a draft model with another vocabulary is refused" --draft other.bin "$DIGITS"
err_has "--draft: the draft model has another vocabulary"
t 2 "a draft model is refused with beams" --draft "$MODEL" --beam-size 2 "$DIGITS"
err_has "--beam-size"
t 2 "a draft model is refused with a temperature" --draft "$MODEL" --temperature 0.5 "$DIGITS"
t 2 "--draft-max without a draft model is refused" --draft-max 3 "$DIGITS"
err_has "needs --draft"
t 2 "--draft-max 0 is refused with a draft model" --draft "$MODEL" --draft-max 0 "$DIGITS"
t 2 "--draft-max 16 is refused" --draft "$MODEL" --draft-max 16 "$DIGITS"

# ---- audio language models draft from earlier text

Q=$SRC/tests/data/qwen3_asr
q() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$Q" -l en -f json --sample-length 64 "$@"
}
q 0 "a text without drafts is written" --draft-max 0 --print-timings "$SRC/tests/data/demo.wav"
cp "$T/out" alone
grep -q "drafted" "$T/err" && bad "--draft-max 0 drafts nothing" "$(cat "$T/err")"
for draft_max in "" "--draft-max 15"; do
    for i in 1 2 3 4 5 6 7 8; do # on a busy machine measured costs may speak against drafts
        q 0 "drafts from earlier text give the same bytes, $draft_max" $draft_max --print-timings "$SRC/tests/data/demo.wav"
        same "$T/out" alone
        grep -q "drafted [1-9][0-9]* tokens, [1-9][0-9]* of them accepted" "$T/err" && break
        [ $i -lt 8 ] || bad "draft tokens are counted" "$(cat "$T/err")"
    done
done
q 2 "--draft-max 16 is refused by an audio language model" --draft-max 16 "$SRC/tests/data/demo.wav"
for draft_max in "" "--draft-max 5"; do
    q 0 "a draft model of an audio language model gives the same bytes, $draft_max" --draft "$Q" $draft_max "$SRC/tests/data/demo.wav"
    same "$T/out" alone
done
q 2 "a draft model of another family is refused" --draft "$MODEL" "$SRC/tests/data/demo.wav"
err_has "--draft: a whisper model cannot draft for a qwen3-asr model"
finish
