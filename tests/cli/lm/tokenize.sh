# steno: the tokens of a text. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

SHARED=${STENO_SHARED:-/none}
LLM=$SHARED/material/llm
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    expect 0 "--ids prints ids in one line" tokenize -m "$Q" --ids "Hello, who are you?"
    is "the ids are those of the reference" "$(cat "$T/out")" "39 312 75 78 11 262 71 78 259 261 409 30"
    printf 'Hello, who are you?' >hello.txt
    expect 0 "a text in a file is read" tokenize -m "$Q" --ids @hello.txt
    is "a text in a file has the same ids" "$(cat "$T/out")" "39 312 75 78 11 262 71 78 259 261 409 30"
    expect 0 "tokenize prints pieces" tokenize -m "$Q" "Hé"
    out_has '39 "H"'
    expect 0 "--json prints an object" tokenize -m "$Q" --json "Hello"
    out_has '{"ids": [39, 312, 75, 78], "pieces": ["H", "el", "l", "o"]}'
    expect 0 "a marker is read as text" tokenize -m "$Q" --ids "<|im_end|>"
    is "a marker has no id of its own" "$(grep -c '^590$' "$T/out")" 0
    expect 0 "--special reads a marker" tokenize -m "$Q" --ids --special "<|im_end|>"
    is "--special gives a marker one id" "$(cat "$T/out")" 590
    expect 0 "--whole reads an empty text" tokenize -m "$LLM/models/llama/gguf/llama-F32.gguf" --ids --whole ""
    is "--whole adds the id of the beginning" "$(cat "$T/out")" 1
    expect 0 "a file of a vocabulary alone is read" tokenize -m "$LLM/tok/gpt2-vocab.gguf" --ids "a"
    expect 0 "--decode reads ids" tokenize -m "$Q" --decode "39 312 75 78 11 262 71 78 259 261 409 30"
    is "--decode prints the text" "$(cat "$T/out")" "Hello, who are you?"
    printf '[39, 312,\n75, 78]\n' >ids.txt
    expect 0 "--decode reads ids of a file" tokenize -m "$Q" --decode --json @ids.txt
    is "--decode --json prints an object" "$(cat "$T/out")" '{"text": "Hello"}'
    expect 0 "--decode reads a marker's id" tokenize -m "$Q" --decode "39 590"
    is "--decode leaves markers out" "$(cat "$T/out")" "H"
    expect 0 "--decode --special reads a marker's id" tokenize -m "$Q" --decode --special "39 590"
    is "--decode --special prints markers" "$(cat "$T/out")" "H<|im_end|>"
    "$STENO" tokenize -m "$Q" --ids "Hé, 你好 👍🏽" | "$STENO" tokenize -m "$Q" --decode - >back.txt
    is "--decode of --ids gives the text" "$(cat back.txt)" "Hé, 你好 👍🏽"
    for ids in "39 x" "39 -1" "39 99999999999999999999" "39 4000000000" "39 2000000000" "1.5" "39x"; do
        expect 2 "'$ids' are refused as ids" tokenize -m "$Q" --decode "$ids"
        err_has "is not a token of this model; ids are 0 to"
        none "refused ids print nothing" "$(cat "$T/out")"
    done
    expect 0 "--decode reads an empty text" tokenize -m "$Q" --decode ""
    none "--decode of no ids prints nothing" "$(cat "$T/out")"
    expect 2 "--decode and --ids exclude each other" tokenize -m "$Q" --decode --ids "39"
    err_has "and --decode exclude each other"
    expect 4 "a missing file is reported" tokenize -m "$Q" @nowhere.txt
    err_has "nowhere.txt"
    expect 3 "an unknown pattern is refused" tokenize -m "$SHARED/material/bad/gguf/pre-unknown.gguf" a
    err_has "no-such-pre"
else
    echo "(not tried: texts of a model; STENO_SHARED does not name the collection of language models)"
fi
expect 2 "tokenize needs a text" tokenize
err_has "one text"
finish
