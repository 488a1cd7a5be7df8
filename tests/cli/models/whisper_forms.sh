# steno: Whisper models in other forms: whisper.cpp's, OpenAI's, folders of transformers. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
export STENO_MODEL=
unset STENO_MODEL
sum() { sha256sum <"$1" | cut -c1-16; }
expect 0 "the text of the model" -q -m "$MODEL" "$DIGITS"
cp "$T/out" want

# ---- every type: sums of the files of whisper.cpp's quantizer, and the text
while read -r type bytes sum; do
    expect 0 "$type" quantize -q "$MODEL" $type.bin $type
    err_lines 0
    out_empty
    is "$type has its size" "$(stat -c %s $type.bin)" "$bytes"
    is "$type has the bytes of whisper.cpp's quantizer" "$(sum $type.bin)" "$sum"
    expect 0 "info tells $type" info $type.bin
    out_has "format: whisper.cpp .bin"
    out_has "weights: $type"
    expect 0 "$type transcribes" -q -m $type.bin "$DIGITS"
    same "$T/out" want
done <<'END'
q8_0 10299381 49f72055a2b62176
q5_1 7794701 bc1eb89d7aa7c9cb
q5_0 7293765 e584d6466fd8640c
q4_1 6792829 8c370a53ed23eb15
q4_0 6291893 57b9f7346e255822
END
expect 0 "type in capitals, two threads" quantize -t 2 "$MODEL" again.bin Q5_0
err_has "steno: again.bin: "
err_has "whisper-digits.bin had 17813421"
err_lines 1
same again.bin q5_0.bin
expect 0 "any name, with the form said" quantize -q --to bin "$MODEL" again q5_0
same again q5_0.bin
expect 0 "f16, which it is" quantize -q "$MODEL" again.bin f16
same again.bin "$MODEL"
expect 0 "as it is" convert -q "$MODEL" again.bin
same again.bin "$MODEL"
expect 0 "blocks as they are" convert -q q8_0.bin again.bin
same again.bin q8_0.bin
expect 0 "all of it in f32" convert -q --type f32 "$MODEL" f32.bin
expect 0 "f32 transcribes" -q -m f32.bin "$DIGITS"
same "$T/out" want
expect 0 "f32 in f16 again" convert -q --type f16 f32.bin again.bin
same again.bin "$MODEL"
expect 0 "blocks from f32 are those from f16" quantize -q f32.bin again.bin q4_1
same again.bin q4_1.bin
expect 0 "blocks become numbers" convert -q --type f16 q8_0.bin again.bin
expect 0 "which are the same blocks again" quantize -q again.bin once.bin q8_0
expect 0 "that transcribe" -q -m once.bin "$DIGITS"
same "$T/out" want

# ---- OpenAI's form, and back
expect 0 "as a .pt file" convert "$MODEL" own.pt
err_has "vocabulary, mel filters and alignment heads are not in it"
expect 0 "which transcribes" -q -m own.pt --vocab "$MODEL" "$DIGITS"
same "$T/out" want
expect 0 "and back" convert -q --vocab "$MODEL" own.pt again.bin
same again.bin "$MODEL"
expect 0 "and once more" convert -q --vocab "$MODEL" own.pt again.pt
same again.pt own.pt
expect 0 "blocks as numbers" convert -q q8_0.bin q8_0.pt
expect 0 "with the same text" -q -m q8_0.pt --vocab "$MODEL" "$DIGITS"
same "$T/out" want
expect 0 "and the same blocks again" quantize -q --vocab "$MODEL" q8_0.pt again.bin q8_0
same again.bin once.bin
for type in f16 bf16 f32; do
    expect 0 "$type" convert -q --type $type --vocab "$MODEL" own.pt $type.pt
    expect 0 "$type is read" info --vocab "$MODEL" $type.pt
    out_has "weights: $type"
done
same f16.pt own.pt
expect 2 "blocks in a .pt file" quantize "$MODEL" a.pt q8_0
err_has "q8_0 is written to a .bin file alone; f32, f16 and bf16 are written to others"
if command -v python3 >/dev/null; then
    python3 -m zipfile -t own.pt >"$T/out" 2>&1
    is "sums of the archive are right" "$? $(cat "$T/out")" "0 Done testing"
fi

