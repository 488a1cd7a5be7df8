# steno: GGUF files whose numbers are written for each layer, and whose lists have other types. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
cat >rewrite.py <<'PY'
# rewrite.py IN OUT KEY VALUES...: a key becomes a list of i32 (of f32 where it is one already), or a single f32 for "float"; the data
# stays where it is
import struct, sys
source, target, key, *values = sys.argv[1:]
d = open(source, "rb").read()
sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
n_tensors, n_keys = struct.unpack_from("<QQ", d, 8)
at, parts = 24, []
def text(at):
    n, = struct.unpack_from("<Q", d, at)
    return d[at + 8:at + 8 + n], at + 8 + n
def skip(kind, at):
    if kind == 8: return text(at)[1]
    if kind != 9: return at + sizes[kind]
    of, n = struct.unpack_from("<IQ", d, at)
    at += 12
    for _ in range(n if of == 8 else 0): at = text(at)[1]
    return at if of == 8 else at + n * sizes[of]
done = 0
for _ in range(n_keys):
    begin = at
    name, at = text(at)
    kind, = struct.unpack_from("<I", d, at)
    value = at + 4
    at = skip(kind, value)
    if name.decode() != key:
        parts.append(d[begin:at])
        continue
    done = 1
    head = struct.pack("<Q", len(name)) + name + struct.pack("<I", 9)
    if values == ["float"]:
        number, = struct.unpack_from("<i", d, value)
        parts.append(head[:-4] + struct.pack("<If", 6, number))
    elif kind == 6: parts.append(head + struct.pack("<IQ%df" % len(values), 6, len(values), *map(float, values)))
    elif kind == 9:
        of, n = struct.unpack_from("<IQ", d, value)
        numbers = struct.unpack_from("<%d%s" % (n, {4: "I", 5: "i"}[of]), d, value + 12)
        parts.append(head + struct.pack("<IQ%df" % n, 6, n, *numbers))
    else: parts.append(head + struct.pack("<IQ%di" % len(values), 5, len(values), *map(int, values)))
assert done, key
for _ in range(n_tensors):
    begin = at
    name, at = text(at)
    n, = struct.unpack_from("<I", d, at)
    at += 4 + 8 * n + 12
    parts.append(d[begin:at])
data = d[(at + 31) // 32 * 32:]
out = d[:24] + b"".join(parts)
open(target, "wb").write(out + b"\0" * (-len(out) % 32) + data)
PY
LM=$SRC/tests/data/lm/qwen3-q4_0.gguf
value() { "$STENO" info --tensors "$LM" >/dev/null 2>&1; python3 - "$LM" "$1" "${2-i}" <<'PY'
import struct, sys
d = open(sys.argv[1], "rb").read()
k = sys.argv[2].encode()
at = d.index(struct.pack("<Q", len(k)) + k) + 8 + len(k) + 4
print(struct.unpack_from("<" + sys.argv[3], d, at)[0])
PY
}
layers=$(value qwen3.block_count)
expect 0 "the original file is read" generate -m "$LM" --compute f32 --raw -n 8 --ids hello
cp "$T/out" want
for key in feed_forward_length attention.head_count attention.head_count_kv; do
    n=$(value qwen3.$key)
    python3 rewrite.py "$LM" equal.gguf qwen3.$key $(for ((i = 0; i < layers; i++)); do echo "$n"; done)
    expect 0 "$key as a list of layers is read" generate -m equal.gguf --compute f32 --raw -n 8 --ids hello
    same "$T/out" want
    python3 rewrite.py "$LM" other.gguf qwen3.$key "$n" $((2 * n)) $(for ((i = 2; i < layers; i++)); do echo "$n"; done)
    expect 3 "$key with different values is refused" generate -m other.gguf --raw -n 8 --ids hello
    err_has "layers of different sizes are not served"
    python3 rewrite.py "$LM" bad.gguf qwen3.$key -1 "$n"
    expect 3 "$key below 0 is refused" generate -m bad.gguf --raw -n 8 --ids hello
    err_has "layer 0"
done
for key in rope.freq_base attention.layer_norm_rms_epsilon; do # numbers with a fraction; a list that is overlooked gives the default
    n=$(value qwen3.$key f)
    python3 rewrite.py "$LM" equal.gguf qwen3.$key $(for ((i = 0; i < layers; i++)); do echo "$n"; done)
    expect 0 "$key as a list of layers is read" generate -m equal.gguf --compute f32 --raw -n 8 --ids hello
    same "$T/out" want
    python3 rewrite.py "$LM" other.gguf qwen3.$key "$n" 0.5 $(for ((i = 2; i < layers; i++)); do echo "$n"; done)
    expect 3 "$key with different values is refused" generate -m other.gguf --raw -n 8 --ids hello
    err_has "layers of different sizes are not served"
done
python3 rewrite.py "$LM" none.gguf qwen3.feed_forward_length
expect 3 "an empty list is refused" generate -m none.gguf --raw -n 8 --ids hello
err_has "want one of each layer"
python3 rewrite.py "$LM" types.gguf tokenizer.ggml.token_type
expect 0 "types of tokens as floats are read" generate -m types.gguf --compute f32 --raw -n 8 --ids hello
same "$T/out" want
python3 rewrite.py "$LM" end.gguf tokenizer.ggml.eos_token_id float
expect 0 "an id as a float is read" generate -m end.gguf --compute f32 --raw -n 8 --ids hello
same "$T/out" want
K=${STENO_SHARED:-/none}/material/llm/models/qwen3k/hf
if [ -d "$K" ]; then # the types of matrices depend on the numbers of layers and of heads
    types() { "$STENO" info --tensors "$1" | grep '^blk' | cut -f2 | sort | uniq -c; }
    expect 0 "convert writes the original" convert -q "$K" k.gguf
    expect 0 "quantize writes the original" quantize -q k.gguf want.gguf q4_k_m
    types want.gguf >want.types
    grep -qi q6_k want.types || bad "there are types to compare" "$(cat want.types)"
    for key in block_count attention.head_count attention.head_count_kv; do
        python3 rewrite.py k.gguf float.gguf qwen3.$key float
        expect 0 "quantize reads $key as a float" quantize -q float.gguf few.gguf q4_k_m
        types few.gguf >few.types
        same few.types want.types
    done
fi
BERT=${STENO_SHARED:-/none}/material/llm/models/bert/gguf/bert-F16.gguf
if [ ! -r "$BERT" ]; then
    echo "(not tried: lists of BERT; the collection is not here)"
    finish
fi
expect 0 "BERT's original file is read" embed -m "$BERT" --compute f32 "two small words"
cp "$T/out" want
n=$(LM=$BERT value bert.attention.head_count) layers=$(LM=$BERT value bert.block_count)
python3 rewrite.py "$BERT" bert.gguf bert.attention.head_count $(for ((i = 0; i < layers; i++)); do echo "$n"; done)
expect 0 "BERT's numbers may be lists, too" embed -m bert.gguf --compute f32 "two small words"
same "$T/out" want
finish
