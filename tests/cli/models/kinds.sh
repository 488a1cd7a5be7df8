# steno: files of other kinds are named by their kind, by every verb. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

# kind FILE WORDS: the same words from the verb that transcribes, from info, from doctor and about a vocabulary
kind() {
    local words
    expect 3 "$1 is refused as a model: $2" -m "$1" "$DIGITS"
    err_has "steno: $1: "
    err_has "$2"
    err_lines 1
    words=$(cat "$T/err")
    expect 3 "info refuses $1" info "$1"
    is "info prints steno's line about $1" "$(cat "$T/err")" "$words"
    expect 3 "doctor refuses $1" doctor "$1"
    out_has "$2"
    out_has "advice: "
    out_has "${words#steno: "$1": }"
    expect 3 "vad refuses $1" vad -m "$1" "$DIGITS"
    is "vad prints steno's line about $1" "$(cat "$T/err")" "$words"
}

printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\24\0\0\0\0\0\0\0general.architecture\10\0\0\0\5\0\0\0\0\0\0\0mamba' >m.gguf
kind m.gguf "a GGUF file of the architecture mamba; no model family"
printf 'GGUF\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >old.gguf
expect 3 "an old GGUF file is refused" info old.gguf
err_has "old.gguf: GGUF version 1; 2 and 3 are read"
printf '\10\10\22\7pytorch:\4\12\2\12\0' >m.onnx
kind m.onnx "an ONNX model"
mkdir faster
printf '\6\0\0\0\20\0TransformerSpec\0\7\0\0\0' | tee model.bin >faster/model.bin
echo '{}' >faster/config.json
kind model.bin "a CTranslate2 model of another kind (TransformerSpec: a translation model); those of faster-whisper are read"
kind faster "model.bin is a CTranslate2 model of another kind"
printf '\6\0\0\0\14\0SomeNewSpec\0\7\0\0\0\1\0\0\0\2\0a\0\1\1\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0' >new.bin
kind new.bin "a CTranslate2 model of another kind (SomeNewSpec)"
printf 'lmgg\11\0\0\0silero-8k\6\0\0\0\2\0\0\0' >silero.bin
kind silero.bin "a Silero VAD model in ggml form (silero-8k)"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 147951465\n' >lfs.bin
kind lfs.bin "a pointer of Git LFS: the file itself, of 147951465 bytes, was not fetched"
mkdir lfs
cp lfs.bin lfs/model.safetensors
kind lfs "model.safetensors is a pointer of Git LFS"
printf '\n<!doctype html><html>' >page.bin
kind page.bin "a web page"
printf '\200\2\212\nl\374\234\106\371 j\250P\31.' >old.pt
kind old.pt "a PyTorch file of before version 1.6"
head -c 2000 /dev/zero | gzip >m.tar.gz
kind m.tar.gz "a gzip archive"
cp "$DIGITS" sound.bin
kind sound.bin "a sound file (WAV)"
printf 'tjgg\1\0\0\0' >old.bin
kind old.bin "an old ggml file (ggjt)"
printf 'Repository not found\n' >letter.bin
kind letter.bin "a text file"
echo '{"model_type": "whisper"}' >config.json
kind config.json "a JSON file"
mkdir onnx
echo x >onnx/encoder_model.onnx
kind onnx "an ONNX model"
mkdir lora state words diffusion
printf '{"peft_type": "LORA"}' >lora/adapter_config.json
A='{"base_model.model.x.lora_A.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
{ printf "\\$(printf %o ${#A})\0\0\0\0\0\0\0%s" "$A"; head -c 16 /dev/zero; } >lora/adapter_model.safetensors
kind lora "a LoRA adapter, which is not a model by itself"
err_has "merge it into its base model"
kind lora/adapter_model.safetensors "a LoRA adapter, which is not a model by itself"
printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\24\0\0\0\0\0\0\0general.architecture\10\0\0\0\5\0\0\0\0\0\0\0llama' >lora.gguf
printf '\14\0\0\0\0\0\0\0general.type\10\0\0\0\7\0\0\0\0\0\0\0adapter' >>lora.gguf
kind lora.gguf "a LoRA adapter, which is not a model by itself"
mkdir lora_gguf lora_diffusers
cp lora.gguf lora_gguf/adapter.gguf
kind lora_gguf "adapter.gguf is a LoRA adapter, which is not a model by itself"
cp lora/adapter_model.safetensors lora_diffusers/pytorch_lora_weights.safetensors
kind lora_diffusers "a LoRA adapter, which is not a model by itself"
mkdir diffusion_lora # a whole model with an adapter beside
echo '{}' >diffusion_lora/model_index.json
cp lora_diffusers/pytorch_lora_weights.safetensors diffusion_lora
kind diffusion_lora "a diffusion model"
echo x | tee state/optimizer.pt state/scheduler.pt >state/rng_state.pth
kind state "the state of a training run, but no weights"
echo '{}' | tee words/tokenizer.json >words/tokenizer_config.json
kind words "a tokenizer, but no weights"
echo x >diffusion/diffusion_pytorch_model.safetensors
kind diffusion "a part of a diffusion model"
mkdir kaldi
echo x >kaldi/final.mdl
kind kaldi "a Kaldi model"
mkdir some
cp "$MODEL" some/ggml-base.bin
kind some "the folder holds no model of its own, but ggml-base.bin; name that file"
mkdir bert
printf '\105\0\0\0\0\0\0\0{"bert.pooler.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}1234' >bert/model.safetensors
kind bert "1 tensors (bert.pooler.bias"
echo '{"model_type": "t5"}' >bert/config.json
kind bert "a model of the type t5"
WHISPER=${STENO_SHARED:-/none}/material
if [ -d "$WHISPER" ]; then
    ln -s "$WHISPER/funasr/silero/ggml-silero-v6.2.0.bin" real.bin
    expect 2 "a model of voice activity is refused for transcription" -m real.bin "$DIGITS"
    err_has "silero model does not transcribe"
    ln -s "$WHISPER/llm/models/bert/gguf/bert-F16.gguf" bert.gguf
    expect 2 "a model of texts is refused for transcription" -m bert.gguf "$DIGITS"
    err_has "a bert model does not transcribe"
    expect 3 "a GGUF file is refused as a vocabulary" -m "$WHISPER/whisper-digits/whisper-digits.pt" --vocab bert.gguf "$DIGITS"
    err_has "bert.gguf: no vocabulary"
