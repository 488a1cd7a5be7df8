# steno: a language model continues a text. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

LLM=${STENO_SHARED:-/none}/material/llm
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    PROMPT="Never about little they'll it's 1999 listen about."
    GREEDY="488 536 409 36 105 122 83 397 388 574 146 420 195 379 236 518 378 450 533 411 73 543 543 483 134 551 592 98 34 455 117 329"
    expect 0 "generate prints ids" generate -m "$Q" --compute f32 --raw -n 32 --ids "$PROMPT"
    is "the ids are those of the reference" "$(cat "$T/out")" "$GREEDY"
    expect 0 "draft tokens from the prompt are accepted" generate -m "$Q" --compute f32 --raw -n 32 --ids --draft-max 8 "$PROMPT"
    is "draft tokens from the prompt do not change the ids" "$(cat "$T/out")" "$GREEDY"
    expect 0 "draft tokens from a prompt with repetitions are accepted" \
        generate -m "$Q" --raw -n 60 --ignore-eos --draft-max 4 -j "$PROMPT $PROMPT $PROMPT"
    out_has '"accepted": '
    expect 0 "a draft model is accepted" generate -m "$Q" --compute f32 --raw -n 32 --ids --draft "$Q" --draft-max 5 "$PROMPT"
    is "a draft model does not change the ids" "$(cat "$T/out")" "$GREEDY"
    expect 0 "a draft model that saves no time drafts no tokens by default" generate -m "$Q" --raw -n 9 -j --draft "$Q" "$PROMPT"
    out_has '"drafted": 0'
    expect 2 "a draft model with another vocabulary is refused" \
        generate -m "$Q" --raw --draft "$LLM/models/llama/gguf/llama-F32.gguf" "$PROMPT"
    err_has "--draft: the draft model has another vocabulary"
    expect 2 "a speech model is refused as the draft model" generate -m "$Q" --raw --draft "$MODEL" "$PROMPT"
    err_has "cannot draft for"
    printf 'a\nb\n' >lines.txt
    expect 0 "several prompts are answered together" generate -m "$Q" --raw --ignore-eos -n 20 --ids --prompts lines.txt
    cp "$T/out" alone
    expect 0 "a draft model is accepted for several prompts" \
        generate -m "$Q" --raw --ignore-eos -n 20 --ids --draft "$Q" --draft-max 3 --prompts lines.txt
    same "$T/out" alone
    expect 0 "objects of several prompts count draft tokens" \
        generate -m "$Q" --raw --ignore-eos -n 20 --draft "$Q" --draft-max 3 --prompts lines.txt
    grep -q '"accepted": [1-9]' "$T/out" || bad "draft tokens of several prompts were accepted" "$(cat "$T/out")"
    expect 2 "a draft model with another vocabulary is refused for several prompts" \
        generate -m "$Q" --raw --draft "$LLM/models/llama/gguf/llama-F32.gguf" --prompts lines.txt
    err_has "--draft: the draft model has another vocabulary"
    expect 2 "--draft-max 0 is refused with a draft model" generate -m "$Q" --raw --draft "$Q" --draft-max 0 "$PROMPT"
    printf '%s' "$PROMPT" >prompt.txt
    expect 0 "a prompt in a file is read" generate -m "$Q" --compute f32 --raw -n 32 --ids -f prompt.txt
    is "a prompt in a file gives the same ids" "$(cat "$T/out")" "$GREEDY"
    IN=prompt.txt expect 0 "a prompt on standard input is read" generate -m "$Q" --compute f32 --raw -n 32 --ids -
    is "a prompt on standard input gives the same ids" "$(cat "$T/out")" "$GREEDY"
    expect 0 "generate prints a text" generate -m "$Q" --compute f32 --raw -n 32 "$PROMPT"
    iconv -f UTF-8 -t UTF-8 "$T/out" >/dev/null || bad "the text is UTF-8" "$(head -c 200 "$T/out")"
    cp "$T/out" plain.txt
    "$STENO" generate -m "$Q" --compute f32 --raw -n 32 -t 2 -p "$PROMPT" 2>/dev/null | cat >piped.txt
    same plain.txt piped.txt
    expect 0 "-j prints an object" generate -m "$Q" --compute f32 --raw -n 5 -j "$PROMPT"
    out_has '"finish_reason": "length"'
    out_has '"ids": [488, 536, 409, 36, 105]'
    expect 0 "sampling with a seed is accepted" generate -m "$Q" --raw -n 20 --ids --temperature 1 --top-k 20 --seed 4 "$PROMPT"
    cp "$T/out" drawn
    expect 0 "the same seed on two threads is accepted" \
        generate -m "$Q" --raw -n 20 --ids --temperature 1 --top-k 20 --seed 4 -t 2 "$PROMPT"
    same drawn "$T/out"
    expect 0 "another seed is accepted" generate -m "$Q" --raw -n 20 --ids --temperature 1 --top-k 20 --seed 5 "$PROMPT"
    cmp -s drawn "$T/out" && bad "another seed draws other ids" "$(cat drawn)"
    expect 0 "--stop ends the text" generate -m "$Q" --compute f32 --raw -n 32 --stop "zzzz|$(cut -c 3-4 plain.txt | head -1)" -j "$PROMPT"
    out_has '"finish_reason": "stop"'
    expect 0 "a prompt has the form of a chat" generate -m "$Q" -n 4 -j --system "Be brief." "Hi"
    out_has '"prompt_ids": [589,'
    expect 0 "--prompt-template sets the form of the turn" \
        generate -m "$LLM/models/llama/gguf/llama-F32.gguf" --prompt-template "A {prompt} B" -n 4 "Hi"
    SCHEMA='{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"enum":["a","b"]}},"required":["n","s"]}'
    for seed in 1 2 3; do
        expect 0 "a schema is accepted" generate -m "$Q" --temperature 1 --seed $seed --json-schema "$SCHEMA" "$PROMPT"
        tr -d ' \t\n' <"$T/out" | grep -qE '^\{"n":[1-9],"s":"[ab]"\}$' || bad "the text follows the schema" "$(cat "$T/out")"
    done
    printf 'root ::= "yes" | "no"' >rules.gbnf
    expect 0 "a grammar in a file is accepted" generate -m "$Q" --grammar-file rules.gbnf "$PROMPT"
    grep -qE '^(yes|no)$' "$T/out" || bad "the text follows the grammar" "$(cat "$T/out")"
    # Many prompts: a line for each, in their order, each with the text that it has alone.
    printf '%s\nHello there\n\n%s\nlittle\n' "$PROMPT" "$PROMPT" >many.txt
    for b in 1 2 8; do
        expect 0 "many prompts are answered, $b at a time" generate -m "$Q" --compute f32 --raw -n 32 --ids --prompts many.txt -b $b -t 2
        is "each prompt has a line, $b at a time" "$(wc -l <"$T/out")" 4
        is "the first answer is that of the prompt alone, $b at a time" "$(sed -n 1p "$T/out")" "$GREEDY"
        is "the third answer is that of the prompt alone, $b at a time" "$(sed -n 3p "$T/out")" "$GREEDY"
        cp "$T/out" many.$b
        same many.1 many.$b
    done
    SYSTEM="Be brief, be kind, and say nothing else at all, whatever they ask."
    expect 0 "many prompts are answered with objects" generate -m "$Q" -n 5 --system "$SYSTEM" --prompts many.txt
    is "each prompt has an object" "$(grep -c '^{"index": [0-3], "text": ".*"reused": ' "$T/out")" 4
    grep -q '"index": 3.*"reused": \([3-9][0-9]\|[1-9][0-9][0-9]\),' "$T/out" || bad "the system's text is computed once" "$(cat "$T/out")"
    printf '"one\\ntwo"\n{"id": [1, {"prompt": "no"}], "prompt": "Hello there"}\n' >many.jsonl
    expect 0 "prompts in JSON are read" generate -m "$Q" --raw -n 3 -j --prompts many.jsonl
    expect 0 "one of the prompts in JSON is answered alone" generate -m "$Q" --raw -n 3 --ids "Hello there"
    ONE=$(cat "$T/out")
    expect 0 "all prompts in JSON are answered" generate -m "$Q" --raw -n 3 --ids --prompts many.jsonl
    is "the second answer is that of the prompt alone" "$(sed -n 2p "$T/out")" "$ONE"
    IN=many.txt expect 0 "prompts on standard input are read" generate -m "$Q" --compute f32 --raw -n 32 --ids --prompts -
    same many.1 "$T/out"
    head -c 3000 /dev/zero | tr '\0' 'x' >toolong.txt
    cat many.txt toolong.txt >some.txt
    expect 2 "a prompt that does not fit is refused" generate -m "$Q" --raw -n 3 --prompts some.txt
    err_has "prompt 5: "
    err_has "leave no room in a context of"
    grep -q text_ctx "$T/err" "$T/out" && bad "the message names no option of other verbs" "$(cat "$T/err")"
    is "the other prompts have answers" "$(grep -c '"finish_reason"' "$T/out")" 4
    grep -q '^{"index": 4, "error": "' "$T/out" || bad "the line of the refused prompt has the error" "$(tail -1 "$T/out")"
    : >empty.txt
    expect 4 "a file without a prompt is refused" generate -m "$Q" --prompts empty.txt
    expect 4 "a missing file of prompts is reported" generate -m "$Q" --prompts nowhere.txt
    printf '{"text": "x"}\n' >wrong.jsonl
    expect 4 "an object without a prompt is refused" generate -m "$Q" --prompts wrong.jsonl
    err_has 'value 1 is neither a JSON string nor an object with a string "prompt"'
    expect 2 "--prompts and a prompt exclude each other" generate -m "$Q" --prompts many.txt hello
    expect 2 "-b 2 is refused for one prompt" generate -m "$Q" -b 2 hello
    err_has "--batch-size needs --prompts"
    expect 2 "-b 0 is refused" generate -m "$Q" -b 0 --prompts many.txt
    expect 2 "-b 129 is refused" generate -m "$Q" -b 129 --prompts many.txt
    # Refused before anything is computed.
    expect 2 "generate needs a prompt" generate -m "$Q"
    err_has "generate needs a prompt"
    expect 2 "an empty prompt is refused" generate -m "$Q" --raw ""
    expect 2 "a prompt that is too long is refused" generate -m "$Q" --raw -c 8 "$PROMPT"
    err_has "16 ids leave no room in a context of 8; -c makes more, up to "
    expect 2 "generate needs a model" generate "$PROMPT"
    err_has "generate needs a language model: -m MODEL"
    err_lines 1
    expect 2 "chat needs a model" chat
    err_has "chat needs a language model: -m MODEL"
    expect 2 "nan is refused as a temperature" generate -m "$Q" --temperature nan "$PROMPT"
    expect 2 "--top-k is refused without a temperature" generate -m "$Q" --top-k 4 "$PROMPT"
    err_has "--top-k is of sampling, and needs --temperature above 0"
    expect 2 "--min-p above 1 is refused" generate -m "$Q" --temperature 1 --min-p 1.5 "$PROMPT"
    expect 2 "an unknown sampler is refused" generate -m "$Q" --samplers "top_k;magic" "$PROMPT"
    err_has "'magic' is none of"
    expect 2 "a context larger than the model's is refused" generate -m "$Q" -c 1000000 "$PROMPT"
    expect 2 "a template without a prompt is refused" generate -m "$Q" --prompt-template "{system}" "$PROMPT"
    echo '{"$ref":"#"}' >self.json
    expect 2 "a schema that contains itself is refused" generate -m "$Q" --json-schema '{"$ref":"#"}' "$PROMPT"
    err_has '--json-schema, /$ref: it leads back to a schema that it is a part of'
    expect 2 "a schema in a file that contains itself is refused" generate -m "$Q" --json-schema-file self.json "$PROMPT"
    err_has '--json-schema-file, /$ref: it leads back'
    expect 2 "a schema that is cut is refused" generate -m "$Q" --json-schema '{' "$PROMPT"
    err_has "--json-schema: line 1"
    expect 2 "a keyword that is not served is refused" generate -m "$Q" --json-schema '{"properties":{"a":{"pattern":"x"}}}' "$PROMPT"
    err_has "/properties/a/pattern: this keyword is not served"
    expect 2 "a grammar without a text is refused" generate -m "$Q" --grammar 'root ::= ""' "$PROMPT"
    expect 2 "two prompts are refused" generate -m "$Q" -p "$PROMPT" "$PROMPT"
fi
expect 2 "a speech model is refused" generate -m "$MODEL" --raw a
err_has "it takes a language model"
finish
