# steno: language models become GGUF files of fewer bits, as llama.cpp makes them. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
LM=${STENO_SHARED:-/none}/material/llm/models
[ -d "$LM" ] || { echo "skipped: STENO_SHARED does not name the collection of language models"; exit 77; }

# ---- a GGUF file again: the bytes of llama-quantize, header and all
for type in q8_0 q4_0; do
    want=$LM/llama/gguf/llama-$(echo $type | tr a-z A-Z).gguf
    expect 0 "quantize writes a GGUF file as $type" quantize "$LM/llama/gguf/llama-F32.gguf" out.gguf $type
    same out.gguf "$want"
done
err_has "1 of 30 tensors have rows that are not whole blocks, and get another type: output.weight is q8_0, not q6_k"
err_has "out.gguf: 156320 bytes"
err_has "llama-F32.gguf had 830240"
expect 0 "the type may be in capitals, and threads give the same bytes" quantize -q -t 3 "$LM/llama/gguf/llama-F32.gguf" again.gguf Q4_0
same again.gguf out.gguf
err_lines 0
expect 0 "the type that the file has is accepted" quantize -q out.gguf again.gguf q4_0
same again.gguf out.gguf

# ---- mixtures of few bits, of blocks that are rounded again: sums of llama-quantize's files
while read -r type sum more; do
    expect 0 "quantize writes $type $more" quantize -q --allow-requantize $more "$LM/qwen3k/gguf/qwen3k-Q6_K.gguf" few.gguf $type
    is "$type $more is llama-quantize's" "$(sha256sum <few.gguf | cut -c1-16)" "$sum"
    expect 0 "$type is read" generate -q -m few.gguf -n 3 --temperature 0 "the small"
done <<'END'
q2_k b961f029c4e978cf
q3_k_s 64b480ec0fa14aaf
q3_k_m fb419e7503f9467b
q3_k_l 8e42c8868d0c5bb6
iq4_xs 1ab9519d5f420774
iq4_nl 7d716257efdfaf60
q4_k_m 3e54d2d0de49ddf9 --pure
END

# ---- a folder and its file, in the same types
for m in llama llama3 qwen3 qwen3k gemma gemma3 bert; do
    expect 0 "convert writes the folder of $m as a file" convert -q "$LM/$m/hf" $m.gguf
    expect 0 "info reads $m.gguf" info $m.gguf
    out_has "format: GGUF"
    out_has "weights: f32"
    for type in f16 q8_0 q5_1 q4_k_m q5_k_m q6_k q3_k_m iq4_xs; do
        expect 0 "quantize writes the folder of $m as $type" quantize -q "$LM/$m/hf" folder.gguf $type
        expect 0 "quantize writes $m.gguf as $type" quantize -q $m.gguf file.gguf $type
        [ "$(stat -c %s folder.gguf)" -lt "$(stat -c %s $m.gguf)" ] || bad "$m as $type is smaller" "$(stat -c %s folder.gguf)"
        tail -c 100000 folder.gguf >folder.end # general.name differs
        tail -c 100000 file.gguf >file.end
        same folder.end file.end
    done
done

# ---- the file has the results of the folder
text=$(printf "Über 12 345 Wörter, it's <|im_end|> fine:  two spaces\tand 你好")
for m in llama llama3 qwen3 gemma gemma3 bert; do
    expect 0 "tokenize reads the folder of $m" tokenize -m "$LM/$m/hf" "$text"
    cp "$T/out" want
    expect 0 "tokenize reads $m.gguf" tokenize -m $m.gguf "$text"
    same "$T/out" want
    [ $m = bert ] && continue
    expect 0 "generate reads the folder of $m" generate -q -m "$LM/$m/hf" -n 12 --temperature 0 "the small"
    cp "$T/out" want
    expect 0 "generate reads $m.gguf" generate -q -m $m.gguf -n 12 --temperature 0 "the small"
    same "$T/out" want
done
expect 0 "embed reads the folder" embed -m "$LM/bert/hf" -f json "two small words"
cp "$T/out" want
expect 0 "embed reads the file" embed -m bert.gguf -f json "two small words"
same "$T/out" want

