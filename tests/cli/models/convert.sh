# steno: models become GGUF files, whole or not at all. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
FUNASR=${STENO_SHARED:-/none}/material/funasr
[ -d "$FUNASR" ] || { echo "skipped: STENO_SHARED does not name the FunASR collection"; exit 77; }
cp -r "$FUNASR/models/sensevoice/pt" folder
cp -r "$FUNASR/fsmn-vad/pt" vad
chmod -R u+w folder vad
cp "$FUNASR/audio/zh_synth.wav" "$FUNASR/audio/en_george.wav" .
expect 0 "the folder is transcribed" -q -m folder zh_synth.wav en_george.wav
cp "$T/out" want

# ---- converted files give the same text
expect 0 "convert writes a folder as one file" convert folder sense.gguf
err_has "steno: sense.gguf: "
err_has "folder had"
err_lines 1
out_empty
expect 0 "the file is transcribed" -q -m sense.gguf zh_synth.wav en_george.wav
same "$T/out" want
expect 0 "info reads the file" info sense.gguf
out_has "format: GGUF"
out_has "vocabulary: with the model"
for type in f16 q8_0 q4_0; do
    expect 0 "quantize writes $type without messages" quantize -q folder $type.gguf $type
    err_lines 0
    [ "$(stat -c %s $type.gguf)" -lt "$(stat -c %s sense.gguf)" ] || bad "the file in $type is smaller" "$(stat -c %s $type.gguf)"
    expect 0 "info reads the file in $type" info $type.gguf
    out_has "weights: $type"
    expect 0 "the file in $type is transcribed" -q -m $type.gguf zh_synth.wav en_george.wav
    same "$T/out" want
done
expect 0 "quantize reads the file" quantize -q sense.gguf again.gguf q8_0
same again.gguf q8_0.gguf
expect 0 "convert --type q8_0 is accepted" convert -q --type q8_0 folder again.gguf
same again.gguf q8_0.gguf
expect 0 "convert reads the file in q8_0" convert -q q8_0.gguf large.gguf
expect 0 "the file converted from q8_0 is transcribed" -q -m large.gguf zh_synth.wav en_george.wav
same "$T/out" want
expect 0 "the folder of Paraformer is transcribed" -q -m "$FUNASR/models/paraformer/pt" zh_synth.wav
cp "$T/out" want_para
expect 0 "convert writes Paraformer as one file" convert -q --type q8_0 "$FUNASR/models/paraformer/pt" para.gguf
expect 0 "the file of Paraformer is transcribed" -q -m para.gguf zh_synth.wav
same "$T/out" want_para
expect 0 "convert writes a VAD as one file" convert -q vad vad.gguf
expect 0 "vad reads the folder" vad -q -m vad "$FUNASR/audio/vad/sample.wav"
cp "$T/out" spans
expect 0 "vad reads the file" vad -q -m vad.gguf "$FUNASR/audio/vad/sample.wav"
same "$T/out" spans
expect 0 "transcribe --vad-model reads the file" -q -m "$MODEL" -l zh --vad fsmn --vad-model vad.gguf "$DIGITS"
NANO=$FUNASR/models/nano/gguf
expect 0 "Fun-ASR-Nano in two files is transcribed" -q -m "$NANO/funasr-encoder-mini.gguf" \
    --llm "$NANO/qwen3-mini-f32.gguf" zh_synth.wav
cp "$T/out" want_nano
expect 0 "convert writes both files as one" convert -q --llm "$NANO/qwen3-mini-f32.gguf" "$NANO/funasr-encoder-mini.gguf" nano.gguf
expect 0 "the file of Fun-ASR-Nano is transcribed" -q -m nano.gguf zh_synth.wav
same "$T/out" want_nano
expect 0 "quantize reads an encoder in q8_0" quantize -q --llm "$NANO/qwen3-mini-q8_0.gguf" \
    "$NANO/funasr-encoder-mini-q8.gguf" nano8.gguf q8_0
expect 0 "info reads the file of Fun-ASR-Nano in q8_0" info nano8.gguf
out_has "weights: q8_0"
expect 3 "a file that is no language model is refused" convert --llm sense.gguf "$NANO/funasr-encoder-mini.gguf" nano.gguf
cp "$NANO/qwen3-mini-f32.gguf" llm.gguf
chmod u+w llm.gguf
expect 2 "the language model is refused as the output" convert --llm llm.gguf "$NANO/funasr-encoder-mini.gguf" llm.gguf
same llm.gguf "$NANO/qwen3-mini-f32.gguf"
echo half >.steno-AbCdEf
chmod 1200 .steno-AbCdEf
expect 0 "convert runs beside a file that a killed process left" convert -q folder sense.gguf
[ ! -e .steno-AbCdEf ] || bad "the next run removes the file that a killed process left" "$(ls -l .steno-AbCdEf)"
mkdir new
expect 0 "convert makes missing folders" convert -q folder new/folder/sense.gguf
same new/folder/sense.gguf sense.gguf

