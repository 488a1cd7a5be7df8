# steno: log-probabilities of tokens in JSON, seconds and speed of inputs in jsonl. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() { # t WANT CLAIM ARGUMENT...
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@" "$DIGITS"
}

t 0 "JSON is written without --token-logprobs" -f json
! grep -q logprobs "$T/out" || bad "JSON has no log-probabilities by default" "$(head -c 300 "$T/out")"
t 0 "--token-logprobs writes log-probabilities" --token-logprobs -f json,verbose_json,jsonl -o asked
if type -P python3 >/dev/null; then
    python3 - asked/* <<'END' || bad "each token has a log-probability" "$(head -c 300 asked/zh_phrases.json)"
import json, sys
for name in sys.argv[1:]:
    segments = json.loads(open(name).read().split("\n")[name.endswith(".jsonl")])["segments"] # of jsonl behind the job
    assert segments
    for s in segments:
        assert len(s["token_logprobs"]) == len(s["tokens"]) > 0
        assert all(-50 < p <= 0 for p in s["token_logprobs"])
    of_windows = {s["seek"]: s["avg_logprob"] for s in segments}
    for seek, mean in of_windows.items(): # the sum over one more than the tokens, as the end of text counts
        own = [p for s in segments if s["seek"] == seek for p in s["token_logprobs"]]
        assert abs(sum(own) / (len(own) + 1) - mean) < 0.02, (own, mean)
END
else
    echo "(not tried: JSON; python3 is missing)"
fi
expect 2 "--token-logprobs is refused for srt" -m none --token-logprobs -f srt x.wav
err_has "shows in the output formats json, verbose_json and jsonl"

speeds='"duration": 7.[0-9]+, "seconds": [0-9.e-]+, "speed": [0-9.]+, "status": "ok"'
echo "no sound" >broken.wav
t 1 "jsonl has a line for each input" -f jsonl none.wav broken.wav
is "the input that was transcribed has seconds and speed" "$(grep -cE "$speeds" "$T/out")" 1
is "inputs that cannot be opened have no seconds and no speed" \
    "$(grep -c '"duration": null, "seconds": null, "speed": null, "status": "error"' "$T/out")" 2
err_lacks "time "
t 0 "other formats are written" -f verbose_json,json,json_full -o objects
! grep -q '"speed"' objects/* || bad "other formats than jsonl have no speed" "$(grep -o '"speed".\{20\}' objects/*)"
t 0 "jsonl is written in a batch" -b 2 -f jsonl "$DIGITS"
is "each input of a batch has seconds and speed" "$(grep -cE '"seconds": [0-9.e-]+, "speed": [0-9.]+, "status": "ok"' "$T/out")" 2
finish
