# steno: the verb align. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

text="六零七八。
零三九。
五一。"

check_lines() { # nine words, in order, whose times never fall
    is "each word has a line" "$(cut -d' ' -f3 "$T/out" | tr -d '\n')" "六零七八。零三九。五一。"
    awk '$1 !~ /^[0-9]+$/ || $2 !~ /^[0-9]+$/ || $1 > $2 || $1 < last || $2 > 7300 { bad = 1 } { last = $1 } END { exit bad || NR != 9 }' \
        "$T/out" || bad "times are milliseconds in order" "$(cat "$T/out")"
}

expect 0 "align prints START_MS END_MS WORD" align -q -m "$MODEL" -l zh "$DIGITS" "$text"
check_lines
cp "$T/out" lines
printf '%s\n' "$text" >text.txt
expect 0 "align reads a text from a file" align -q -m "$MODEL" -l zh "$DIGITS" @text.txt
same "$T/out" lines
IN=text.txt
expect 0 "align reads a text from standard input" align -q -m "$MODEL" -l zh "$DIGITS" -
same "$T/out" lines
IN=$DIGITS
expect 0 "align reads the sound from standard input and finds the language" align -q -m "$MODEL" - @text.txt
same "$T/out" lines
IN=/dev/null


# Of a transcript only the text is aligned.
cp "$T/out" from_text
words=$(tr -d '\n' <text.txt)
printf '\xef\xbb\xbf1\r\n00:00:00,000 --> 00:00:09,000\r\n<i>%s</i>\r\n' "$words" >known.srt
printf 'WEBVTT\n\nNOTE x\n\n00:00.000 --> 00:09.000\n<v Ann>%s\n' "$words" >known.vtt
printf 'start\tend\ttext\n0\t9000\t%s\n' "$words" >known.tsv
printf '{"text": "x", "segments": [{"start": 0, "end": 9, "text": "%s"}]}' "$words" >known.json
for f in known.srt known.vtt known.tsv known.json; do
    expect 0 "align reads the text of $f" align -q -m "$MODEL" -l zh "$DIGITS" @$f
    same "$T/out" from_text
done
for f in known.srt known.vtt known.tsv known.json; do
    IN=$f expect 0 "align reads $f from standard input" align -q -m "$MODEL" -l zh "$DIGITS" -
    same "$T/out" from_text
done
printf 'x' >bad.json
expect 4 "align refuses a .json file that is none" align -q -m "$MODEL" -l zh "$DIGITS" @bad.json
err_has "bad.json: it is not a transcript"
expect 0 "align --json prints one object" align -q -m "$MODEL" -l zh --json "$DIGITS" @text.txt
for part in \
    '{"language": "zh", "words": [{"word": "\u516d", "start_ms": ' \
    '"end_ms": ' '"probability": 0.9' '], "duration_ms": 7'; do out_has "$part"; done
is "--json prints one line" "$(wc -l <"$T/out")" 1

silence 3 >silence.wav
expect 0 "words that are not spoken have no times" align -q -m "$MODEL" -l en silence.wav "one two"
is "each of the two words has a line" "$(cat "$T/out")" "- - one
- - two"
expect 0 "JSON has no times for words that are not spoken" align -q -m "$MODEL" -l en --json silence.wav "one"
out_has '{"word": "one", "start_ms": null, "end_ms": null, "probability": null}'

expect 2 "align needs a text" align -q -m "$MODEL" "$DIGITS"
err_has "align takes a sound file and a text, not 1 operand"
expect 2 "align refuses a text without words" align -q -m "$MODEL" -l zh "$DIGITS" "
 "
