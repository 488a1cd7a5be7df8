# steno: conversations with a language model. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

LLM=${STENO_SHARED:-/none}/material/llm
if [ -d "$LLM" ]; then
    Q=$LLM/models/qwen3/hf
    printf 'Hello\n/reset\nHello\n' >twice.txt
    IN=twice.txt expect 0 "two conversations are answered" chat -m "$Q" --compute f32 -n 12 --no-think
    [ "$(wc -l <"$T/out")" -ge 2 ] || bad "each line has an answer" "$(cat "$T/out")"
    iconv -f UTF-8 -t UTF-8 "$T/out" >/dev/null || bad "the answers are UTF-8" "$(head -c 200 "$T/out")"
    cp "$T/out" both.txt
    printf 'Hello\n/exit\nHello\n' >once.txt
    IN=once.txt expect 0 "/exit ends a conversation" chat -m "$Q" --compute f32 -n 12 --no-think
    cat "$T/out" "$T/out" >doubled.txt
    same both.txt doubled.txt # /reset leaves nothing, /exit ends
    expect 0 "generate gives the answer of chat" generate -m "$Q" --compute f32 -n 12 --no-think "Hello"
    cat "$T/out" "$T/out" >doubled.txt
    same both.txt doubled.txt
    printf 'Hello\nand again\n' >on.txt
    IN=on.txt expect 0 "a conversation that fills the context ends" chat -m "$Q" -c 40 --ignore-eos
    err_has "the context of 40 tokens is full, and the answer ends here"
    err_has "the context of 40 tokens is full: with this line the conversation has"
    printf '/what\n' >what.txt
    IN=what.txt expect 0 "an unknown command is reported" chat -m "$Q"
    err_has "/what: unknown command; the commands are /reset and /exit"
    L=$LLM/models/llama/gguf/llama-F32.gguf
    IN=once.txt expect 3 "a model without a chat template is refused" chat -m "$L"
    err_has "--prompt-template sets the form of its turns"
    IN=once.txt expect 0 "--prompt-template sets the form of turns" chat -m "$L" -n 4 --prompt-template 'User: {prompt}\nYou:'
    IN=once.txt expect 2 "a form without {prompt} is refused" chat -m "$L" --prompt-template 'User:'
    IN=once.txt expect 2 "a system's text is refused for a form without it" chat -m "$LLM/models/gemma/hf" --system x --prompt-template 'no'
    IN=once.txt expect 2 "a negative temperature is refused" chat -m "$Q" --temperature -1
fi
expect 2 "a speech model is refused" chat -m "$MODEL"
expect 2 "an operand is refused" chat -m "$MODEL" hello
finish