# ---- folders that MLX has quantised
for m in llama/mlx-4bit-g64 qwen3/mlx-4bit-g64 gemma/mlx-4bit-g64 gemma3/mlx-4bit-g32; do
    expect 0 "convert writes $m in f32" convert -q "$LM/$m" mlx.gguf
    expect 0 "generate reads $m" generate -q -m "$LM/$m" -n 8 --temperature 0 "the small"
    cp "$T/out" want
    expect 0 "generate reads the file of $m" generate -q -m mlx.gguf -n 8 --temperature 0 "the small"
    same "$T/out" want
    expect 0 "quantize writes $m in q4_1, the same blocks" quantize -q "$LM/$m" mlx.gguf q4_1
    expect 0 "convert writes the file in f32 again" convert -q mlx.gguf again.gguf
    expect 0 "convert writes $m in f32 at once" convert -q "$LM/$m" mlx.gguf
    tail -c 100000 again.gguf >again.end # norms are the same file's, order and names, too
    tail -c 100000 mlx.gguf >mlx.end
    same again.end mlx.end
    expect 2 "$m is refused in other blocks" quantize "$LM/$m" a.gguf q8_0
    err_has "is mlx4 already, and would be rounded again, to q8_0"
    expect 0 "--allow-requantize rounds $m again" quantize -q --allow-requantize "$LM/$m" a.gguf q8_0
    rm a.gguf
done

# ---- files for other programs
if python3 -c 'import gguf' 2>/dev/null; then
    cat >compare.py <<'END'
import sys
import gguf
ours, theirs = (gguf.GGUFReader(path) for path in sys.argv[1:3])
leave = {"GGUF.kv_count", "general.name", "general.file_type"} | set(sys.argv[3:])
for key, field in theirs.fields.items():
    assert key in leave or ours.fields[key].contents() == field.contents(), key
tensors = {t.name: t for t in ours.tensors}
assert len(tensors) == len(theirs.tensors)
for t in theirs.tensors:
    o = tensors[t.name]
    if t.name in leave:
        continue
    assert o.tensor_type == t.tensor_type and list(o.shape) == list(t.shape) and o.data.tobytes() == t.data.tobytes(), t.name
END
    while read -r m type file more; do
        expect 0 "quantize writes $m as $type" quantize -q "$LM/$m/hf" ours.gguf $type
        python3 compare.py ours.gguf "$LM/$m/gguf/$file.gguf" $more >"$T/out" 2>"$T/err"
        is "$file.gguf has the same keys and bytes" "$? $(cat "$T/out" "$T/err")" "0 "
    done <<'END'
llama f32 llama-F32
llama3 q4_0 llama3-Q4_0 token_embd.weight
qwen3 q8_0 qwen3-Q8_0
qwen3 q4_0 qwen3-Q4_0
qwen3k q4_k_m qwen3k-Q4_K_M
qwen3 iq4_nl qwen3-IQ4_NL token_embd.weight
qwen3k q6_k qwen3k-Q6_K
gemma f16 gemma-F16
gemma3 q8_0 gemma3-Q8_0 token_embd.weight tokenizer.ggml.tokens tokenizer.ggml.scores tokenizer.ggml.token_type
gemma3 q4_0 gemma3-Q4_0 token_embd.weight tokenizer.ggml.tokens tokenizer.ggml.scores tokenizer.ggml.token_type
bert f16 bert-F16
END
    cat >split.py <<'END'
import sys
import gguf
r = gguf.GGUFReader(sys.argv[1])
w = gguf.GGUFWriter(sys.argv[2], r.fields["general.architecture"].contents(), split_max_tensors=int(sys.argv[3]))
for key, f in r.fields.items():
    if key.startswith("GGUF.") or key == "general.architecture":
        continue
    w.add_key_value(key, f.contents(), f.types[0], sub_type=f.types[-1] if len(f.types) > 1 else None)
for t in r.tensors:
    w.add_tensor(t.name, t.data, raw_dtype=t.tensor_type)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
END
    python3 split.py llama.gguf whole.gguf 0 && python3 split.py llama.gguf part.gguf 8 || bad "the gguf package writes the parts" "$?"
    [ -e part-00004-of-00004.gguf ] || bad "there are four parts" "$(ls part*)"
    expect 0 "quantize reads a file of one part" quantize -q whole.gguf one.gguf q5_k_m
    expect 0 "quantize reads a file of four parts" quantize -q part-00001-of-00004.gguf parts.gguf q5_k_m
    same parts.gguf one.gguf
    expect 2 "a part is refused as the output" quantize part-00001-of-00004.gguf part-00003-of-00004.gguf q8_0