err_has "no words"
expect 2 "align refuses an unknown language" align -q -m "$MODEL" -l klingon "$DIGITS" "$text"
err_has "klingon"
expect 2 "align does not read both from standard input" align -q -m "$MODEL" - -
expect 4 "align reports a missing text" align -q -m "$MODEL" "$DIGITS" @none.txt
err_has "none.txt"
err_lines 1
printf 'one\0two' >zero.txt
expect 4 "align refuses what is no text" align -q -m "$MODEL" "$DIGITS" @zero.txt
err_has "zero.txt: is not text in UTF-8 at byte 3, which is zero"
expect 4 "align refuses a device without end as a text" align -q -m "$MODEL" "$DIGITS" @/dev/zero
err_has "/dev/zero: is not text in UTF-8 at byte 0"
expect 4 "align stops reading a text that has no end" align -q -m "$MODEL" "$DIGITS" @/dev/fd/9 9< <(yes)
err_has "/dev/fd/9: is longer than 16777216 bytes"
yes | "$STENO" align -q -m "$MODEL" "$DIGITS" - >"$T/out" 2>"$T/err"
is "align stops reading a text without end on standard input" "${PIPESTATUS[1]}" 4
err_has "standard input: is longer than 16777216 bytes"
IN=/dev/null
mkfifo unwritten.fifo
expect 4 "align does not wait for a FIFO without a writer" align -q -m "$MODEL" "$DIGITS" @unwritten.fifo
err_has "unwritten.fifo: no process writes to this FIFO"
(sleep 0.3; printf '%s\n' "$text") >unwritten.fifo &
expect 0 "align waits for a FIFO that a process writes to later" align -q -m "$MODEL" -l zh "$DIGITS" @unwritten.fifo
same "$T/out" lines
expect 2 "a text without words is refused before a model is looked for" align -q -m none.bin none.wav " "
err_has "no words in the text"
expect 2 "a text that is not UTF-8 is refused before a model is looked for" align -q -m none.bin none.wav $'a\xff'
err_has "the text is not valid UTF-8 at byte 1"
expect 4 "align reports a missing sound" align -q -m "$MODEL" none.wav one
out_empty

# ---- subtitles

expect 0 "align writes subtitles" align -q -m "$MODEL" -l zh -f srt "$DIGITS" "$text"
is "subtitles hold the words, a sentence each" "$(grep -v -e '^[0-9]' -e '^$' "$T/out" | tr '\n' ' ')" "六零七八。 零三九。 五一。 "
for f in srt vtt ass; do
    expect 0 "align writes subtitles into a folder as $f" align -q -m "$MODEL" -l zh -f $f --style bbc -o subs "$DIGITS" "$text"
    out_empty
    expect 0 "lint-subs finds no fault in the folder's $f" lint-subs --style bbc -l zh subs/zh_phrases.$f
done
expect 0 "words that are not spoken have cues" align -q -m "$MODEL" -l en -f srt silence.wav "one two"
cp "$T/out" silence.srt
expect 0 "lint-subs finds no fault in cues of words that are not spoken" lint-subs --style plain silence.srt
expect 2 "lines have no folder" align -q -m "$MODEL" -o subs "$DIGITS" "$text"
err_has "--output-dir is for the output formats srt, vtt and ass"
expect 2 "lines have no style" align -q -m "$MODEL" --style bbc "$DIGITS" "$text"
err_has "a style or limit of cues is for the output formats srt, vtt and ass"
expect 2 "an object is no subtitles" align -q -m "$MODEL" --json -f srt "$DIGITS" "$text"
err_has "exclude each other"
mkdir over
cp "$DIGITS" over/a.srt
expect 2 "a sound is not written over" align -q -m "$MODEL" -f srt -o over over/a.srt "$text"
same over/a.srt "$DIGITS"

vad=${STENO_SHARED:-/none}/material/funasr
if [ -d "$vad/fsmn-vad/pt" ]; then
    expect 0 "vad prints spans of speech" vad -q -m "$vad/fsmn-vad/pt" "$vad/audio/vad/sample.wav"
    cp "$T/out" spans
    expect 0 "vad writes subtitles" vad -q -m "$vad/fsmn-vad/pt" -f vtt -o spoken "$vad/audio/vad/sample.wav"
    is "each span has a cue" "$(grep -c -e '-->' spoken/sample.vtt)" "$(wc -l <spans)"
    expect 0 "lint-subs finds no fault in the cues of vad" lint-subs spoken/sample.vtt
    expect 2 "openings are no subtitles" vad -q -m "$vad/fsmn-vad/pt" --streaming -f srt "$vad/audio/vad/sample.wav"
    err_has "exclude each other"
else
    echo "(not tried: subtitles of vad; the model is not here)"
fi
finish
