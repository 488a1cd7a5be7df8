# steno: word times by a forced aligner. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

# A small model with random weights: its times are in order, and mean nothing.
A=$SRC/tests/data/qwen3_aligner
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
expect 0 "audio that is longer than a clip is aligned" align -q -m "$A" long.wav "one two three"
is "words of a long audio are those of the text" "$(cut -d' ' -f3- "$T/out" | tr '\n' '|')" "one|two|three|"
in_order 41000
yes "one two three four" | head -n 4000 >many.txt
expect 2 "a text that is far too long is refused" align -q -m "$A" long.wav @many.txt
err_has "is it the text of this audio?"

# ---- word times of transcripts

long_speech 8 >speech.wav # 58 s
Q=$SRC/tests/data/qwen3_asr
expect 0 "a segment that is longer than a clip has words" -q -m "$Q" --ctx-size 2400 --align-model "$A" -f json speech.wav
out_has '"words": [{'

words() { grep -o '"source": "aligner"' "$T/out" | wc -l; } # segments whose words the aligner has timed
for m in "$MODEL" "$SRC/tests/data/qwen3_asr" "$SRC/models/parakeet-digits"; do
    expect 0 "the words of ${m##*/} have the aligner's times" -q -m "$m" --align-model "$A" -f json "$SOUND"
    [ "$(words)" -gt 0 ] || bad "segments name the aligner" "$(head -c 300 "$T/out")"
    out_has '"words": [{'
    [ "$(grep -o '"words": \[{' "$T/out" | wc -l)" -eq "$(words)" ] || bad "all segments have words" "$(head -c 300 "$T/out")"
done
expect 0 "words of several segments" -q -m "$MODEL" --align-model "$A" -f json "$DIGITS" "$SRC/tests/data/demo.wav" -o alone
expect 0 "inputs of a batch" -q -m "$MODEL" --align-model "$A" -f json -b 4 "$DIGITS" "$SRC/tests/data/demo.wav" -o together
for f in zh_phrases demo; do same alone/$f.json together/$f.json; done
if have_ffmpeg "a damaged file that is read again"; then
    head -c 2600 "$SRC/tests/data/audio/de.aac" >cut.aac
    expect 0 "a damaged file has its note behind an aligner, too" -q -m "$MODEL" -l de --align-model "$A" -f json cut.aac
    out_has '"kind": "damaged"'
fi
cp alone/demo.json "$T/out"
[ "$(words)" -gt 1 ] || bad "demo.wav has segments with words" "$(head -c 300 "$T/out")"
expect 0 "channels are aligned one by one" -q -m "$MODEL" --align-model "$A" -f json --channels split "$SRC/tests/data/demo.wav" -o split
IN=$SRC/tests/data/demo.wav expect 0 "a pipe is read again" -q -m "$MODEL" --align-model "$A" -f json -
[ "$(words)" -gt 1 ] || bad "a pipe has segments with words" "$(head -c 300 "$T/out")"
cat "$SRC/tests/data/demo.wav" | "$STENO" -q -m "$SRC/models/parakeet-digits" --align-model "$A" -f json - >"$T/out" 2>"$T/err"
is "a pipe of clips is read again" "${PIPESTATUS[1]}" 0
[ "$(words)" -gt 0 ] || bad "a pipe of clips has segments with words" "$(head -c 300 "$T/out")"
expect 0 "subtitles of one word" -q -m "$SRC/tests/data/qwen3_asr" --align-model "$A" -f srt --max-words-per-line 1 "$SOUND"
expect 0 "subtitles by rules" -q -m "$MODEL" --align-model "$A" -f srt --style netflix "$SRC/tests/data/demo.wav"
expect 0 "silence has no words" -q -m "$MODEL" --align-model "$A" -f json long.wav

printf '{"path": "%s", "id": "a"}\n' "$SRC/tests/data/demo.wav" >m.jsonl
expect 0 "a batch over a manifest" batch -q -t 1 -m "$MODEL" --align-model "$A" -i m.jsonl -o journal.jsonl
cp journal.jsonl "$T/out"
[ "$(words)" -gt 1 ] || bad "a journal has segments with words" "$(head -c 300 "$T/out")"

expect 2 "a model that is no aligner is refused" -q -m "$MODEL" --align-model "$MODEL" "$SOUND"
err_has "does not align the words of transcripts"
expect 3 "a missing aligner is reported" -q -m "$MODEL" --align-model "$T/none" "$SOUND"
expect 2 "a language outside the aligner's is refused before the work" -q -m "$MODEL" --align-model "$A" -l nl none.wav
err_has "zh, en, yue, fr, de, it, ja, ko, pt, ru, es"
expect 2 "a translation is not aligned" -q -m "$MODEL" --align-model "$A" --task translate "$SOUND"
err_has "the words of a translation are not in the audio"
expect 2 "an aligner and no word times" -q -m "$MODEL" --align-model "$A" --no-word-timestamps "$SOUND"
err_has "exclude each other"
expect 2 "an aligner and heads" -q -m "$MODEL" --align-model "$A" --alignment-heads half "$SOUND"
err_has "exclude each other"

# ---- verbs that have no use for it

expect 2 "it does not transcribe" -q -m "$A" "$SOUND"
err_has "does not transcribe"
expect 0 "info describes it" info -m "$A"
out_has "qwen3-forced-aligner"

finish
