# steno: the reference's writers, byte for byte. SPDX-License-Identifier: MIT
#
# tests/data/writers holds what openai-whisper's own writers made of the same recordings and the same model. Two fields of the JSON are
# sums of floating-point numbers, whose last digits differ between engines; everything else has to be the same.
. "$(dirname "$0")/../lib.sh"

blur() { sed -E 's/("(avg_logprob|no_speech_prob)": )[^,}]*/\1X/g' "$1"; }

compare() { # compare AUDIO LANGUAGE
    local name
    name=$(basename "${1%.*}")
    expect 0 "$name is written in every format" -q -m "$MODEL" --compute f32 --guards off --greedy -l "$2" -f all -o out "$1"
    for f in txt srt vtt tsv; do same "out/$name.$f" "$WRITERS/$name.$f"; done
    blur "out/$name.json" >ours.json
    blur "$WRITERS/$name.json" >theirs.json
    same ours.json theirs.json
    is "the JSON ends without a newline" "$(tail -c 1 "out/$name.json")" "}"
}

compare "$DIGITS" zh
for f in csv lrc; do # whisper.cpp's layout of the same segments
    expect 0 "zh_phrases is written as $f" -q -m "$MODEL" --compute f32 --guards off --greedy -l zh -f $f "$DIGITS"
    sed '/^\[by:whisper.cpp\]$/d' "$WRITERS/zh_phrases.$f" >want # steno's own lyrics do not name another program
    same "$T/out" want
done
expect 0 "json_full has every token" -q -m "$MODEL" -l zh --word-timestamps -f json_full "$DIGITS"
if type -P python3 >/dev/null; then
    python3 - "$T/out" <<'END' || bad "the texts of tokens are their segment's, and their times ascend" "$(head -c 600 "$T/out")"
import json, sys
segments = json.load(open(sys.argv[1]))["transcription"]
assert len(segments) == 3
last = 0
for s in segments:
    assert "".join(t["text"] for t in s["tokens"]) == s["text"] and "\ufffd" not in s["text"]
    for t in s["tokens"]:
        assert 0 < t["p"] <= 1 and s["offsets"]["from"] <= t["offsets"]["from"] <= t["offsets"]["to"] <= s["offsets"]["to"]
        assert last <= t["t_dtw"] * 10 <= s["offsets"]["to"]
        last = t["t_dtw"] * 10
END
else
    echo "(not tried: json_full as JSON; python3 is missing)"
fi
if have_ffmpeg "a FLAC file"; then compare "$WRITERS/edge34_es.flac" es; fi

golden=${STENO_SHARED:-/none}/material/whisper-digits/golden
for folder in "$golden"/writers/*; do
    [ -d "$folder/plain" ] || { echo "(not tried: the reference's files of more recordings; they are not here)"; continue; }
    WRITERS=$folder/plain
    name=$(basename "$folder")
    compare "$golden/audio/$name" "$(echo "${name%.wav}" | grep -oE '(^|_)(en|es|zh|de|fr)(_|$)' | tr -d _)"
done
finish
