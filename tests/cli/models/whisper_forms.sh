# steno: Whisper models in other forms: whisper.cpp's, OpenAI's, folders of transformers. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
export STENO_MODEL=
unset STENO_MODEL
sum() { sha256sum <"$1" | cut -c1-16; }
expect 0 "the model is transcribed" -q -m "$MODEL" "$DIGITS"
cp "$T/out" want

# ---- every type: sums of the files of whisper.cpp's quantizer, and the text
while read -r type bytes sum; do
    expect 0 "quantize writes $type" quantize -q "$MODEL" $type.bin $type
    err_lines 0
    out_empty
    is "$type has the size of whisper.cpp's file" "$(stat -c %s $type.bin)" "$bytes"
    is "$type has the bytes of whisper.cpp's quantizer" "$(sum $type.bin)" "$sum"
    expect 0 "info reads $type" info $type.bin
    out_has "format: whisper.cpp .bin"
    out_has "weights: $type"
    expect 0 "$type is transcribed" -q -m $type.bin "$DIGITS"
    same "$T/out" want
done <<'END'
q8_0 10299381 49f72055a2b62176
q5_1 7794701 bc1eb89d7aa7c9cb
q5_0 7293765 e584d6466fd8640c
q4_1 6792829 8c370a53ed23eb15
q4_0 6291893 57b9f7346e255822
END
expect 0 "the type may be in capitals, and two threads give the same bytes" quantize -t 2 "$MODEL" again.bin Q5_0
err_has "steno: again.bin: "
err_has "whisper-digits.bin had 17813421"
err_lines 1
same again.bin q5_0.bin
expect 0 "--to bin writes a file of any name" quantize -q --to bin "$MODEL" again q5_0
same again q5_0.bin
expect 0 "f16, the type of the model, gives the same file" quantize -q "$MODEL" again.bin f16
same again.bin "$MODEL"
expect 0 "convert copies the model" convert -q "$MODEL" again.bin
same again.bin "$MODEL"
expect 0 "convert copies blocks" convert -q q8_0.bin again.bin
same again.bin q8_0.bin
expect 0 "convert writes the model in f32" convert -q --type f32 "$MODEL" f32.bin
expect 0 "f32 is transcribed" -q -m f32.bin "$DIGITS"
same "$T/out" want
expect 0 "convert writes f32 as f16" convert -q --type f16 f32.bin again.bin
same again.bin "$MODEL"
expect 0 "quantize reads f32" quantize -q f32.bin again.bin q4_1
same again.bin q4_1.bin
expect 0 "convert writes q8_0 as f16" convert -q --type f16 q8_0.bin again.bin
expect 0 "quantize writes f16 from q8_0 as q8_0" quantize -q again.bin once.bin q8_0
expect 0 "q8_0 from f16 from q8_0 is transcribed" -q -m once.bin "$DIGITS"
same "$T/out" want

# ---- OpenAI's form, and back
expect 0 "convert writes a .pt file" convert "$MODEL" own.pt
err_has "vocabulary, mel filters and alignment heads are not in it"
expect 0 "the .pt file is transcribed" -q -m own.pt --vocab "$MODEL" "$DIGITS"
same "$T/out" want
expect 0 "convert writes the .pt file as a .bin file" convert -q --vocab "$MODEL" own.pt again.bin
same again.bin "$MODEL"
expect 0 "convert copies the .pt file" convert -q --vocab "$MODEL" own.pt again.pt
same again.pt own.pt
expect 0 "convert writes q8_0 as a .pt file" convert -q q8_0.bin q8_0.pt
expect 0 "the .pt file from q8_0 is transcribed" -q -m q8_0.pt --vocab "$MODEL" "$DIGITS"
same "$T/out" want
expect 0 "quantize writes the .pt file from q8_0 as q8_0" quantize -q --vocab "$MODEL" q8_0.pt again.bin q8_0
same again.bin once.bin
for type in f16 bf16 f32; do
    expect 0 "convert writes a .pt file in $type" convert -q --type $type --vocab "$MODEL" own.pt $type.pt
    expect 0 "info reads a .pt file in $type" info --vocab "$MODEL" $type.pt
    out_has "weights: $type"
done
same f16.pt own.pt
expect 2 "q8_0 is refused for a .pt file" quantize "$MODEL" a.pt q8_0
err_has "q8_0 is written to a .bin file alone; f32, f16 and bf16 are written to others"
if command -v python3 >/dev/null; then
    python3 -m zipfile -t own.pt >"$T/out" 2>&1
    is "the checksums of the archive are right" "$? $(cat "$T/out")" "0 Done testing"
fi

