# steno: the tokens of a text. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

SHARED=${STENO_SHARED:-/none}
LLM=$SHARED/material/llm
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    expect 0 "ids in one line" tokenize -m "$Q" --ids "Hello, who are you?"
    is "ids are those of the reference" "$(cat "$T/out")" "39 312 75 78 11 262 71 78 259 261 409 30"
    printf 'Hello, who are you?' >hello.txt
    expect 0 "a file's" tokenize -m "$Q" --ids @hello.txt
    is "the same" "$(cat "$T/out")" "39 312 75 78 11 262 71 78 259 261 409 30"
    expect 0 "pieces" tokenize -m "$Q" "Hé"
    out_has '39 "H"'
    expect 0 "an object" tokenize -m "$Q" --json "Hello"
    out_has '{"ids": [39, 312, 75, 78], "pieces": ["H", "el", "l", "o"]}'
    expect 0 "markers are text" tokenize -m "$Q" --ids "<|im_end|>"
    is "no id of its own" "$(grep -c '^590$' "$T/out")" 0
    expect 0 "markers that are asked for" tokenize -m "$Q" --ids --special "<|im_end|>"
    is "one id" "$(cat "$T/out")" 590
    expect 0 "the beginning of a text" tokenize -m "$LLM/models/llama/gguf/llama-F32.gguf" --ids --whole ""
    is "one id" "$(cat "$T/out")" 1
    expect 0 "a vocabulary by itself" tokenize -m "$LLM/tok/gpt2-vocab.gguf" --ids "a"
    expect 0 "and back" tokenize -m "$Q" --decode "39 312 75 78 11 262 71 78 259 261 409 30"
    is "the text" "$(cat "$T/out")" "Hello, who are you?"
    printf '[39, 312,\n75, 78]\n' >ids.txt
    expect 0 "ids of a file" tokenize -m "$Q" --decode --json @ids.txt
    is "as an object" "$(cat "$T/out")" '{"text": "Hello"}'
    expect 0 "markers are no text" tokenize -m "$Q" --decode "39 590"
    is "left out" "$(cat "$T/out")" "H"
    expect 0 "markers that are asked for" tokenize -m "$Q" --decode --special "39 590"
    is "as they are written" "$(cat "$T/out")" "H<|im_end|>"
    "$STENO" tokenize -m "$Q" --ids "Hé, 你好 👍🏽" | "$STENO" tokenize -m "$Q" --decode - >back.txt
    is "there and back" "$(cat back.txt)" "Hé, 你好 👍🏽"
    for ids in "39 x" "39 -1" "39 99999999999999999999" "39 4000000000" "39 2000000000" "1.5" "39x"; do
        expect 2 "'$ids' are no ids" tokenize -m "$Q" --decode "$ids"
        err_has "is not a token of this model; ids are 0 to"
        none "nothing is printed" "$(cat "$T/out")"
    done
    expect 0 "no ids" tokenize -m "$Q" --decode ""
    none "no text" "$(cat "$T/out")"
    expect 2 "ids of ids" tokenize -m "$Q" --decode --ids "39"
    err_has "and --decode exclude each other"
    expect 4 "no such file" tokenize -m "$Q" @nowhere.txt
    err_has "nowhere.txt"
    expect 3 "an unknown pattern" tokenize -m "$SHARED/material/bad/gguf/pre-unknown.gguf" a
    err_has "no-such-pre"
else
    echo "(not tried: texts of a model; STENO_SHARED does not name the collection of language models)"
fi
expect 2 "no text" tokenize
err_has "one text"
finish
