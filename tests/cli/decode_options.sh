# steno: options about what is decoded and how: what they refuse, what they take. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

usage() { # usage CLAIM MESSAGE ARGUMENT...: refused before a model is looked for
    local claim=$1 message=$2
    shift 2
    expect 2 "refused: $claim" "$@" a.wav
    err_has "$message"
    err_lines 1
    out_empty
}

usage "patience without a beam" "--patience needs --beam-size" --beam-size 0 --patience 2
usage "one sequence and several" "--greedy follows one sequence" --greedy --beam-size 5
usage "one sequence and a list of them" "--greedy follows one sequence" --greedy --n-best 2 -f json
usage "one sequence and patience" "--greedy follows one sequence" --greedy --patience 2
usage "patience that leaves no sequence" "--patience times --beam-size" --beam-size 1 --patience 0.4
usage "patience where beams draw" "--patience is of beams that are searched" --decoding whisper.cpp --beam-size 2 --patience 2
usage "a seed where draws are always the same" "--seed is of the reference" --decoding whisper.cpp --temperature 0.4 --seed 3
usage "a beam wider than 32" "out of range" --beam-size 33
usage "a negative beam" "out of range" --beam-size -1
usage "candidates without a temperature" "--best-of needs a temperature above 0" --best-of 5 --temperature-increment-on-fallback 0
usage "candidates without a ladder" "a temperature above 0" --best-of 5 --temperature-increment-on-fallback none
usage "beam and candidates without a ladder" "a temperature above 0" --beam-size 5 --best-of 5 --temperature-increment-on-fallback none
usage "a length penalty above 1" "out of range" --beam-size 5 --length-penalty 1.5
usage "a negative length penalty" "out of range" --length-penalty -0.1
usage "a rule without a grammar" "--grammar-rule needs --grammar" --grammar-rule start
usage "a penalty without a grammar" "--grammar-penalty needs --grammar" --grammar-penalty 100
usage "a boost without hot words" "--hotwords-boost needs --hotwords" --hotwords-boost 3
usage "a boost above 100" "out of range" --hotwords a --hotwords-boost 101
usage "a grammar that is neither text nor file" "--grammar: none.gbnf: " --grammar none.gbnf
mkdir folder
usage "a grammar that is a folder" "--grammar: folder: " --grammar folder
printf 'root ::= "\xff"' >latin.gbnf
usage "a grammar file that is not UTF-8" "not text in UTF-8 at byte 10" --grammar latin.gbnf
printf 'root ::= "a\0b"' >nul.gbnf
usage "a grammar file with a NUL" "not text in UTF-8 at byte 11" --grammar nul.gbnf
usage "a grammar that is not UTF-8" "--grammar is not valid UTF-8" --grammar $'root ::= "\xff"'
head -c 1100000 /dev/zero | tr '\0' ' ' >long.gbnf
usage "a grammar file that is too long" "longer than" --grammar long.gbnf
usage "hot words from no file" "--hotwords: none.txt: " --hotwords @none.txt
usage "hot words without a word" "has no words" --hotwords " , ,"
for words in '{"a": 20}' $' {\n "a": 20}' '["a", "b"]' ' [ "a"]' '[]' '{ }'; do
    usage "hot words as $words" "it is JSON, as FunASR's server takes it" --hotwords "$words"
    printf %s "$words" >words.json
    usage "a file of hot words as $words" "words.json is JSON, as FunASR's server takes it" --hotwords @words.json
