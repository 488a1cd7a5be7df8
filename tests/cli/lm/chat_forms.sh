# steno: prompts of chat models: templates that are not known, line ends, and spaces of pieces. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
LM=$SRC/tests/data/lm/qwen3-q4_0.gguf
ids() { sed 's/.*"prompt_ids": \(\[[^]]*\]\).*/\1/' "$T/out"; }

# A template whose form is not known is an error for every reader; --raw and --prompt-template do not use it.
sed 's/<|im_start|>/<|ix_start|>/g' "$LM" >unknown.gguf
expect 3 "an unknown template is refused" generate -m unknown.gguf -n 2 hi
err_has "this version does not know the model's chat template"
err_has "--prompt-template"
err_has "--raw"
expect 3 "an unknown template is refused with a system's text" generate -m unknown.gguf -n 2 --system "Be brief" hi
printf 'hi\nyou\n' >lines
expect 3 "an unknown template is refused for many prompts" generate -m unknown.gguf -n 2 --prompts lines
is "the unknown template is reported once" "$(wc -l <"$T/err")" 1
IN=lines expect 3 "an unknown template is refused for a conversation" chat -m unknown.gguf -n 2
expect 0 "--raw does not use the template" generate -m unknown.gguf -n 2 --raw hi
expect 0 "--prompt-template does not use the template" generate -m unknown.gguf -n 2 --prompt-template 'U: {prompt}\nA:' hi
expect 0 "info prints that the template is unknown" info -m unknown.gguf
out_has "unknown"

# Templates that have a name: the one for every use, the only one; of several none is chosen. GGUF keys grow by whole blocks of 32 bytes.
rename() { # rename FILE NAME...
    python3 - "$LM" "$@" <<'PY'
import struct, sys
source, target, *names = sys.argv[1:]
data = open(source, "rb").read()
key = b"tokenizer.chat_template"
at = data.index(struct.pack("<Q", len(key)) + key + struct.pack("<I", 8))
end = at + 8 + len(key) + 4
n = struct.unpack_from("<Q", data, end)[0]
text = data[end + 8:end + 8 + n]
def entry(name, value): return struct.pack("<Q", len(name)) + name + struct.pack("<IQ", 8, len(value)) + value
new = b"".join(entry(key + b"." + name.encode(), b"{{ x }}" if name == "tool_use" and len(names) > 1 else text) for name in names)
room = -(len(new) - (12 + 8 + len(key) + n)) % 32
while room < 40: room += 32
new += entry(b"x" * 12, b"y" * (room - 32))
data = bytearray(data[:at] + new + data[end + 8 + n:])
struct.pack_into("<Q", data, 16, struct.unpack_from("<Q", data, 16)[0] + len(names))
open(target, "wb").write(data)
PY
}
expect 0 "a template without a name is used" generate -m "$LM" -n 1 -j "hi"
ids >want
for names in default "tool_use default" "default rag" tool_use; do
    rename named.gguf $names
    expect 0 "a model with templates called $names answers" generate -m named.gguf -n 1 -j hi
    is "the right template is used of $names" "$(ids)" "$(cat want)"
done
rename named.gguf tool_use rag
expect 3 "templates for special uses alone are refused" generate -m named.gguf -n 1 -j hi
err_has "this version does not know the model's chat template"

# One line end at the end of a file is no part of the prompt; a second one is.
expect 0 "a prompt on the command line is read" generate -m "$LM" -n 1 -j "hi"
ids >want
for end in '' '\n' '\r\n'; do
    printf "hi$end" >prompt.txt
    expect 0 "a prompt in a file is read" generate -m "$LM" -n 1 -j -f prompt.txt
    is "a prompt in a file is the same with and without a line end" "$(ids)" "$(cat want)"
    IN=prompt.txt expect 0 "a prompt on standard input is read" generate -m "$LM" -n 1 -j -
    is "a prompt on standard input is the same with and without a line end" "$(ids)" "$(cat want)"
done
printf 'hi\n\n' >prompt.txt
expect 0 "a prompt with two line ends is read" generate -m "$LM" -n 1 -j -f prompt.txt
[ "$(ids)" != "$(cat want)" ] || bad "a second line end is a part of the prompt" "$(ids)"

# A form that the user gives is one text with the prompt in it, and adds no other token.
ML='<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n'
expect 0 "a written form is accepted" generate -m "$LM" -n 1 -j --prompt-template "$ML" hi
is "a written form gives the ids of the template" "$(ids)" "$(cat want)"
expect 0 "the name of a form is accepted" generate -m "$LM" -n 1 -j --think --prompt-template chatml hi
is "the named form gives the ids of the template" "$(ids)" "$(cat want)"

# Pieces: what lies between special tokens has one space before it, wherever the prompt begins.
LLAMA=${STENO_SHARED:-/none}/material/llm/models/llama
for m in "$LLAMA/hf" "$LLAMA/gguf/llama-Q8_0.gguf"; do
    [ -e "$m" ] || continue
    expect 0 "the whole text is read as one prompt" generate -m "$m" -n 1 -j --raw "a hi you b"
    ids >want
    for form in 'a {prompt} b' 'a h{prompt}u b' '<s>a {prompt} b'; do
        text="hi you"
        [ "$form" = 'a h{prompt}u b' ] && text="i yo"
        expect 0 "a prompt in the middle of a form is read" generate -m "$m" -n 1 -j --prompt-template "$form" "$text"
        is "the form gives the ids of the whole text: $form" "$(ids)" "$(cat want)"
    done
    expect 0 "ChatML is accepted" generate -m "$m" -n 1 -j --prompt-template chatml "hi you"
    ids >want
    printf '<|im_start|>user\nhi you<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n.' >whole.txt
    "$STENO" tokenize --special --ids -m "$m" "$(cat whole.txt)" |
        sed 's/ [0-9]*$//; s/ /, /g; s/.*/[&]/' >whole
    expect 0 "ChatML without thoughts is accepted" generate -m "$m" -n 1 -j --no-think --prompt-template chatml "hi you"
    is "ChatML without thoughts gives the ids of one text" "$(ids)" "$(cat whole)"
done
finish
