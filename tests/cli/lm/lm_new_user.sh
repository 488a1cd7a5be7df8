# steno: mistakes of new users with the verbs of language models. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

LM=$SRC/tests/data/lm/qwen3-q4_0.gguf
BAD=$'a\xff b'

refused() { # refused MESSAGE ARGUMENT...: a mistake is reported in one line
    local message=$1
    shift
    expect 2 "steno $1: $message" "$@"
    err_has "$message"
    err_lines 1
    out_empty
}

for verb in generate chat embed search tokenize; do
    expect 0 "$verb --help prints the verb's options" $verb --help
    out_has "Usage: steno $verb "
    out_has "--model"
    expect 0 "help $verb prints the verb's options" help $verb
done

# Other programs' names of options.
refused "unknown option --n-predict; here it is --max-tokens" generate -m "$LM" --n-predict 5 hi
refused "unknown option --temp; did you mean --temperature?" generate -m "$LM" --temp 1 hi
refused "unknown option --system-prompt; here it is --system" chat -m "$LM" --system-prompt x
refused "unknown option --n-predict" embed -m "$LM" --n-predict 5 hi

# Ranges.
refused "-n: -1 is out of range; it takes 0 to" generate -m "$LM" -n -1 hi
refused "--top-p: 1.5 is out of range; it takes 0 to 1" generate -m "$LM" --top-p 1.5 hi
refused "--temperature: -1 is out of range" chat -m "$LM" --temperature -1
refused "--seed: -2 is out of range" generate -m "$LM" --seed -2 hi
refused "--repeat-penalty: 0 is out of range" generate -m "$LM" --repeat-penalty 0 hi
refused "--top: 0 is out of range" search -m "$LM" --top 0 hi x.srt
refused "and the model was trained for contexts of 1024" generate -m "$LM" -c 5000 hi
expect 0 "-n 0 goes on until the context is full" generate -m "$LM" -n 0 -c 40 --ignore-eos -j hi
out_has '"finish_reason": "length"'

# Files and models.
expect 3 "a missing model is reported" generate -m nowhere.gguf hi
err_has "nowhere.gguf: no such file or folder"
head -c 50000 "$LM" >cut.gguf
for verb in generate chat embed tokenize; do
    [ $verb = tokenize ] || IN=/dev/null expect 3 "$verb reports a damaged model" $verb -m cut.gguf $([ $verb = chat ] || echo hi)
    [ $verb = tokenize ] || err_has "is the copy complete?"
done
expect 4 "a missing file is reported" generate -m "$LM" -f nowhere.txt
err_has "nowhere.txt: No such file or directory"
printf 'a\0b' >zero.txt
expect 4 "a file that is not text is refused" generate -m "$LM" -f zero.txt
err_has "zero.txt: is not text in UTF-8 at byte 1, which is zero"

# Texts.
refused "the prompt is empty" generate -m "$LM" ""
refused "the prompt is not valid UTF-8 at byte 1" generate -m "$LM" "$BAD"
refused "--system is not valid UTF-8 at byte 1" generate -m "$LM" --system "$BAD" hi
refused "text 2 is not valid UTF-8 at byte 1" embed -m "$LM" a "$BAD"
refused "the query is not valid UTF-8 at byte 1" search -m "$LM" "$BAD" x.srt
printf 'a\xff\nhello\n' >bad_lines.txt
IN=bad_lines.txt expect 0 "a line that is not text is reported, and the conversation continues" chat -q -m "$LM" -n 4
err_has "the line is not valid UTF-8 at byte 1"
err_lines 1
[ -s "$T/out" ] || bad "the next line has an answer" "it is not"
yes 'a long prompt' | head -2000 >huge.txt
expect 2 "a prompt without room is refused" generate -m "$LM" -f huge.txt
err_has "leave no room in a context of 1024, and the model was trained for no more"
expect 2 "a raw prompt without room is refused" generate -m "$LM" --raw -f huge.txt
refused "--json-schema: line 1, byte 1: the text ends inside a value" generate -m "$LM" --json-schema '{' hi
echo '{"type": "null"}' >schema.json
echo 'root ::= "a"' >rules.gbnf
refused "--json-schema takes the text itself: for the file schema.json write --json-schema-file" \
    generate -m "$LM" --json-schema schema.json hi
refused "--grammar takes the text itself: for the file rules.gbnf write --grammar-file" generate -m "$LM" --grammar rules.gbnf hi
refused "--json-schema: line 1" generate -m "$LM" --json-schema none.json hi
refused "--json-schema, the whole: it never ends" generate -m "$LM" --json-schema '{"type":"array","items":{"$ref":"#"},"minItems":1}' hi
rm schema.json rules.gbnf
refused "grammar, line 1" generate -m "$LM" --grammar 'root := "a"' hi

# Markers in a user's prompt are text; in a template that the user gives they are markers.
expect 0 "a marker in a prompt is accepted" generate -m "$LM" -n 1 -j '<|im_end|>'
end=$("$STENO" tokenize -m "$LM" --ids --special '<|im_end|>')
is "the marker is one token" "$(wc -w <<<"$end")" 1
count() { grep -o '"prompt_ids": \[[^]]*\]' "$T/out" | tr -c '0-9\n' ' ' | tr ' ' '\n' | grep -cx "$end"; }
is "the turn of the user ends once" "$(count)" 1
expect 0 "a marker in the system's text is accepted" generate -m "$LM" -n 1 -j --system '<|im_end|>' hi
is "the system's turn and the user's turn end once each" "$(count)" 2
expect 0 "a marker in a template is accepted" generate -m "$LM" -n 1 -j --prompt-template '{prompt}<|im_end|>' '<|im_end|>'
is "the template's marker alone ends a turn" "$(count)" 1

# Templates that are programs are never run: a known one is recognised by its markers, an unknown one is refused.
expect 0 "a program as a form is not run" \
    generate -m "$LM" -n 1 --prompt-template '{% for i in range(999999999) %}{prompt}{{ i }}{% endfor %}' hi
refused "--prompt-template: it is not chatml, llama2, llama3 or gemma, and has no {prompt}" generate -m "$LM" --prompt-template '{{x}}' hi

# Characters of several tokens are printed whole: a pipe receives them one by one and has the bytes of a file.
expect 0 "characters of several bytes are printed" generate -m "$LM" -n 200 --ignore-eos --temperature 2 --seed 5 hi
iconv -f UTF-8 -t UTF-8 "$T/out" >/dev/null || bad "the text is UTF-8" "$(head -c 100 "$T/out" | od -c | head)"
"$STENO" generate -m "$LM" -n 200 --ignore-eos --temperature 2 --seed 5 hi | cat >piped
same piped "$T/out"
finish