done
usage "hot words that are not UTF-8" "--hotwords is not valid UTF-8 at byte 1" --hotwords $'a\xff'
: >empty.txt
usage "a file without a hot word" "empty.txt has no words" --hotwords @empty.txt
usage "a prefix that is not UTF-8" "--prefix is not valid UTF-8" --prefix $'\xff'
usage "clips that are no list" "is not a list of seconds" --clip-timestamps 1,x
usage "clips with an empty place" "is not a list of seconds" --clip-timestamps 1,,2
usage "clips with a comma at the end" "is not a list of seconds" --clip-timestamps 1,2,
usage "clips that are no numbers" "is not a list of seconds" --clip-timestamps nan
usage "clips that do not end" "is not a list of seconds" --clip-timestamps 0,inf
usage "a clip that ends before it begins" "the clip from 3 to 2 is empty" --clip-timestamps 0,3,3,2
usage "a temperature that is none" "--temperature is 1e-310, want 1e-06 to 100, or 0" --temperature 1e-310
usage "a temperature without end" "out of range" --temperature 1e300
usage "an endless text of hot words" "longer than" --hotwords @/dev/fd/9 9< <(yes)
usage "hot words of zeros" "not text in UTF-8 at byte 0" --hotwords @/dev/zero
mkfifo unwritten.fifo
usage "hot words from a FIFO without a writer" "unwritten.fifo: no process writes to this FIFO" --hotwords @unwritten.fifo
usage "an empty clip" "the clip from 2 to 2 is empty" --clip-timestamps 2,2
usage "clips before the audio" "-1 lies before the audio" --clip-timestamps -1,2
usage "clips and chunks" "exclude each other" --clip-timestamps 1,2 --chunk-length 10
usage "chunks with context" "does not go with it" --chunk-length 10 --condition-on-previous-text
usage "chunks longer than a window" "out of range" --chunk-length 31
usage "punctuation without words" "--append-punctuations needs --word-timestamps" --append-punctuations .
usage "punctuation before words without words" "--prepend-punctuations needs --word-timestamps" --prepend-punctuations=
usage "the threshold of invented words without words" "--hallucination-silence-threshold needs" --hallucination-silence-threshold 2
usage "a probability above 1" "out of range" --language-detection-threshold 1.1
usage "no stretch to detect from" "out of range" --language-detection-segments 0
usage "an unknown task" "transcribe|translate|both" --task dance

HF_HUB_CACHE=$PWD/none usage "a detector that is nowhere" "steno models pull silero" -m "$MODEL" --vad silero
usage "a detector without its model" "--vad fsmn needs --vad-model" -m "$MODEL" --vad fsmn
usage "a detector's model without the detector" "--vad-model needs --vad fsmn or silero" -m "$MODEL" --vad-model x
usage "clips given twice" "--clip-timestamps and --vad exclude each other" --vad fsmn --vad-model x --clip-timestamps 0,1
usage "chunks and voice activity" "--chunk-length and --vad exclude each other" --vad fsmn --vad-model x --chunk-length 5
expect 3 "a detector's model that is missing" -q -m "$MODEL" --vad fsmn --vad-model no-such-folder "$DIGITS"
err_has "no-such-folder"
expect 2 "a detector's model that detects nothing" -q -m "$MODEL" --vad fsmn --vad-model "$MODEL" "$DIGITS"
err_has "--vad-model: "
err_has "voice-activity model"

t() {
    local claim=$1
    shift
    expect 0 "$claim" -q -m "$MODEL" -l zh "$@" "$DIGITS"
}
printf 'start ::= word*\nword ::= [^a-z]\n' >any.gbnf
printf '\xe9\x9b\xb6\n\n  \xe4\xb8\x80 \r\n' >words.txt # zero, one
for o in "--beam-size 5" "--beam-size 5 --patience 2" "--beam-size 2 --length-penalty 0.6" "--best-of 2 --temperature 0.5" \
    "--beam-size 2 --best-of 2" "--beam-size=1 --patience=none" "--prefix 六" "--max-context 0" "--max-context -1" \
    "--suppress-regex [0-9]+" "--no-suppress-non-speech" "--suppress-non-speech --suppress-tokens=" "--suppress-tokens 12,-1" \
    "--hotwords 零,一" "--hotwords @words.txt" "--grammar any.gbnf --grammar-rule start --grammar-penalty 100" \
    "--clip-timestamps 0" "--clip-timestamps 0,3,4" "--clip-timestamps 0.5,3,3,5" "--chunk-length 5" "--chunk-length none" \
    "--audio-ctx 500" "--word-timestamps" "-l auto --language-detection-segments 2 --language-detection-threshold 0.9" \
    "--word-timestamps --prepend-punctuations= --append-punctuations . --hallucination-silence-threshold 2" \
    "--token-timestamps --word-threshold 0.5 -f json" "--tinydiarize" "--no-tinydiarize --no-token-timestamps --no-word-timestamps" \
    "--vad off"; do
    t "$o is accepted" $o
done
expect 0 "-v reports a window that failed" -v -m "$MODEL" -l zh --logprob-threshold 0 --temperature-increment-on-fallback 1 "$DIGITS"
err_has "window at 0.00 s, attempt 1 at temperature 0: mean log-probability "
err_has ", failed, completed, with timestamps, seek delta 7210 ms: again"
expect 0 "-v reports one of several candidates" -v -m "$MODEL" -l zh --best-of 2 --temperature 0.5 --sample-length 3 "$DIGITS"
err_has ", not failed, not completed, with"
t "a grammar on the command line is accepted" --grammar 'root ::= [^a-z]*'

