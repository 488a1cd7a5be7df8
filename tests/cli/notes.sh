# steno: a result that is empty or doubtful has a note with the reason, on standard error and in JSON. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

seen=
# note KIND WORDS ARGUMENT...: a run prints a note with WORDS, and -f json and -f jsonl have it with its kind; -q silences the line alone
note() {
    local kind=$1 words=$2 form
    shift 2
    seen="$seen$kind "
    expect 0 "the note $kind is printed" -m "$MODEL" "$@"
    err_has "$words"
    for form in json jsonl json_full; do
        expect 0 "$form has the note $kind" -q -m "$MODEL" "$@" -f $form
        err_lacks "$words"
        out_has "{\"kind\": \"$kind\", \"text\": \""
        out_has "$words"
    done
}
two() { # two LEFT RIGHT > WAV: a stereo file of two files of samples
    local n
    n=$(($(stat -c %s "$1") * 2))
    printf RIFF; le 4 $((n + 36)); printf 'WAVEfmt '
    le 4 16; le 2 1; le 2 2; le 4 16000; le 4 64000; le 2 4; le 2 16
    printf data; le 4 $n
    paste -d ' ' <(od -An -v -tx1 -w2 "$1") <(od -An -v -tx1 -w2 "$2") | sed 's/ *\([0-9a-f][0-9a-f]\)/\\x\1/g' | tr -d '\n ' |
        while IFS= read -r -n 4000 part; do printf '%b' "$part"; done
}
# scaled BY: the phrases' samples, times BY, cut off at full scale
scaled() {
    tail -c +45 "$DIGITS" | od -An -v -td2 -w2 | awk -v by="$1" '
        { v = $1 * by; if (v > 32767) v = 32767; if (v < -32768) v = -32768; v = int(v); if (v < 0) v += 65536
          printf "\\x%02x\\x%02x", v % 256, int(v / 256) }' | while IFS= read -r -n 4000 part; do printf '%b' "$part"; done
}

expect 0 "a good sound prints no note" -m "$MODEL" -l zh "$DIGITS"
err_lines 0
cp "$T/out" text
expect 0 "jsonl of a good sound has no notes" -q -m "$MODEL" -l zh "$DIGITS" -f jsonl
out_has '"notes": [], "flags": []}'

silence 3 >silence.wav
note no-speech "no speech was found: all samples are 0" -l zh silence.wav
head -c 96000 /dev/zero | tr '\0' '\1' >"$T/hum"
wav <"$T/hum" >hum.wav
note no-speech "no speech was found (level -42.1 dBFS, peak -42.1 dBFS)" -l zh hum.wav
scaled 100 >loud
wav <loud >loud.wav
note clipped "of the samples are at full scale" -l zh loud.wav
head -c 150000 "$DIGITS" >cut.wav
expect 0 "a file that is cut short has a note" -q -m "$MODEL" -l zh cut.wav -f json
out_has '"kind": "cut-short"'
err_has "is cut short"
seen="${seen}cut-short "
note prompt-cut "the last 223 are used" -l zh "$DIGITS" --initial-prompt "$(for ((i = 0; i < 600; i++)); do printf '七八 '; done)"
expect 0 "a prompt that fits has no note" -m "$MODEL" -l zh "$DIGITS" --initial-prompt "七八"
err_lines 0
expect 0 "a sound with a given language is transcribed" -q -m "$MODEL" -l zh hum.wav -f json
[ -z "$(grep language-unsure "$T/out")" ] || bad "a given language has no note" "$(cat "$T/out")"

# ---- other programs' command lines: their bytes in files and on standard output, notes on standard error
W="--compat whisper --model $MODEL --language zh --fp16 False -f json -o w"
C="--compat whisper-cli -m $MODEL -l zh -oj"
for sound in loud silence; do
    words=$([ $sound = loud ] && echo "of the samples are at full scale" || echo "no speech was found: all samples are 0")
    # shellcheck disable=SC2086
    expect 0 "--compat whisper prints the note of $sound" $W $sound.wav
    err_has "$words"
    err_lines 1
    ! grep -q notes w/$sound.json "$T/out" || bad "the JSON of $sound is openai-whisper's, without notes" "$(cat w/$sound.json)"
    # shellcheck disable=SC2086
    expect 0 "--compat whisper-cli prints the note of $sound" $C $sound.wav
    err_has "$words"
    err_lines 2 # the other line names the file
    ! grep -q notes $sound.wav.json "$T/out" || bad "the JSON of $sound is whisper-cli's, without notes" "$(cat $sound.wav.json)"
    # shellcheck disable=SC2086
    expect 0 "--compat whisper-cli -np prints no note of $sound" $C -np $sound.wav
    err_lines 0
    # shellcheck disable=SC2086
    expect 0 "--compat whisper-cli -p 2 prints no note of $sound" $C -p 2 $sound.wav
    err_lacks "$words"
done

