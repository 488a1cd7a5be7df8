# steno: what a language model makes of a transcript. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

LLM=${STENO_SHARED:-/none}/material/llm
DEMO=$SRC/tests/data/demo.wav
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    expect 0 "as it is heard" transcribe -q -m "$MODEL" "$DEMO"
    cp "$T/out" heard.txt
    expect 0 "what is made of it" transcribe -q -m "$MODEL" --post "$Q" "$DEMO"
    cp "$T/out" made.txt
    cmp -s heard.txt made.txt && bad "something is made of it" "$(cat made.txt)"
    [ -s made.txt ] || bad "something is made of it" "nothing"
    ASK="Correct the mistakes of spelling, grammar and punctuation in the following transcript of speech. Keep its words, its order and \
its language. Answer with the corrected text alone.

 $(cat heard.txt)"
    expect 0 "the same is asked by hand" generate -m "$Q" --no-think -n 64 "$ASK"
    is "answers begin alike" "$(head -c 40 "$T/out")" "$(head -c 40 made.txt)"
    expect 0 "objects have both" transcribe -q -m "$MODEL" --post "$Q" --post-prompt summarise -f json "$DEMO"
    out_has '"post": "'
    out_has '"text": " zero nine one eight. two seven."'
    expect 0 "several inputs" transcribe -q -m "$MODEL" --post "$Q" --post-prompt "Say yes." -b 2 -f jsonl "$DEMO" "$DEMO"
    [ "$(grep -c '"type": "transcript", .*"post": "' "$T/out")" = 2 ] || bad "each has one" "$(cat "$T/out")"
    expect 0 "subtitles are what was heard" transcribe -q -m "$MODEL" --post "$Q" -f srt,txt -o results "$DEMO"
    grep -q "zero nine one eight" results/demo.srt || bad "subtitles are what was heard" "$(cat results/demo.srt)"
    same made.txt results/demo.txt
    # A text of several parts: they are answered beside each other, and come in their order, however many there are.
    long_speech 30 >long.wav
    expect 0 "a text of several parts" transcribe -q -m "$MODEL" --post "$Q" -t 2 long.wav
    cp "$T/out" parts.txt
    [ "$(wc -c <parts.txt)" -gt 450 ] || bad "all parts have answers" "$(cat parts.txt)"
    expect 0 "the same on one thread, behind another text" transcribe -q -m "$MODEL" --post "$Q" -t 1 "$DEMO" long.wav
    tail -n "$(wc -l <parts.txt)" "$T/out" >again.txt
    same parts.txt again.txt
    expect 2 "nowhere to show it" transcribe -m "$MODEL" --post "$Q" -f srt "$DEMO"
    err_has "--post shows in txt, json, jsonl and verbose_json"
    expect 2 "a model that does not answer" transcribe -m "$MODEL" --post "$LLM/models/llama/gguf/llama-F32.gguf" "$DEMO"
    err_has "it takes a language model that answers"
    LONG=$(head -c 4000 /dev/zero | tr '\0' 'x')
    expect 2 "a prompt that leaves no room" transcribe -q -m "$MODEL" --post "$Q" --post-prompt "$LONG" "$DEMO"
    err_has "has no room for --post-prompt"
fi
expect 2 "a recogniser" transcribe -m "$MODEL" --post "$MODEL" "$DEMO"
err_has "it takes a language model that answers"
expect 3 "a model that is not there" transcribe -m "$MODEL" --post nowhere.gguf "$DEMO"
expect 2 "a prompt without a model" transcribe -m "$MODEL" --post-prompt summarise "$DEMO"
err_has "--post-prompt needs --post"
finish