else
    echo "(not tried: Python has no gguf package)"
fi

# ---- a large model: 256 MB of zeros, none of which is on disk
big() { # NAME ROWS COLUMNS...: the header of a safetensors file, and its size
    awk -v list="$*" 'BEGIN {
        n = split(list, w, " "); at = 0; out = "{"
        for (i = 1; i <= n; i += 3) {
            size = 4 * w[i + 1] * (w[i + 2] ? w[i + 2] : 1)
            out = out sprintf("%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%d,%d]}", i > 1 ? "," : "", w[i],
                              w[i + 2] ? w[i + 1] "," w[i + 2] : w[i + 1], at, at + size)
            at += size
        }
        out = out "}"
        while (length(out) % 8) out = out " "
        print at > "size"
        printf "%s", out
    }'
}
mkdir big
l=model.layers.0
big model.embed_tokens.weight 16384 1024 model.norm.weight 1024 0 $l.input_layernorm.weight 1024 0 \
    $l.post_attention_layernorm.weight 1024 0 $l.self_attn.q_proj.weight 1024 1024 \
    $l.self_attn.k_proj.weight 1024 1024 $l.self_attn.v_proj.weight 1024 1024 \
    $l.self_attn.o_proj.weight 1024 1024 $l.mlp.gate_proj.weight 14336 1024 $l.mlp.up_proj.weight 14336 1024 \
    $l.mlp.down_proj.weight 1024 14336 >head
{ le 8 "$(stat -c %s head)"; cat head; } >big/model.safetensors
truncate -s +"$(cat size)" big/model.safetensors
echo '{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 1, "num_attention_heads": 8, "intermediate_size": 14336,
       "rms_norm_eps": 1e-5, "tie_word_embeddings": true}' >big/config.json
echo '{"pre_tokenizer": {"type": "ByteLevel", "use_regex": true}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}' \
    >big/tokenizer.json
if ! sanitized; then
    (ulimit -v 200000; "$STENO" quantize -q -t 2 big big.gguf q4_k_m >"$T/out" 2>"$T/err")
    is "memory does not grow with the model" "$? $(cat "$T/err")" "0 "
fi
cp qwen3.gguf old.gguf
for sig in INT TERM; do
    env --default-signal=INT,TERM "$STENO" quantize -t 1 big old.gguf q6_k >"$T/out" 2>"$T/err" &
    pid=$!
    until ls .steno-* >/dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -$sig $pid
    wait $pid
    is "SIG$sig ends quantize" $? $([ $sig = INT ] && echo 130 || echo 143)
    same old.gguf qwen3.gguf
    none "SIG$sig leaves no temporary file" "$(find . -name '.steno-*')"
done
rm -r big big.gguf

# ---- mistakes
expect 2 "an unknown type is refused" quantize qwen3.gguf a.gguf q4_k
err_has "q4_k is not a type that is written; f32, f16, bf16"
err_has "q4_k_m"
err_has "q3_k_s and q2_k"
expect 2 "--pure is refused for a speech model" quantize --pure "$SRC/tests/data/gguf/sensevoice.gguf" a.gguf q8_0
err_has "--pure: "
err_has "is for language models"
expect 2 "the input is refused as the output" quantize qwen3.gguf qwen3.gguf q8_0
err_has "qwen3.gguf is a file of the model and would be overwritten"
expect 2 "blocks that were rounded are not rounded to others" quantize out.gguf a.gguf q8_0
err_has "is q4_0 already, and would be rounded again, to q8_0"
expect 0 "--allow-requantize rounds blocks to others" quantize -q --allow-requantize out.gguf a.gguf q8_0
rm a.gguf
expect 0 "blocks are written as f16" quantize -q out.gguf a.gguf f16
rm a.gguf
expect 3 "a missing importance file is reported" quantize --imatrix none.dat qwen3.gguf a.gguf q4_0
expect 3 "a model is refused as an importance file" quantize --imatrix qwen3.gguf qwen3.gguf a.gguf q4_0
err_has "is not part of an importance file"
expect 2 "the importance file is refused as the output" quantize --imatrix want qwen3.gguf want q4_0
expect 6 "a full disk is reported" quantize qwen3.gguf /dev/full q8_0
[ ! -e a.gguf ] || bad "a failed run leaves no output" "$(ls -l a.gguf)"
none "no temporary file is left" "$(find . -name '.steno-*')"
finish