# ---- the runtime's own exporter writes the same files, except for mean and variance
cat >compare.py <<'END'
import sys
import gguf
ours, theirs = (gguf.GGUFReader(path) for path in sys.argv[1:])
for key, field in theirs.fields.items():
    assert ours.fields[key].contents() == field.contents(), key
assert set(ours.fields) == set(theirs.fields)
tensors = {t.name: t for t in ours.tensors}
assert len(tensors) == len(theirs.tensors)
for t in theirs.tensors:
    if t.name.startswith("cmvn.") and len(theirs.tensors[0].data) == 1:
        continue
    o = tensors[t.name]
    assert o.tensor_type == t.tensor_type and list(o.shape) == list(t.shape) and o.data.tobytes() == t.data.tobytes(), t.name
END
if python3 -c 'import gguf' 2>/dev/null; then
    for type in f32 q8_0; do
        theirs=$FUNASR/models/sensevoice/gguf/sensevoice-mini$([ $type = f32 ] || echo -truecmvn).gguf
        expect 0 "SenseVoice is written as $type" quantize -q folder ours.gguf $type
        python3 compare.py ours.gguf "$theirs" >"$T/out" 2>"$T/err"
        is "SenseVoice as $type opens in the gguf package and has the exporter's bytes" "$? $(cat "$T/out" "$T/err")" "0 "
        theirs=$FUNASR/models/paraformer/gguf/paraformer-mini$([ $type = f32 ] || echo -q8).gguf
        expect 0 "Paraformer is written as $type" quantize -q "$FUNASR/models/paraformer/pt" ours.gguf $type
        python3 compare.py ours.gguf "$theirs" >"$T/out" 2>"$T/err"
        is "Paraformer as $type opens in the gguf package and has the exporter's bytes" "$? $(cat "$T/out" "$T/err")" "0 "
    done
else
    echo "(not tried: Python has no gguf package)"
fi

# ---- mistakes
cp sense.gguf before
expect 2 "convert needs an output" convert folder
err_has "takes a model and an output file"
expect 2 "a third operand is refused" convert folder a.gguf b.gguf
expect 2 "quantize needs a type" quantize folder a.gguf
expect 2 "a type that is not written is refused" quantize folder a.gguf q4_k
err_has "q4_k is not a type that is written; f32, f16, bf16"
expect 2 "an unknown type is refused" convert --type q9 folder a.gguf
expect 2 "the input is refused as the output" quantize sense.gguf sense.gguf q8_0
err_has "sense.gguf is a file of the model and would be overwritten"
ln -s sense.gguf link.gguf
expect 2 "a link to the input is refused as the output" quantize sense.gguf link.gguf q8_0
expect 2 "a file of the folder is refused as the output" convert folder folder/am.mvn
err_has "is a file of the model and would be overwritten"
same sense.gguf before
same folder/am.mvn "$FUNASR/models/sensevoice/pt/am.mvn"
expect 2 "weights that were rounded are not rounded again" quantize q8_0.gguf a.gguf q4_0
err_has "is q8_0 already, and would be rounded again"
expect 2 "a VAD is refused in q8_0" quantize vad a.gguf q8_0
err_has "a model for voice activity is stored in f32, not q8_0"
expect 2 "standard output is refused" convert folder -
expect 3 "a Whisper model is refused as GGUF" quantize "$MODEL" a.gguf q8_0
err_has "a whisper model is not written as GGUF; those of sensevoice, "
expect 3 "a missing model is reported" convert none a.gguf
expect 3 "a damaged model is refused" convert "$FUNASR/audio/zh_synth.wav" a.gguf
head -c 3000000 folder/model.pt >cut.pt
cp -r folder broken
cp cut.pt broken/model.pt
cp sense.gguf old.gguf
expect 3 "a damaged folder is refused" convert broken old.gguf
same old.gguf before
expect 6 "a folder is refused as the output" convert folder new
err_has "new: cannot write: it is a folder"
expect 6 "a full disk is reported" convert folder /dev/full
err_has "/dev/full: cannot write: No space left on device"
(ulimit -f 1000; trap '' XFSZ; "$STENO" convert folder old.gguf >"$T/out" 2>"$T/err")
is "a limit of the size of files is reported" $? 6
err_has "old.gguf: cannot write: File too large"
[ ! -e a.gguf ] || bad "a failed run leaves no output" "$(ls -l a.gguf)"
same old.gguf before
none "no temporary file is left" "$(find . -name '.steno-*')"
finish