fi

if [ -d "$WHISPER" ]; then
    mkdir torch
    ln -s "$WHISPER/whisper-digits/whisper-digits.pt" torch/pytorch_model.bin
    ln -s "$WHISPER/whisper-digits/hf/tokenizer.json" torch/
    expect 0 "pytorch_model.bin is read as a folder's weights" -q -m torch "$DIGITS"
    cp "$T/out" from_torch
    expect 0 "doctor recognizes pytorch_model.bin" doctor torch
    out_has "format: folder: pytorch_model.bin is PyTorch (zip)"
    expect 0 "the .bin file of the same weights is transcribed" -q -m "$MODEL" "$DIGITS"
    same from_torch "$T/out"
fi

cp "$MODEL" nan.bin
head -c 4096 /dev/zero | tr '\0' '\377' | dd of=nan.bin bs=4096 seek=$(($(wc -c <nan.bin) / 8192)) conv=notrunc 2>/dev/null
expect 3 "weights that are not finite are refused" -m nan.bin "$DIGITS"
err_has "steno: nan.bin: tensor "
err_has " is not finite; the file is damaged, take another copy"
err_lines 1
expect 0 "info does not read weights" info nan.bin

unset STENO_MODEL
expect 1 "doctor without a model reports it" doctor
out_has "default model: none"
out_has "problem: no model was found"
mkdir -p "$HOME/.cache/steno"
cp "$MODEL" "$HOME/.cache/steno/good.bin"
head -c 100000 "$MODEL" >"$HOME/.cache/steno/cut.bin"
truncate -s 60M "$HOME/.cache/steno/cut.bin"
expect 1 "doctor ignores a broken model, as steno does, and reports it" doctor
out_has "default model: $HOME/.cache/steno/good.bin (whisper"
out_has "model passed over: $HOME/.cache/steno/cut.bin does not open"
expect 0 "steno ignores a broken model and reports it" "$DIGITS"
err_has "model: $HOME/.cache/steno/good.bin"
err_has "steno: $HOME/.cache/steno/cut.bin: "
rm "$HOME/.cache/steno/good.bin"
for q in "" -q; do
    expect 3 "a damaged model alone is named $q" $q "$DIGITS"
    err_has "steno: $HOME/.cache/steno/cut.bin: "
    err_has "no usable model was found"
done
expect 1 "doctor reports that no model was found" doctor
out_has "problem: no model was found"
finish
