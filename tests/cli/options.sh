# steno: options that change the result. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

long_speech 6 >long.wav # 43 s

t() { # t CODE CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}

t 0 "--offset-ms and --duration-ms give times between them" --offset-ms 8000 --duration-ms 12000 -f tsv long.wav
awk 'NR > 1 && ($1 < 8000 || $2 > 20000) { bad = 1 } END { exit bad || NR < 2 }' "$T/out" || bad "times in 8..20 s" "$(cat "$T/out")"
t 0 "an offset past the end gives no text" --offset-ms 3600000 long.wav
out_empty

t 0 "an offset of 10 makes the first subtitle number 11" --offset-n 10 -f srt "$DIGITS"
is "the first subtitle has the number 11" "$(head -n 1 "$T/out")" 11

t 0 "without timestamps a window is one segment" --without-timestamps -f json "$DIGITS"
is "a window without timestamps has one segment" "$(grep -o '"id": ' "$T/out" | wc -l)" 1
ids() { grep -oE '"tokens": \[[^]]*\]' "$T/out"; }
ids | grep -oE '[0-9]+' | awk '$1 >= 50363 { bad = 1 } END { exit bad }' ||
    bad "a window without timestamps has no timestamp tokens" "$(ids)"
out_has '"start": 0.0, "end": 7.21'
t 0 "the opposite of an option cancels it" --without-timestamps --no-without-timestamps "$DIGITS"
is "a window with timestamps has three segments" "$(wc -l <"$T/out")" 3

t 0 "--sample-length limits the tokens" --sample-length 5 -f json "$DIGITS"
is "no segment has more than five tokens" "$(ids | awk -F, 'NF > 5' | wc -l)" 0

t 0 "one thread gives a result" -t 1 -f json "$DIGITS"
cp "$T/out" one
t 0 "the result does not depend on the number of threads" -t 3 -f json "$DIGITS"
same "$T/out" one

t 0 "the plain C level gives a text" --cpu c --audio-ctx 400 "$DIGITS"
cp "$T/out" plain
t 0 "the text does not depend on the processor level" --audio-ctx 400 "$DIGITS"
same "$T/out" plain
t 0 "a language can be given by its code" "$DIGITS"
cp "$T/out" plain
expect 0 "the language is detected" -q -m "$MODEL" "$DIGITS"
same "$T/out" plain
expect 0 "a language can be given by its English name" -q -m "$MODEL" -l Chinese "$DIGITS"
same "$T/out" plain

t 0 "a seed is accepted" --temperature 0.8 --seed 7 -f json "$DIGITS"
cp "$T/out" seven
t 0 "the same seed gives the same text" --temperature 0.8 --seed 7 -f json "$DIGITS"
same "$T/out" seven
out_has '"temperature": 0.8'

expect 0 "the verb translate gives a text" translate -q -m "$MODEL" -l zh "$DIGITS"
cp "$T/out" english
t 0 "translate is transcribe --task translate" --task translate "$DIGITS"
same "$T/out" english

for o in "--no-speech-threshold none" "--logprob-threshold none" "--logprob-threshold -0.5" "--max-initial-timestamp none" \
    "--temperature-increment-on-fallback none" "--temperature-increment-on-fallback 0" "--compression-ratio-threshold none" \
    "--entropy-threshold 2.4" "--entropy-threshold none" "--guards off" "--guards retry" "--carry-initial-prompt --initial-prompt 零" \
    "--prompt-tokens 12,7" "--suppress-tokens=" "--no-suppress-blank" "--no-condition-on-previous-text" "--initial-prompt 零一" \
    "--compute f32" "--compute int16" "--compute int8" "--device cpu" "--device gpu"; do
    t 0 "$o is accepted" $o "$DIGITS"
    [ -s "$T/out" ] || bad "$o gives text" "none"
done

t 0 "a threshold that no attempt passes climbs to temperature 1" --guards off --logprob-threshold 0 -v -f json "$DIGITS"
out_has '"temperature": 1.0'
is "-v reports six attempts" "$(grep -c 'attempt' "$T/err")" 6
t 0 "an increment of 0 allows one attempt" --logprob-threshold 0 --temperature-increment-on-fallback 0 -v -f json "$DIGITS"
out_has '"temperature": 0.0'
is "-v reports one attempt with its candidates" "$(grep -c 'attempt' "$T/err")" 1
t 0 "--guards off gives a text" --guards off -f txt "$DIGITS"
cp "$T/out" off
t 0 "guards that flag do not change the text" "$DIGITS"
same "$T/out" off
t 0 "a prompt of ids is accepted" --prompt-tokens 1,2,3 -f json "$DIGITS"
t 2 "an id past the vocabulary is refused" --prompt-tokens 1,99999 "$DIGITS"
err_has "99999"
t 2 "a list that is no list of ids is refused" --prompt-tokens 1,x "$DIGITS"
err_has "--prompt-tokens"
t 2 "ids and text exclude each other" --prompt-tokens 1 --initial-prompt 零 "$DIGITS"
err_has "--prompt-tokens and --initial-prompt say the same twice"
t 0 "attempts have the listed temperatures" --logprob-threshold 0 --fallback-temperatures 0.3,0.7 -v -f json "$DIGITS"
err_has "0.7"
t 2 "temperatures that do not rise are refused" --fallback-temperatures 0.4,0.3 "$DIGITS"
err_has "--fallback-temperatures: 0.3 at place 1 is not above 0.4"
t 2 "a list beside an increment is refused" --fallback-temperatures 0.4 --temperature-increment-on-fallback 0.1 "$DIGITS"
err_has "--fallback-temperatures say the same twice"
t 2 "an increment too small to end is refused" --temperature-increment-on-fallback 0.001 "$DIGITS"
err_has "--temperature-increment-on-fallback is 0.001, want"
finish
