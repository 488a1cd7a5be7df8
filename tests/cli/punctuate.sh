# steno: punctuation, of texts and of transcripts. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

# The tiny network of the tree, for text that arrives in parts, and converted for whole texts. Its marks have no meaning.
ONLINE=$SRC/tests/data/punctuation_streaming
mkdir offline
cp "$ONLINE"/* offline/
chmod u+w offline/*
sed -i 's/CTTransformerStreaming/CTTransformer/' offline/config.json
bare() { sed -e 's/[，。？、,.?]//g' -e 's/  */ /g' -e 's/^ //' "$@"; }

printf 'one two three four five six seven\n你好吗我是三\n\n' >text.txt
expect 0 "each line is a text" punctuate -q -m offline text.txt
is "no line is lost" "$(wc -l <"$T/out")" 3
is "no letter is lost" "$(bare "$T/out" | tr 'A-Z' 'a-z')" "$(cat text.txt)"
grep -q '[。.？?]$' "$T/out" || bad "a text ends with the end of a sentence" "$(cat "$T/out")"
cp "$T/out" files.txt
IN=text.txt
expect 0 "standard input is read where there is no file" punctuate -q -m offline
same files.txt "$T/out"
expect 0 "standard input may be named -" punctuate -q -m offline -
same files.txt "$T/out"
IN=/dev/null
expect 0 "a model for text that arrives in parts is accepted" punctuate -q -m "$ONLINE" text.txt
is "no letter is lost with a model for text that arrives in parts" "$(bare "$T/out")" "$(cat text.txt)"

# words of Chinese
WORDS=$SRC/tests/data/punctuation_words
printf '他说今天天气很好 我们会 议开始了\n' >zh.txt
expect 0 "a dictionary beside the model is read" punctuate -m "$WORDS" zh.txt
is "the dictionary cuts the words" "$(cat "$T/out")" "他说？今天天气，很好？我们会议开始，了？"
none "a dictionary beside the model is not reported" "$(cat "$T/err")"
cp "$T/out" words.txt
cp -r "$WORDS" words
chmod -R u+w words
mv words/jieba.c.dict dict.txt
expect 0 "a missing dictionary has a note" punctuate -m words zh.txt
err_has "note: words splits Chinese into words with jieba's dictionary"
expect 0 "a dictionary that is named is read" punctuate -m words --jieba-dict dict.txt zh.txt
same words.txt "$T/out"
mkdir -p venv/lib/python3.9/site-packages/jieba
cp dict.txt venv/lib/python3.9/site-packages/jieba
export VIRTUAL_ENV=$PWD/venv
expect 0 "a dictionary of an installed jieba is read" punctuate -m words zh.txt
unset VIRTUAL_ENV
same words.txt "$T/out"
expect 3 "a named dictionary that is missing is reported" punctuate -m words --jieba-dict none.txt zh.txt
err_has "none.txt"
printf 'broken\n' >bad_dict.txt
expect 3 "a file that is no dictionary is reported" punctuate -m words --jieba-dict bad_dict.txt zh.txt
err_has "bad_dict.txt: line 1: want a word, a space and how often it was met"
expect 2 "a dictionary is refused for a model without words" punctuate -m offline --jieba-dict dict.txt zh.txt
err_has "does not split Chinese into words"
expect 0 "a dictionary is accepted for a transcript" -q -m "$MODEL" -l zh --punctuation words --jieba-dict dict.txt "$DIGITS"
expect 2 "a dictionary without punctuation is refused" -q -m "$MODEL" -l zh --jieba-dict dict.txt "$DIGITS"
err_has "--punctuation names one"
expect 2 "a dictionary is refused with --no-punctuation" -q -m "$MODEL" -l zh --no-punctuation --jieba-dict dict.txt "$DIGITS"
err_has "--jieba-dict and --no-punctuation exclude each other"

printf 'one \377 two\n' >bad.txt
expect 1 "a line that is not UTF-8 is reported" punctuate -q -m offline bad.txt
err_has "bad.txt: line 1: the text is not UTF-8: byte 4"
expect 4 "a missing file is reported" punctuate -q -m offline none.txt
err_has "none.txt: No such file or directory"
expect 2 "a model of another kind is refused" punctuate -q -m "$MODEL" text.txt
err_has "a whisper model does not punctuate"
expect 2 "a punctuation model is required" punctuate text.txt
err_has "punctuate needs a punctuation model"

