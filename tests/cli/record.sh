# steno: each JSON format has every field of a result, with openai-whisper's numbers. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }

# Prints a line for each run that is as the reference's, and ends with a message where one is not.
python3 - "$STENO" "$MODEL" "$SRC/tests/data" >"$T/out" 2>"$T/err" <<'END' || bad "every field is there, within 1e-4" "$(tail -1 "$T/out")"
import json, subprocess, sys
steno, model, data = sys.argv[1:]
FORMATS = ["json", "verbose_json", "json_full", "jsonl"]
NUMBERS = ["temperature", "avg_logprob", "compression_ratio", "no_speech_prob"]

def run(path, form, *options):
    fixed = ["-q", "-m", model, "--compute", "f32", "--guards", "off", "--greedy", "-f", form]
    if form != "json_full": fixed += ["--token-logprobs"]
    out = subprocess.run([steno, "transcribe", *fixed, *options, path], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out.splitlines()[-1])

def record(got, form):
    """language, its probability (None: there is none), text, segments, whose ids and words are lists"""
    if form != "json_full":
        return got["language"], got.get("language_probability"), got["text"], got["segments"]
    segments = [dict(s, start=s["offsets"]["from"] / 1000, end=s["offsets"]["to"] / 1000) for s in got["transcription"]]
    text = "".join(s["text"] for s in segments)
    return got["result"]["language"], got["result"].get("language_probability"), text, segments

def near(got, want, what, limit=1e-4):
    assert got is not None and abs(got - want) <= limit, (what, got, want)

def compare(name, form, got, want, code, probability):
    language, prob, text, segments = record(got, form)
    names = {"en": "english", "de": "german", "es": "spanish", "fr": "french", "zh": "chinese"}
    assert language == (names[code] if form == "verbose_json" else code), (name, form, language)
    assert text.strip() == want["text"].strip(), (name, form, text)
    if probability is None: assert prob is None, (name, form, "a probability of a language that was given", prob)
    else: near(prob, probability, (name, form, "language_probability"))
    assert len(segments) == len(want["segments"]), (name, form, len(segments))
    for s, w in zip(segments, want["segments"]):
        assert s["text"] == w["text"], (name, form, s["text"])
        for key in NUMBERS + ["start", "end"]: near(s[key], w[key], (name, form, key))
        ids = [t["id"] for t in s["tokens"]] if form == "json_full" else s["tokens"]
        assert ids == [i for i in w["tokens"] if form != "json_full" or i < 50257], (name, form, ids)
        if form != "json_full":
            assert len(s["token_logprobs"]) == len(ids) and all(p <= 0 for p in s["token_logprobs"]), (name, form, "token_logprobs")
    print(name, form)

files = {n: f for n, f in json.load(open(data + "/golden/golden.json"))["files"].items() if f["path"].endswith(".wav")}
assert len(files) >= 6
for name, f in files.items():
    path, code = data + "/" + f["path"], f["language"]
    auto, greedy = f["results"].get("auto", {}), f["results"]["greedy"]
    for form in FORMATS if auto.get("stable") else []:
        compare(name, form, run(path, form), auto, auto["language"], f["language_probs"][auto["language"]])
    if greedy["stable"]: compare(name, "json", run(path, "json", "-l", code), greedy, code, None)

# The same numbers stand beside words and times of tokens, and the temperature is that of the attempt which gave the text.
path = data + "/audio/zh_phrases.wav"
for form in FORMATS:
    plain = record(run(path, form), form)
    words = record(run(path, form, "--word-timestamps", "--token-timestamps"), form)
    assert words[:3] == plain[:3] and len(words[3]) == len(plain[3]) > 0, (form, words)
    for s, p in zip(words[3], plain[3]):
        for key in NUMBERS: near(s[key], p[key], (form, "with words", key))
        assert form == "json_full" or len(s["words"]) and len(s["token_times"]) == len(s["tokens"]), (form, s)
    for t in [0.4, 1.0]:
        got = record(run(path, form, "--temperature", str(t), "--best-of", "2"), form)
        assert got[3] and all(s["temperature"] == t for s in got[3]), (form, t)
    ladder = record(run(path, form, "--logprob-threshold", "0", "--no-speech-threshold", "1"), form)
    assert ladder[3] and all(s["temperature"] == 1 for s in ladder[3]), (form, "no attempt is good enough", ladder[3][:1])
    print(form)
END
[ "$(wc -l <"$T/out")" -ge 30 ] || bad "at least 30 runs were compared" "$(wc -l <"$T/out")"
finish
