# steno: transcripts that a language model rewrites. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

LLM=${STENO_SHARED:-/none}/material/llm
DEMO=$SRC/tests/data/demo.wav
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    expect 0 "transcribe prints the text" transcribe -q -m "$MODEL" "$DEMO"
    cp "$T/out" decoded.txt
    expect 0 "--post prints another text" transcribe -q -m "$MODEL" --post "$Q" "$DEMO"
    cp "$T/out" post.txt
    cmp -s decoded.txt post.txt && bad "--post changes the text" "$(cat post.txt)"
    [ -s post.txt ] || bad "--post prints a text" "nothing"
    ASK="Correct the mistakes of spelling, grammar and punctuation in the following transcript of speech. Keep its words, its order and \
its language. Answer with the corrected text alone.

 $(cat decoded.txt)"
    expect 0 "generate answers the same prompt" generate -m "$Q" --no-think -n 64 "$ASK"
    is "the answer begins as with --post" "$(head -c 40 "$T/out")" "$(head -c 40 post.txt)"
    expect 0 "json has the text and the answer" transcribe -q -m "$MODEL" --post "$Q" --post-prompt summarise -f json "$DEMO"
    out_has '"post": "'
    out_has '"text": " zero nine one eight. two seven."'
    expect 0 "several inputs are answered" transcribe -q -m "$MODEL" --post "$Q" --post-prompt "Say yes." -b 2 -f jsonl "$DEMO" "$DEMO"
    [ "$(grep -c '"type": "transcript", .*"post": "' "$T/out")" = 2 ] || bad "each input has an answer" "$(cat "$T/out")"
    expect 0 "--post writes subtitles and text" transcribe -q -m "$MODEL" --post "$Q" -f srt,txt -o results "$DEMO"
    grep -q "zero nine one eight" results/demo.srt || bad "subtitles have the decoded text" "$(cat results/demo.srt)"
    same post.txt results/demo.txt
    # A text of several parts: the parts are answered together, and the answers have their order for any number of parts.
    long_speech 30 >long.wav
    expect 0 "a text of several parts is answered" transcribe -q -m "$MODEL" --post "$Q" -t 2 long.wav
    cp "$T/out" parts.txt
    [ "$(wc -c <parts.txt)" -gt 450 ] || bad "all parts have answers" "$(cat parts.txt)"
    expect 0 "one thread answers it behind another text" transcribe -q -m "$MODEL" --post "$Q" -t 1 "$DEMO" long.wav
    tail -n "$(wc -l <parts.txt)" "$T/out" >again.txt
    same parts.txt again.txt
    expect 2 "--post is refused for srt" transcribe -m "$MODEL" --post "$Q" -f srt "$DEMO"
    err_has "--post shows in txt, json, jsonl and verbose_json"
    expect 2 "a model without a chat template is refused" transcribe -m "$MODEL" --post "$LLM/models/llama/gguf/llama-F32.gguf" "$DEMO"
    err_has "it takes a language model that answers"
    LONG=$(head -c 4000 /dev/zero | tr '\0' 'x')
    expect 2 "a prompt that leaves no room is refused" transcribe -q -m "$MODEL" --post "$Q" --post-prompt "$LONG" "$DEMO"
    err_has "has no room for --post-prompt"
fi
expect 2 "a speech model is refused" transcribe -m "$MODEL" --post "$MODEL" "$DEMO"
err_has "it takes a language model that answers"
expect 3 "a missing model is reported" transcribe -m "$MODEL" --post nowhere.gguf "$DEMO"
expect 2 "--post-prompt is refused without --post" transcribe -m "$MODEL" --post-prompt summarise "$DEMO"
err_has "--post-prompt needs --post"
finish