# ---- a folder of transformers, and round the three forms
expect 0 "as a folder" convert "$MODEL" new/own/
err_lines 1
expect 0 "which transcribes" -q -m new/own "$DIGITS"
same "$T/out" want
expect 0 "words and their times, too" -q -m "$MODEL" -f json --word-timestamps "$DIGITS"
cp "$T/out" words
expect 0 "by the heads that it names" -q -m new/own -f json --word-timestamps "$DIGITS"
same "$T/out" words
expect 0 "from there OpenAI's file" convert new/own round.pt
err_has "vocabulary, mel filters and alignment heads are not in it"
same round.pt own.pt
expect 0 "and from that whisper.cpp's" convert -q --vocab new/own round.pt round.bin
same round.bin "$MODEL"
expect 0 "or from the folder at once" convert new/own round.bin
err_has "alignment heads and settings of generation are not in it"
same round.bin "$MODEL"
expect 0 "a folder of the file of the folder" convert -q --to hf round.bin two
for file in new/own/*; do same "$file" "two/${file##*/}"; done
is "files of a folder" "$(ls two | wc -l)" 10
expect 0 "in bf16" convert -q --type bf16 --to hf two three
expect 0 "which says so" info three
out_has "weights: bf16"
grep -q '"torch_dtype": "float32"' two/config.json || bad "readers are told not to round" "$(grep dtype two/config.json)"
expect 6 "a folder that has files in it" convert "$MODEL" two/
err_has "two/: cannot write: the folder is not empty; name a new one"
expect 2 "a folder of blocks" quantize "$MODEL" four/ q8_0
expect 3 "a damaged model as a folder" convert new four/
[ ! -e four ] || bad "nothing is left of a folder that failed" "$(ls four)"
if [ -d "${STENO_SHARED:-/none}/material/whisper-digits/hf" ]; then
    for file in merges.txt; do same new/own/$file "${STENO_SHARED:-/none}/material/whisper-digits/hf/$file"; done
    if command -v python3 >/dev/null; then
        python3 - "${STENO_SHARED:-/none}/material/whisper-digits/hf" >"$T/out" 2>&1 <<'END'
import json, sys
for name, leave in (("generation_config", ()), ("preprocessor_config", ()), ("vocab", ()), ("added_tokens", ()), ("special_tokens_map", ()),
                    ("tokenizer", ()), ("tokenizer_config", ()), ("config", ("torch_dtype", "max_length"))):
    ours, theirs = (json.load(open(f"{folder}/{name}.json")) for folder in ("new/own", sys.argv[1]))
    for key in set(ours) | set(theirs):
        assert key in leave or ours.get(key) == theirs.get(key), (name, key)
END
        is "settings and tokenizer are those of the folder that it was trained as" "$? $(cat "$T/out")" "0 "
    fi
fi

# ---- other spellings of the same model
W=${STENO_SHARED:-/none}/material/whisper-digits
if [ -d "$W" ]; then
    for form in hf whisper-digits.pt; do
        expect 0 "$form as whisper.cpp's file" convert -q --vocab "$MODEL" "$W/$form" $form.bin
        [ $form = hf ] || same $form.bin "$MODEL"
        is "$form is as large" "$(stat -c %s $form.bin)" "$(stat -c %s "$MODEL")" # transformers sorts tensors by their names
        expect 0 "the text of $form as it" -q -m $form.bin "$DIGITS"
        same "$T/out" want
        for type in q8_0 q5_1 q5_0 q4_1 q4_0 f32 f16; do
            expect 0 "$form as $type" quantize -q --vocab "$MODEL" "$W/$form" at-once.bin $type
            expect 0 "the file of it as $type" quantize -q $form.bin again.bin $type
            same at-once.bin again.bin
        done
    done
    expect 0 "a folder has its vocabulary" convert -q "$W/hf" again.bin
    same again.bin hf.bin
else
    echo "(not tried: STENO_SHARED does not name the collection of spellings)"
fi

# ---- mistakes
for type in q2_k q3_k q4_k q5_k q6_k; do
    expect 2 "$type of narrow rows" quantize "$MODEL" a.bin $type
    err_has "tensor encoder.blocks.0.attn.query.weight has rows of 128, which are not whole blocks of $type, of 256 numbers each"
    err_has "take q8_0, q5_1, q5_0, q4_1 or q4_0"
done
expect 2 "a type of GGUF files" quantize "$MODEL" a.bin q4_k_m
err_has "q4_k_m is not a type of whisper.cpp's files; f32, f16, q8_0"
expect 2 "a type that it does not read" quantize "$MODEL" a.bin bf16
err_has "bf16 is not a type of whisper.cpp's files"
expect 2 "a type that is none" quantize "$MODEL" a.bin q9
err_has "for Whisper models also q6_k, q5_k, q4_k, q3_k and q2_k"
expect 2 "blocks to others" quantize q8_0.bin a.bin q4_0
err_has "is q8_0 already, and would be rounded again"
expect 0 "unless that is wanted" quantize -q --allow-requantize q8_0.bin a.bin q4_0
rm a.bin
expect 2 "the importance of columns" quantize --imatrix x "$MODEL" a.bin q4_0
expect 2 "no mixture" quantize --pure "$MODEL" a.bin q4_0
expect 3 "a form that it has not" quantize "$MODEL" a.gguf q4_0
err_has "a whisper model is not written as GGUF; those of sensevoice, "
err_has "; it becomes bin, pt, hf"
cp q8_0.bin own.bin
expect 2 "the input as the output" quantize own.bin own.bin f16
err_has "own.bin is a file of the model and would be overwritten"
same own.bin q8_0.bin
head -c 9000000 "$MODEL" >cut.bin
expect 3 "a damaged model" quantize cut.bin own.bin q4_0
same own.bin q8_0.bin
expect 6 "a full disk" quantize --to bin "$MODEL" /dev/full q4_0
[ ! -e a.bin ] || bad "nothing is left of what failed" "$(ls -l a.bin)"
none "nothing temporary" "$(find . -name '.steno-*')"
finish