# ---- a folder of transformers, and round the three forms
expect 0 "convert writes a folder" convert "$MODEL" new/own/
err_lines 1
expect 0 "the folder is transcribed" -q -m new/own "$DIGITS"
same "$T/out" want
expect 0 "the model prints times of words" -q -m "$MODEL" -f json --word-timestamps "$DIGITS"
cp "$T/out" words
expect 0 "the folder prints times of words" -q -m new/own -f json --word-timestamps "$DIGITS"
same "$T/out" words
expect 0 "convert writes the folder as a .pt file" convert new/own round.pt
err_has "vocabulary, mel filters and alignment heads are not in it"
same round.pt own.pt
expect 0 "convert writes the .pt file of the folder as a .bin file" convert -q --vocab new/own round.pt round.bin
same round.bin "$MODEL"
expect 0 "convert writes the folder as a .bin file" convert new/own round.bin
err_has "alignment heads and settings of generation are not in it"
same round.bin "$MODEL"
expect 0 "convert writes the .bin file of the folder as a folder" convert -q --to hf round.bin two
for file in new/own/*; do same "$file" "two/${file##*/}"; done
is "the folder has ten files" "$(ls two | wc -l)" 10
expect 0 "convert writes a folder in bf16" convert -q --type bf16 --to hf two three
expect 0 "info reads a folder in bf16" info three
out_has "weights: bf16"
grep -q '"torch_dtype": "float32"' two/config.json || bad "the settings of the folder ask readers for f32" "$(grep dtype two/config.json)"
expect 6 "a folder with files is refused as the output" convert "$MODEL" two/
err_has "two/: cannot write: the folder is not empty; name a new one"
expect 2 "q8_0 is refused for a folder" quantize "$MODEL" four/ q8_0
expect 3 "a damaged model is refused for a folder" convert new four/
[ ! -e four ] || bad "a failed run leaves no folder" "$(ls four)"
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
        expect 0 "convert writes $form as a .bin file" convert -q --vocab "$MODEL" "$W/$form" $form.bin
        [ $form = hf ] || same $form.bin "$MODEL"
        is "$form has the size of the model" "$(stat -c %s $form.bin)" "$(stat -c %s "$MODEL")" # transformers sorts tensors by their names
        expect 0 "the .bin file of $form is transcribed" -q -m $form.bin "$DIGITS"
        same "$T/out" want
        for type in q8_0 q5_1 q5_0 q4_1 q4_0 f32 f16; do
            expect 0 "quantize writes $form as $type" quantize -q --vocab "$MODEL" "$W/$form" at-once.bin $type
            expect 0 "quantize writes the .bin file of $form as $type" quantize -q $form.bin again.bin $type
            same at-once.bin again.bin
        done
    done
    expect 0 "convert finds the vocabulary in the folder" convert -q "$W/hf" again.bin
    same again.bin hf.bin
else
    echo "(not tried: STENO_SHARED does not name the collection of spellings)"
fi

# ---- mistakes
for type in q2_k q3_k q4_k q5_k q6_k; do
    expect 2 "$type is refused for narrow rows" quantize "$MODEL" a.bin $type
    err_has "tensor encoder.blocks.0.attn.query.weight has rows of 128, which are not whole blocks of $type, of 256 numbers each"
    err_has "take q8_0, q5_1, q5_0, q4_1 or q4_0"
done
expect 2 "a type of GGUF files is refused" quantize "$MODEL" a.bin q4_k_m
err_has "q4_k_m is not a type of whisper.cpp's files; f32, f16, q8_0"
expect 2 "a type that whisper.cpp does not read is refused" quantize "$MODEL" a.bin bf16
err_has "bf16 is not a type of whisper.cpp's files"
expect 2 "an unknown type is refused" quantize "$MODEL" a.bin q9
err_has "for Whisper and Parakeet also q6_k, q5_k, q4_k, q3_k and q2_k"
expect 2 "blocks are not rounded to others" quantize q8_0.bin a.bin q4_0
err_has "is q8_0 already, and would be rounded again"
expect 0 "--allow-requantize rounds blocks to others" quantize -q --allow-requantize q8_0.bin a.bin q4_0
rm a.bin
expect 2 "--imatrix is refused" quantize --imatrix x "$MODEL" a.bin q4_0
expect 2 "--pure is refused" quantize --pure "$MODEL" a.bin q4_0
expect 3 "the form GGUF is refused" quantize "$MODEL" a.gguf q4_0
err_has "a whisper model is not written as GGUF; those of sensevoice, "
err_has "; it becomes bin, pt, hf"
cp q8_0.bin own.bin
expect 2 "the input is refused as the output" quantize own.bin own.bin f16
err_has "own.bin is a file of the model and would be overwritten"
same own.bin q8_0.bin
head -c 9000000 "$MODEL" >cut.bin
expect 3 "a damaged model is refused" quantize cut.bin own.bin q4_0
same own.bin q8_0.bin
expect 6 "a full disk is reported" quantize --to bin "$MODEL" /dev/full q4_0
[ ! -e a.bin ] || bad "a failed run leaves no output" "$(ls -l a.bin)"
none "no temporary file is left" "$(find . -name '.steno-*')"
finish
