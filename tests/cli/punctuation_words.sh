# steno: words of a text with punctuation. SPDX-License-Identifier: MIT
#
# The words of a segment, one behind the other, are its text, with marks of any source: cues, --max-len and JSON rely on that.
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr
[ -d "$F" ] || { echo "skipped: STENO_SHARED does not name the FunASR collection"; exit 77; }
type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
cat >words.py <<'END'
import json, sys
n = 0
for line in sys.stdin:
    for s in json.loads(line).get('segments') or []: # the job and the sums have none
        joined = ''.join(w['word'] for w in s['words'])
        assert joined == s['text'], (s['text'], joined)
        n += len(s['words'])
assert n >= 12, n
END
A=$F/audio
for model in paraformer-bicif/gguf/paraformer-bicif-mini-f16.gguf \
    paraformer/gguf/paraformer-mini-f16.gguf sensevoice/gguf/sensevoice-mini-q8.gguf; do
    for marks in "--punctuation $F/models/punc/pt" --no-punctuation; do
        # shellcheck disable=SC2086
        expect 0 "$(basename $model) has words with $marks" -q -m "$F/models/$model" --no-vad $marks --word-timestamps -f jsonl \
            $A/{en_george,zh_synth,zh_synth_long,ko_synth,ja_synth}.wav
        python3 words.py <"$T/out" >messages 2>&1 || bad "the words of $(basename $model) are its text with $marks" "$(tail -n 1 messages)"
    done
done
B="-q -m $F/models/paraformer-bicif/gguf/paraformer-bicif-mini-f16.gguf --no-vad --punctuation $F/models/punc/pt"
# shellcheck disable=SC2086
expect 0 "a text with marks is printed" $B "$A/zh_synth_long.wav"
text=$(cat "$T/out")
for how in "-f srt" "-f vtt" "-f ass"; do
    # shellcheck disable=SC2086
    expect 0 "$how has cues" $B --word-timestamps $how "$A/zh_synth_long.wav"
    [ "$how" = "-f ass" ] || out_has "$text"
    sed 's/{[^}]*}//g' "$T/out" | grep -qF "$text" || bad "$how has the text" "$(tail -n 3 "$T/out")"
done
# shellcheck disable=SC2086
expect 0 "cues by a style are written" $B --style netflix -f srt "$A/zh_synth_long.wav"
LC_ALL=C.UTF-8 grep -qP '[\x{4e00}-\x{9fff}，。、] [\x{4e00}-\x{9fff}]' "$T/out" &&
    bad "cues by a style have no space between characters" "$(cat "$T/out")"
# shellcheck disable=SC2086
expect 0 "cues with underlined words are written" $B --word-timestamps --highlight-words -f srt "$A/zh_synth_long.wav"
LC_ALL=C.UTF-8 grep -qP '[\x{4e00}-\x{9fff}，。、] ' "$T/out" &&
    bad "cues with underlined words have no space between characters" "$(cat "$T/out")"
# shellcheck disable=SC2086
expect 0 "--max-len 3 is accepted" $B --max-len 3 -f srt "$A/zh_synth_long.wav"
[ "$(grep -c -- '-->' "$T/out")" -gt 2 ] || bad "--max-len 3 writes several cues" "$(cat "$T/out")"
finish
