# steno: words of a text with punctuation. SPDX-License-Identifier: MIT
#
# Whatever wrote the marks, the words of a segment, one behind the other, are its text: cues, --max-len and JSON rely on that.
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
        expect 0 "$(basename $model) $marks" -q -m "$F/models/$model" --no-vad $marks --word-timestamps -f jsonl \
            $A/{en_george,zh_synth,zh_synth_long,ko_synth,ja_synth}.wav
        python3 words.py <"$T/out" >said 2>&1 || bad "the words are the text" "$(tail -n 1 said)"
    done
done
B="-q -m $F/models/paraformer-bicif/gguf/paraformer-bicif-mini-f16.gguf --no-vad --punctuation $F/models/punc/pt"
# shellcheck disable=SC2086
expect 0 "the text" $B "$A/zh_synth_long.wav"
text=$(cat "$T/out")
for how in "-f srt" "-f vtt" "-f ass"; do
    # shellcheck disable=SC2086
    expect 0 "cues have it: $how" $B --word-timestamps $how "$A/zh_synth_long.wav"
    [ "$how" = "-f ass" ] || out_has "$text"
    sed 's/{[^}]*}//g' "$T/out" | grep -qF "$text" || bad "$how has the text" "$(tail -n 3 "$T/out")"
done
# shellcheck disable=SC2086
expect 0 "cues by a style" $B --style netflix -f srt "$A/zh_synth_long.wav"
LC_ALL=C.UTF-8 grep -qP '[\x{4e00}-\x{9fff}，。、] [\x{4e00}-\x{9fff}]' "$T/out" && bad "no space stands between them" "$(cat "$T/out")"
# shellcheck disable=SC2086
expect 0 "a word is underlined" $B --word-timestamps --highlight-words -f srt "$A/zh_synth_long.wav"
LC_ALL=C.UTF-8 grep -qP '[\x{4e00}-\x{9fff}，。、] ' "$T/out" && bad "without spaces" "$(cat "$T/out")"
# shellcheck disable=SC2086
expect 0 "--max-len cuts it" $B --max-len 3 -f srt "$A/zh_synth_long.wav"
[ "$(grep -c -- '-->' "$T/out")" -gt 2 ] || bad "into several cues" "$(cat "$T/out")"
finish
