# steno: word times by a forced aligner. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

# A small model with random weights: its times are in order, and mean nothing.
mkdir aligner
cp "$SRC"/tests/data/qwen3_aligner/{config.json,model.safetensors} aligner
cp "$SRC"/tests/data/qwen3_asr/{vocab.json,merges.txt,tokenizer_config.json} aligner
A=$T/work/aligner
SOUND=$SRC/models/parakeet-digits/phrases.wav # 2.5 s

in_order() { # START END WORD lines whose times never fall, up to $1 ms
    awk -v most="$1" '$1 !~ /^[0-9]+$/ || $2 !~ /^[0-9]+$/ || $1 > $2 || $1 < last || $2 > most { bad = 1 }
        { last = $1 } END { exit bad || !NR }' "$T/out" || bad "times are milliseconds in order" "$(cat "$T/out")"
}

# ---- steno align

printf 'Four zero,\n\nnine-eight.\n' >text.txt
expect 0 "align prints START_MS END_MS WORD" align -q -m "$A" -l en "$SOUND" "Four zero, nine-eight isn't."
is "words are shown with their marks" "$(cut -d' ' -f3- "$T/out" | tr '\n' '|')" "Four|zero,|nine-eight|isn't.|"
in_order 2530
expect 0 "align reads a text from a file" align -q -m "$A" "$SOUND" @text.txt
is "lines have words" "$(cut -d' ' -f3- "$T/out" | tr '\n' '|')" "Four|zero,|nine-eight.|"
expect 0 "Japanese characters are words" align -q -m "$A" -l ja "$SOUND" "きょうは東京"
is "a small kana stays with its kana" "$(cut -d' ' -f3- "$T/out" | tr '\n' '|')" "きょ|う|は|東|京|"
expect 0 "align --json prints one object" align -q -m "$A" --json "$SOUND" @text.txt
out_has '"probability": 0.'
expect 0 "align writes subtitles" align -q -m "$A" -f srt "$SOUND" @text.txt
is "cues have the words of the text" "$(grep -v -e '^[0-9]' -e '^$' "$T/out" | tr '\n' ' ')" "Four zero, nine-eight. "
expect 2 "a language outside the model's is refused" align -q -m "$A" -l nl "$SOUND" @text.txt
err_has "zh, en, yue, fr, de, it, ja, ko, pt, ru, es"
expect 2 "a text without words is refused" align -q -m "$A" "$SOUND" "... !"
err_has "there are no words in the text to align"
silence 41 >long.wav
expect 2 "audio that is too long is refused" align -q -m "$A" long.wav "one"
err_has "the audio is longer than 40 s, the most that the aligner takes at once"

# ---- verbs that have no use for it

expect 2 "it does not transcribe" -q -m "$A" "$SOUND"
err_has "does not transcribe"
expect 0 "info describes it" info -m "$A"
out_has "qwen3-forced-aligner"

finish
