# steno: vectors of texts, and lines of transcripts by meaning. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

expect 2 "embed needs a model" embed text
err_has "embed needs an embedding model: -m MODEL"
expect 2 "embed refuses a speech model" embed -m "$MODEL" text
err_has "-m: a whisper model makes no vectors of texts; it takes BERT or a language model"
expect 2 "search needs files" search -m "$MODEL" query
err_has "search takes a query, and the files to search"
BERT=${STENO_SHARED:-/none}/material/llm/models/bert
if [ ! -d "$BERT" ]; then
    echo "(not tried: vectors; the collection is not here)"
    finish
fi

# ---- embed
expect 0 "embed prints the vector of a text" embed -m "$BERT/hf" "The quiet harbour keeps seven green lamps."
out_has '{"text": "The quiet harbour keeps seven green lamps.", "tokens": 10, "truncated": false, "embedding": [-0.09'
is "the vector has 64 numbers" "$(grep -o 'embedding": \[.*' "$T/out" | tr -cd , | wc -c)" 63
printf 'a\r\nthe river\n今天天气很好' >lines.txt
expect 0 "embed reads the lines of a file" embed -m "$BERT/hf" @lines.txt
is "each line has a vector" "$(grep -c '"embedding"' "$T/out")" 3
cp "$T/out" want
IN=lines.txt expect 0 "embed reads the lines of standard input" embed -m "$BERT/hf"
same "$T/out" want
IN=lines.txt expect 0 "embed reads standard input by the name -" embed -m "$BERT/hf" -t 1 -
same "$T/out" want
expect 0 "embed reads several texts" embed -m "$BERT/hf" a "the river" 今天天气很好
same "$T/out" want
expect 0 "-f npy writes an array of NumPy" embed -m "$BERT/gguf/bert-F16.gguf" --compute f32 -f npy @lines.txt
is "the array has a head and three rows" "$(wc -c <"$T/out")" $((128 + 3 * 64 * 4))
cp "$T/out" f16.npy
expect 0 "-f npy writes the array of the folder's model" embed -m "$BERT/hf" --compute f32 -f npy @lines.txt
cp "$T/out" f32.npy
expect 0 "the folder and the file in f16 have similar vectors" compare f16.npy f32.npy
out_has "1.0000"
expect 0 "--pooling cls is accepted" embed -m "$BERT/hf" --pooling cls a
cmp -s "$T/out" <(head -1 want) && bad "--pooling cls gives another vector" "it is the same"
expect 0 "--no-normalize is accepted" embed -m "$BERT/hf" --no-normalize a
cmp -s "$T/out" <(head -1 want) && bad "--no-normalize gives another vector" "it is the same"
expect 1 "an empty text is reported" embed -m "$BERT/hf" a ""
err_has "text 2 has no tokens: it is empty"
printf 'a\n\nb\n' >empty.txt
expect 0 "an empty line of a file is accepted" embed -m "$BERT/hf" @empty.txt
err_has "1 line has no text and no vector"
is "an empty line keeps its place" "$(sed -n 2p "$T/out")" '{"text": "", "tokens": 0, "truncated": false, "embedding": null}'
is "the other lines have vectors" "$(grep -c '"embedding": \[' "$T/out")" 2
printf '\n \t\na\n' >begins.txt
expect 0 "a file that begins with empty lines is accepted" embed -q -m "$BERT/hf" -f npy @begins.txt
err_lines 0
is "the array has rows for empty lines" "$(wc -c <"$T/out")" $((128 + 3 * 64 * 4))
is "the rows of empty lines are zeros" "$(tail -c +129 "$T/out" | head -c $((2 * 64 * 4)) | tr -d '\0' | wc -c)" 0
printf '\n\n' >blank.txt
expect 4 "a file of empty lines is refused" embed -m "$BERT/hf" @blank.txt
err_has "there is no text"
out_empty
printf 'a\n\342\200\213\n\302\240 \357\273\277\nb\n\342\200\215\n' >invisible.txt # characters of no width
expect 0 "lines of invisible characters count as empty" embed -m "$BERT/hf" @invisible.txt
err_has "3 lines have no text and no vector"
is "these keep their places" "$(grep -n null "$T/out" | cut -d: -f1 | tr '\n' ' ')" "2 3 5 "
is "the lines between have vectors" "$(grep -c '"embedding": \[' "$T/out")" 2
printf '\342\200\213\n%.0s' 1 2 3 >invisible.txt
for form in json npy; do
    expect 4 "a file of invisible characters has no text" embed -m "$BERT/hf" -f $form @invisible.txt
    err_has "there is no text"
    out_empty
done
printf '\342\200\213\n%.0s' $(seq 100) >invisible.txt # more than are embedded together
printf 'b' >>invisible.txt
expect 0 "a hundred invisible lines before a text" embed -m "$BERT/hf" @invisible.txt
is "each has its place" "$(wc -l <"$T/out")" 101
long=$(yes a | head -200 | tr '\n' ' ')
expect 1 "a text that is too long is reported" embed -m "$BERT/hf" "$long"
err_has "text 1 has 202 tokens, and the model takes 96"
expect 0 "--truncate reads the beginning of a text" embed -m "$BERT/hf" --truncate "$long"
out_has '"tokens": 96, "truncated": true'
err_has "1 text is longer than the model takes: only the beginning was read"
expect 4 "a missing file is reported" embed -m "$BERT/hf" @nowhere.txt
err_has "nowhere.txt"
expect 4 "standard input without a text is refused" embed -m "$BERT/hf" -
err_has "there is no text"
expect 0 "embed accepts a language model" embed -m "$BERT/../qwen3/gguf/qwen3-Q8_0.gguf" a
out_has '"tokens": 1, '

# ---- search: all formats have the same lines
ln -s "$DIGITS" talk.wav
expect 0 "transcripts of every format are written" -q -m "$MODEL" -l zh -f txt,srt,vtt,tsv,csv,lrc,json,jsonl,verbose_json,json_full -o . \
    talk.wav
tail -n +2 talk.tsv | cut -f1,3 >known
first=$(head -1 known | cut -f2)
times=$(cut -f2 known | grep -cxF "$first")
expect 0 "search reads every format" search -m "$BERT/hf" -k 100 "$first" \
    talk.{srt,vtt,tsv,csv,json,jsonl,verbose_json,json_full}
is "search prints each line of each format" "$(wc -l <"$T/out")" $((8 * $(wc -l <known)))
is "the query is found in each format" "$(grep -c '^1.0000' "$T/out")" $((8 * times))
is "each line has a time" "$(cut -f3 "$T/out" | grep -vc '^[0-9:]*\.[0-9][0-9][0-9]$')" 0
is "the nearest lines come first" "$(cut -f1 "$T/out" | sort -rs)" "$(cut -f1 "$T/out")"
expect 0 "search prints numbers of lines for text" search -m "$BERT/hf" -k 1 "$first" talk.txt talk.lrc
out_has "line 1"
expect 0 "--json prints an object" search -m "$BERT/hf" -k 1 --json seven talk.srt
out_has '{"query": "seven", "results": [{"score": '
out_has '"file": "talk.srt", "line": '
IN=talk.vtt expect 0 "search reads standard input" search -m "$BERT/hf" -k 1 seven -
out_has "standard input"
expect 1 "a missing file is reported beside another" search -m "$BERT/hf" -k 1 seven none.srt talk.srt
err_has "none.srt"
out_has "talk.srt"
printf '{"segments": [{"text": "a b"' >cut.json
expect 4 "a file that is cut is refused" search -m "$BERT/hf" seven cut.json
err_has "cut.json: it is not JSON from segment 1 on"
expect 2 "an empty query is refused" search -m "$BERT/hf" "" talk.srt
err_has "the query has no tokens"
finish
