# steno: the tensors of a model's files. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

# NAME: name, type, shape and bytes
line() { grep "^$1[[:space:]]" "$T/out" | cut -f 1-4 | tr '\t' ' '; }

expect 0 "info --tensors reads a whisper.cpp file" info --tensors "$MODEL"
is "a filter has its name, type, shape and size" "$(line encoder.conv1.weight)" "encoder.conv1.weight f16 128x80x3 61440"
is "a vector has its name, type, shape and size" "$(line encoder.conv1.bias)" "encoder.conv1.bias f32 128x1 512"
end=$(awk -F '\t' 'NF == 6 && $4 + $5 > end { end = $4 + $5 } END { print end }' "$T/out")
is "the last tensor ends with the file" "$end" "$(stat -c %s "$MODEL")"
is "each tensor has the file's name" "$(awk -F '\t' 'NF == 6 { print $6 }' "$T/out" | sort -u)" "$MODEL"
expect 0 "info --tensors reads a GGUF file" info --tensors "$SRC/tests/data/lm/qwen3-q4_0.gguf"
is "the slowest dimension comes first" "$(line token_embd.weight)" "token_embd.weight q8_0 608x64 41344"
is "the size of blocks is that of their bytes" "$(line blk.0.attn_k.weight)" "blk.0.attn_k.weight q4_0 64x64 2304"
expect 0 "info --tensors reads a folder" info --tensors "$SRC/tests/data/lm/mistral"
is "each tensor has the name of the file in the folder" "$(grep -c '/mistral/model.safetensors$' "$T/out")" 21
expect 0 "info --tensors --json prints an object" info --tensors --json "$SRC/tests/data/lm/mistral"
out_has '{"name": "lm_head.weight", "type": "f32", "shape": [64, 16], "bytes": 4096, "offset": 2088, "file": "'
expect 0 "info --tensors reads the built-in model" info --tensors --demo
is "the built-in model has the same filter" "$(line encoder.conv1.weight)" "encoder.conv1.weight f16 128x80x3 61440"
finish
