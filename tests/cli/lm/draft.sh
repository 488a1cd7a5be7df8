# steno: a draft model beside another. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh -f json "$@"
}

# What is drafted is greedy: beams are the default without a draft.
for more in "" "--word-timestamps" "--initial-prompt one --suppress-regex .*3.*"; do
    t 0 "alone $more" --beam-size 0 $more "$DIGITS"
    cp "$T/out" alone
    for guesses in "" "--draft-max 1" "--draft-max 15"; do
        t 0 "with a draft: the same bytes $more $guesses" --draft "$MODEL" $guesses $more "$DIGITS"
        same "$T/out" alone
    done
done
cp "$DIGITS" one.wav && cp "$DIGITS" two.wav
t 0 "several together" -b 3 --draft "$MODEL" --draft-max 4 -o together one.wav two.wav
t 0 "a draft as large as the model pays for nothing" --draft "$MODEL" --print-timings "$DIGITS"
err_has "drafted 0 tokens"
t 0 "the same alone" --beam-size 0 -o apart one.wav two.wav
same together/two.json apart/two.json
t 0 "how many guesses were right" --draft "$MODEL" --draft-max 4 --print-timings "$DIGITS"
err_has "of them accepted"
grep -q "drafted [1-9][0-9]* tokens, [1-9][0-9]* of them accepted" "$T/err" || bad "timings count guesses" "they do not"
expect 0 "a translation" translate -q -m "$MODEL" -l zh --draft "$MODEL" "$DIGITS"

t 3 "there is no such model" --draft nowhere.bin "$DIGITS"
head -c 4000 "$MODEL" >half.bin
t 3 "a damaged one" --draft half.bin "$DIGITS"
LC_ALL=C sed 's/wonderful/wondarful/' "$MODEL" >other.bin
t 2 "another vocabulary" --draft other.bin "$DIGITS"
err_has "--draft: the draft model has another vocabulary"
t 2 "beams are not drafted" --draft "$MODEL" --beam-size 2 "$DIGITS"
err_has "--beam-size"
t 2 "nor are draws" --draft "$MODEL" --temperature 0.5 "$DIGITS"
t 2 "guesses that nobody makes" --draft-max 3 "$DIGITS"
err_has "needs --draft"
t 2 "a draft that may not guess" --draft "$MODEL" --draft-max 0 "$DIGITS"
t 2 "too many" --draft "$MODEL" --draft-max 16 "$DIGITS"
finish