expect 0 "a transcript without marks is written" -q -m "$MODEL" -l zh "$DIGITS"
cp "$T/out" plain.txt
expect 0 "--punctuation adds marks to a transcript" -q -m "$MODEL" -l zh --punctuation offline "$DIGITS"
is "--punctuation changes no letter" "$(bare "$T/out" | tr -d ' \n')" "$(bare plain.txt | tr -d ' \n')"
cmp -s plain.txt "$T/out" && bad "a transcript with --punctuation has marks" "$(cat "$T/out")"
cp "$T/out" marked.txt
expect 0 "--punctuation adds marks to each file of a batch" -q -m "$MODEL" -l zh --punctuation offline -b 2 "$DIGITS" "$DIGITS"
cat marked.txt marked.txt >twice.txt
same twice.txt "$T/out"
expect 0 "--punctuation adds marks in every format" -q -m "$MODEL" -l zh --punctuation offline -f all -o out "$DIGITS"
same marked.txt out/zh_phrases.txt
expect 0 "--no-punctuation adds no marks" -q -m "$MODEL" -l zh --no-punctuation "$DIGITS"
same plain.txt "$T/out"
expect 2 "a speech model is refused as a punctuation model" -q -m "$MODEL" -l zh --punctuation "$MODEL" "$DIGITS"
err_has "a whisper model does not punctuate"
expect 2 "--punctuation and --no-punctuation exclude each other" -q -m "$MODEL" -l zh --punctuation offline --no-punctuation "$DIGITS"
err_has "exclude each other"
expect 2 "--print-colors is refused with --punctuation" -q -m "$MODEL" -l zh --punctuation offline --print-colors "$DIGITS"
err_has "--print-colors"
expect 3 "a missing punctuation model is reported" -q -m "$MODEL" -l zh --punctuation nowhere "$DIGITS"

# found by name
mkdir -p "$HOME/.cache/modelscope/hub/models/iic"
cp -r offline "$HOME/.cache/modelscope/hub/models/iic/punc_ct-transformer_zh-cn-common-vocab272727-pytorch"
expect 0 "a model in ModelScope's cache is found" punctuate -q text.txt
same files.txt "$T/out"
mkdir -p "$HOME/.cache/huggingface/hub/models--funasr--ct-punc/snapshots/abc"
cp offline/* "$HOME/.cache/huggingface/hub/models--funasr--ct-punc/snapshots/abc/"
expect 0 "a model in Hugging Face's cache is found by its name" punctuate -q -m funasr/ct-punc text.txt
same files.txt "$T/out"
expect 0 "a punctuation model of a transcript is found by its name" -q -m "$MODEL" -l zh --punctuation ct-punc "$DIGITS"
same marked.txt "$T/out"
expect 0 "a model whose text has marks loads no punctuation model by default" -m "$MODEL" -l zh "$DIGITS"
same plain.txt "$T/out"
P=${STENO_SHARED:-/none}/material/funasr
if [ -d "$P" ]; then
    cp -r "$P/models/paraformer/pt" paraformer
    expect 0 "a model whose text has no marks loads the punctuation model in the cache" -m paraformer "$P/audio/zh_synth.wav"
    err_has "punctuation: "
    grep -q '[。，？、]' "$T/out" || bad "the text of such a model has marks" "$(cat "$T/out")"
    cp -r "$P/models/punc/pt" ct-punc
    expect 0 "a punctuation model beside the speech model comes first" -m paraformer "$P/audio/zh_synth.wav"
    err_has "punctuation: ./ct-punc"
    expect 0 "--no-punctuation loads no punctuation model" -m paraformer --no-punctuation "$P/audio/zh_synth.wav"
    err_lacks "punctuation"
    cp -r "$P/models/sensevoice/pt" sensevoice
    cp -r "$P/fsmn-vad/pt" fsmn-vad
    expect 0 "FunASR's three models print its text" --compute f32 -m sensevoice "$P/audio/vad/sample.wav"
    err_has "punctuation: ./ct-punc"
    err_has "voice activity: ./fsmn-vad"
    printf '五삼nine. One八three four三。\n' >want.txt
    same want.txt "$T/out"
    expect 0 "FunASR's three models print its list" --compute f32 -m sensevoice -f funasr "$P/audio/vad/sample.wav"
    printf '%s\n' '[{"key": "sample", "text": "\u4e94\uc0bcnine. One\u516bthree four\u4e09\u3002"}]' >want.json
    same want.json "$T/out"
    for o in --itn --keep-tags --rich-text; do
        expect 0 "$o loads no punctuation model by default" -m sensevoice $o "$P/audio/vad/sample.wav"
        err_lacks "punctuation"
    done
    expect 0 "words with times do not change the text" --compute f32 -m sensevoice -f funasr --word-timestamps "$P/audio/vad/sample.wav"
    grep -q '"words": \["\\u4e94", "\\uc0bc", "nine", "one",' "$T/out" || bad "no word has a mark" "$(cat "$T/out")"
    echo "not a model" >ct-punc/config.yaml
    expect 0 "a model that cannot be used is ignored" -m paraformer "$P/audio/zh_synth.wav"
    err_has "without punctuation"
fi
finish