t "a grammar forces a sentence that is not spoken" --grammar 'root ::= "no wa"'
is "the text is the grammar's sentence" "$(tr -d '\n ' <"$T/out")" nowa
expect 0 "a sentence that cannot be finished gives no text" -m "$MODEL" -l zh --grammar 'root ::= "[]"' "$DIGITS"
out_empty
err_has "window at 0.00 s: no text, since no sentence of the grammar could be finished"
t "a sentence is finished once its tokens are not suppressed" --grammar 'root ::= "[]"' --suppress-tokens=
out_has "[]"
expect 2 "a grammar that has only the empty text is refused" -q -m "$MODEL" --grammar 'root ::= ""' "$DIGITS"
err_has "has only the empty text"
out_empty

t "the record has the values of options that are not given" -f jsonl
out_has '"condition-on-previous-text": true'
out_has '"suppress-non-speech": true'
t "chunks are transcribed without context" --chunk-length 5 -f jsonl
out_has '"condition-on-previous-text": false'
t "a list of tokens replaces the set of non-speech tokens" --suppress-tokens 12 -f jsonl
out_has '"suppress-non-speech": false'

t "the reference's list of suppressed tokens is the default" -f json
cp "$T/out" with
t "the empty list with --suppress-non-speech equals the reference's list" --suppress-tokens= --suppress-non-speech -f json
same "$T/out" with
t "--no-suppress-non-speech leaves the set out" --no-suppress-non-speech -f json
cp "$T/out" without
t "a list of the start token alone equals --no-suppress-non-speech" --suppress-tokens 50258 -f json
same "$T/out" without

"$STENO" -q -m "$MODEL" -l zh --task both "$DIGITS" -f srt -o both 2>"$T/err"
if grep -q "task 2 is not known" "$T/err"; then
    echo "(not tried: both tasks; this library knows one at a time)"
else
    is "--task both writes two files" "$(cd both && echo *)" "zh_phrases.transcript.srt zh_phrases.translation.srt"
    t "the transcript of --task both is that of the task transcribe" -f srt
    same "$T/out" both/zh_phrases.transcript.srt
    expect 0 "the translation of --task both is that of the task translate" translate -q -m "$MODEL" -l zh -f srt "$DIGITS"
    same "$T/out" both/zh_phrases.translation.srt
fi
expect 2 "two texts need names of their own" --task both "$DIGITS" -o out --output-template x.{format}
err_has "put {stem} into --output-template"

# ---- the best texts
command -v python3 >/dev/null || echo "(not tried: texts as objects; there is no python3)"
n_best() { ! command -v python3 >/dev/null || python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
n = d["n_best"]
assert [len(w["hypotheses"]) for w in n] == [3], n
h = n[0]["hypotheses"]
assert h[0]["text"] == "".join(s["text"] for s in d["segments"]), (h[0]["text"], d["segments"])
assert sorted((x["score"] for x in h), reverse=True) == [x["score"] for x in h]
for x in h:
    assert ("token_logprobs" in x) == (len(sys.argv) > 2) and n[0]["start"] == 0
    if len(sys.argv) > 2: assert len(x["token_logprobs"]) == len(x["tokens"]) and all(p <= 0 for p in x["token_logprobs"])
' "$@"; }
for format in json verbose_json jsonl; do
    t "--n-best 3 prints three texts in $format" --beam-size 3 --n-best 3 -f $format
    [ $format != jsonl ] || sed -i 1d "$T/out" # of the job
    n_best "$T/out" || bad "the texts in $format are in the order of their scores" "$(head -c 300 "$T/out")"
done
t "--token-logprobs prints log-probabilities of each text" --beam-size 3 --n-best 3 --token-logprobs -f json
n_best "$T/out" logprobs || bad "each text has log-probabilities of its tokens" "$(head -c 300 "$T/out")"
expect 2 "--n-best above the width of the search is refused" -m "$MODEL" --beam-size 3 --best-of 3 --n-best 4 -f json "$DIGITS"
err_has "--n-best is more than a search finds: it needs --beam-size or --best-of of as many"
expect 2 "--n-best is refused for text" -m "$MODEL" --beam-size 3 --n-best 3 "$DIGITS"
err_has "--n-best shows in the output formats json, verbose_json and jsonl"
finish