if have_ffmpeg "channels, clocks"; then
    scaled 1 >left
    scaled -1 >right
    two left right >cancel.wav
    note channels-cancel "its channels cancel each other" -l zh cancel.wav
    expect 0 "one of two channels that cancel is read" -q -m "$MODEL" -l zh cancel.wav
    same "$T/out" text
    expect 0 "a channel that is selected has no note" -m "$MODEL" -l zh --channels 1 cancel.wav
    err_lines 0
    two left left >both.wav
    expect 0 "equal channels have no note" -m "$MODEL" -l zh both.wav
    err_lines 0
    note sound-late "the sound begins 4.087 s after" -l zh "$SRC/tests/data/audio/late.mkv"
    head -c 40000 "$SRC/tests/data/audio/fr.flac" >damaged.flac
    head -c 400 /dev/zero | tr '\0' 'U' >>damaged.flac
    tail -c +40401 "$SRC/tests/data/audio/fr.flac" >>damaged.flac
    expect 0 "a damaged file has a note" -q -m "$MODEL" -l fr damaged.flac -f json
    out_has '"kind": "damaged"'
    expect 0 "--compat whisper reads the mix, as Whisper does" --compat whisper --model "$MODEL" --language zh cancel.wav \
        --output_format json
    err_has "all samples are 0 in the mix of 2 channels, which may cancel each other"
    [ -z "$(grep notes cancel.json)" ] || bad "--compat whisper writes no note about channels" "$(cat cancel.json)"
fi

# Every verb that reads sound chooses a channel if all of them cancel out.
if have_ffmpeg "channels of other verbs"; then
    reason="its channels cancel each other: the mix is silent, so channel 0 is read"
    wav <left >left.wav
    for verb in "align -l zh" detect stream "stream -f txt"; do
        words=
        [ "$verb" != "align -l zh" ] || words=$(head -1 text)
        for sound in left cancel; do
            # shellcheck disable=SC2086
            expect 0 "$verb reads $sound.wav" $verb -m "$MODEL" $sound.wav ${words:+"$words"}
            sed 's/,"latency_ms":[0-9]*//' "$T/out" >$sound.out
        done
        err_has "cancel.wav: $reason"
        same cancel.out left.out
    done
    expect 0 "detect writes the note as JSON" detect -q --json -m "$MODEL" cancel.wav
    out_has '"kind": "channels-cancel"'
    F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
    if [ -d "$F" ]; then
        expect 0 "vad reads one channel" vad -m "$F" left.wav
        cp "$T/out" left.out
        expect 0 "vad reads one of two channels that cancel" vad -m "$F" cancel.wav
        same "$T/out" left.out
        err_has "cancel.wav: $reason"
    fi
    echo "what comes through a pipe is read once, as a mix"
    cat cancel.wav | "$STENO" stream -m "$MODEL" >"$T/out" 2>"$T/err"
    err_has "all samples are 0 in the mix of 2 channels, which may cancel each other"
fi

# A text of tags alone is empty, too.
SV=${STENO_SHARED:-/none}/material/funasr/models/sensevoice/pt
if [ -d "$SV" ]; then
    head -c 64000 /dev/zero >silent.pcm
    wav <silent.pcm >silent.wav
    for how in "-m $SV --no-vad --keep-tags" "--compat funasr -m $SV -a" "--compat funasr -m $SV --keep-tags -a"; do
        # shellcheck disable=SC2086
        expect 0 "${how/$SV/SenseVoice} notes that no speech was found" $how silent.wav
        err_has "silent.wav: no speech was found: all samples are 0"
    done
fi

# The other verbs.
printf '今天，天气\n\n' >marked.txt
expect 0 "punctuate prints a note about marks" punctuate -m "$SRC/tests/data/punctuation_streaming" marked.txt
err_has "marked.txt: 1 of 2 lines had punctuation before"
printf '\n \n' >blank.txt
expect 0 "punctuate prints a note about an empty text" punctuate -m "$SRC/tests/data/punctuation_streaming" blank.txt
err_has "blank.txt: there is no text in it"
expect 0 "punctuate -q prints no note" punctuate -q -m "$SRC/tests/data/punctuation_streaming" blank.txt marked.txt
err_lines 0
LM=${STENO_SHARED:-/none}/material/llm/models
if [ -d "$LM" ]; then
    expect 0 "generate prints a note about its limit" generate -m "$LM/qwen3/hf" --raw --ignore-eos -n 3 -j hello
    err_has "the answer ends after 3 tokens, which is its limit"
    out_has '"notes": [{"kind": "limit", "text": "the answer ends after 3 tokens'
    expect 0 "generate prints a note about a full context" generate -m "$LM/qwen3/hf" --raw --ignore-eos -n 0 -c 16 hello
    err_has "the context of 16 tokens is full"
    expect 0 "search prints a note about no result" search -m "$LM/bert/hf" hello blank.txt --json
    err_has "nothing was found"
    out_has '"notes": [{"kind": "no-result"'
fi
expect 0 "detect prints a note about silence" detect -m "$MODEL" silence.wav --json
err_has "no speech was found"
out_has '"notes": [{"kind": "no-speech"'
expect 0 "align prints a note about words without times" align -m "$MODEL" -l zh silence.wav "one two" --json
err_has "2 of 2 words have no time"
out_has '{"kind": "doubtful"'
expect 0 "stream prints a note about no speech" stream -m "$MODEL" -l zh hum.wav
err_has "no speech was found (level -42.1 dBFS"
F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ -d "$F" ]; then
    expect 0 "vad prints a note about silence" vad -m "$F" silence.wav --json
    err_has "no speech was found"
    out_has '"notes": [{"kind": "no-speech"'
    expect 0 "vad prints no note about speech" vad -m "$F" "$DIGITS" --json
    err_lines 0
fi
finish
