# steno: voice activity and tagged transcription from FunASR folders. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 2 "vad without a model reports what it needs" vad "$DIGITS"
err_has "-m silero"
expect 2 "vad takes one file" vad -m "$MODEL"
expect 2 "vad refuses a model that finds no speech" vad -m "$MODEL" "$DIGITS"
err_has "voice-activity model"
err_lines 1
expect 2 "an option for models with tags is refused for Whisper" -m "$MODEL" --itn "$DIGITS"
err_has "itn"
expect 2 "a threshold out of range is refused" vad -m "$MODEL" --vad-threshold 3 "$DIGITS"
err_has "vad-threshold"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    [ $failures -eq 0 ] || finish
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi

expect 0 "vad prints START_MS END_MS" vad -m "$F/fsmn-vad/pt" "$F/audio/vad/sample.wav"
is "vad prints the reference's span" "$(cat "$T/out")" "770 5980"
err_lines 0
expect 0 "vad prints no span of silence" vad -m "$F/fsmn-vad/safetensors" --no-cmvn --vad-min-silence-ms 800 "$F/audio/vad/silence5s.wav"
out_empty
expect 0 "--vad-min-silence-ms 800 is accepted" vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 "$F/audio/vad/jfk.wav"
is "a shorter silence gives three spans" "$(tr '\n' ';' <"$T/out")" "40 2300;3020 4610;5120 10980;"
expect 0 "--vad-max-speech-s cuts spans" vad -m "$F/fsmn-vad/pt" --vad-max-speech-s 5 --json "$F/audio/vad/jfk.wav"
is "the cut spans are printed as an object" "$(cat "$T/out")" '{"spans": [[40, 5050], [5120, 10130], [10130, 10980]], "duration_ms": 11000}'
expect 0 "--streaming prints openings and closings" vad -m "$F/fsmn-vad/pt" --streaming --vad-min-silence-ms 800 "$F/audio/vad/jfk.wav"
is "each span has an opening and a closing" "$(tr '\n' ';' <"$T/out")" "40 -1;-1 2300;3020 -1;-1 4610;5120 -1;-1 10980;"
expect 0 "--streaming prints an object" vad -m "$F/fsmn-vad/pt" --streaming --vad-chunk-ms 60 --json "$F/audio/vad/jfk.wav"
is "the object has events and spans" "$(cat "$T/out")" '{"events": [[40, -1], [-1, 10980]], "spans": [[40, 10980]], "duration_ms": 11000}'
expect 0 "--vad-merge-s merges spans" vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 --vad-merge-s 5 "$F/audio/vad/jfk.wav"
is "the merged spans begin with the audio" "$(tr '\n' ';' <"$T/out")" "0 4610;4610 5120;5120 10980;"
expect 0 "--vad-min-speech-ms leaves short spans out" \
    vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 --vad-min-speech-ms 1700 "$F/audio/vad/jfk.wav"
is "two spans are long enough" "$(tr '\n' ';' <"$T/out")" "40 2300;5120 10980;"
expect 2 "two options for the silence that ends a span are refused" \
    vad -m "$F/fsmn-vad/pt" --vad-schedule live --vad-min-silence-ms 8 "$F/audio/vad/jfk.wav"
err_has "--vad-schedule sets the silence that ends a span, and so does --vad-min-silence-ms"
expect 3 "a folder without am.mvn is named" vad -m "$F/fsmn-vad/safetensors" "$F/audio/vad/jfk.wav"
err_has "am.mvn"
IN=$F/audio/vad/sample.wav
expect 0 "vad reads standard input" vad -m "$F/fsmn-vad/pt" -
is "standard input has the file's span" "$(cat "$T/out")" "770 5980"
IN=/dev/null
expect 4 "vad reports a missing file" vad -m "$F/fsmn-vad/pt" none.wav
err_has "none.wav"

S=$F/models/sensevoice/pt
expect 0 "bench times a model that finds speech" bench -q -m "$F/fsmn-vad/pt" --runs 1 -f tsv
for row in features_60s encode_60s find_60s; do
    cut -f 1 "$T/out" | grep -qx "steno\.$row" || bad "there is a row steno.$row" "$(cut -f 1 "$T/out" | tr '\n' ' ')"
done
expect 0 "bench times a model with a CTC head" bench -q -m "$S" --runs 1 -f tsv
for row in load features_10s encode_30s ctc_60s recognise_30s peak_memory; do
    cut -f 1 "$T/out" | grep -qx "steno\.$row" || bad "there is a row steno.$row" "$(cut -f 1 "$T/out" | tr '\n' ' ')"
done
expect 0 "bench times a model with integrate-and-fire" bench -q -m "$F/models/paraformer/pt" --runs 1 --json
for key in features_10s_ms encode_60s_ms cif_30s_ms decode_180_tokens_ms; do out_has "\"$key\": {\"median\""; done
expect 2 "detect refuses a model that tags its text" detect -m "$S" "$F/audio/en_george.wav"
err_has "a sensevoice model does not detect a language by itself"
err_lacks "English"
long_speech 9 >long.wav # 65 s: three clips, of which the last two share a run
expect 0 "--progress reads a model that decodes audio once" -q -m "$S" --progress lines long.wav
is "progress rises before the end" "$(cut -d: -f3 "$T/err" | tr -d '\n')" " 0 % 85 % 100 %"
expect 0 "the segments of clips have times" -q -m "$S" -f json long.wav
is "the segments of clips meet" \
    "$(grep -oE '"(start|end)": [0-9.]+' "$T/out" | sed 's/.*: //' | uniq -c | awk '$1 == 2 { n++ } END { print n + 0 }')" 2
expect 0 "the text of a model with tags is printed" -m "$S" "$F/audio/en_george.wav"
is "the text has no tags" "$(cat "$T/out")" "three one four"
expect 0 "--itn prints digits instead of words" -m "$S" --itn -f json "$F/audio/en_george.wav"
out_has '"text": "3 1 4."'
out_has '"language": "en", "emotion": "NEUTRAL", "events": ["Speech"], "itn": true'
expect 0 "--keep-tags is accepted" -m "$S" --keep-tags "$F/audio/en_bgm.wav"
is "--keep-tags prints the tags of the reference" "$(cat "$T/out")" "<|en|><|NEUTRAL|><|BGM|><|woitn|>four four two"
expect 0 "-f funasr prints the list that generate() returns" -m "$S" -f funasr --word-timestamps "$F/audio/en_bgm.wav"
out_has '[{"key": "en_bgm", "text": "<|en|><|NEUTRAL|><|BGM|><|woitn|>four four two", "timestamp": [[210, 270], [690, 750], '
out_has '[1350, 1410]], "words": ["four", "four", "two"]}]'
expect 0 "-f funasr writes its list beside another file" -q -m "$S" -f funasr,txt --rich-text -o list "$F/audio/zh_synth_happy.wav"
is "the name of the list has the input and the format" \
    "$(cat list/zh_synth_happy.funasr.json)" '[{"key": "zh_synth_happy", "text": "\u516b\u516d\ud83d\ude0a"}]'
expect 0 "the list of a Whisper model has no tags" -m "$MODEL" -l zh -f funasr "$DIGITS"
out_has '[{"key": "zh_phrases", "text": "'
expect 0 "--rich-text is accepted" -m "$S" --rich-text "$F/audio/zh_synth_happy.wav"
is "--rich-text prints the signs of the reference" "$(cat "$T/out")" "八六😊"
expect 2 "--keep-tags and --rich-text are refused together" -m "$S" --keep-tags --rich-text "$F/audio/en_bgm.wav"
err_has "--keep-tags and --rich-text exclude each other"
expect 2 "--keep-tags is refused for models without tags" -m "$MODEL" --keep-tags "$DIGITS"
err_has "--keep-tags is for models with tags"
expect 0 "the language nospeech is accepted" -m "$S" -l nospeech --keep-tags "$F/audio/noise.wav"
out_has "<|nospeech|>"
V="$F/audio/vad/pauses.wav"
expect 0 "--vad-model cuts the audio into segments of speech" -m "$S" --vad-model "$F/fsmn-vad/pt" --vad-min-silence-ms 500 "$V"
err_lines 0
is "each segment of speech has a line" "$(head -3 "$T/out" | tr '\n' ';')" "five six six five nine;三零三零四;five nine three seven two;"
cp "$T/out" segments
expect 0 "several segments in a run give the same text" \
    -q -m "$S" --vad-model "$F/fsmn-vad/gguf/fsmn-vad.gguf" --vad-min-silence-ms 500 -b 8 "$V"
same "$T/out" segments
mkdir -p beside cache/hub/models/iic hub/models--funasr--fsmn-vad/snapshots/1
ln -sf "$F/fsmn-vad/pt" beside/fsmn-vad
ln -sf "$S" beside/model
ln -sf "$F/fsmn-vad/pt" cache/hub/models/iic/speech_fsmn_vad_zh-cn-16k-common-pytorch
ln -sf "$F"/fsmn-vad/pt/* hub/models--funasr--fsmn-vad/snapshots/1
expect 0 "a detector beside the model is found and reported" -m beside/model --vad-min-silence-ms 500 "$V"
err_has "voice activity: beside/fsmn-vad (found automatically"
same "$T/out" segments
MODELSCOPE_CACHE=$PWD/cache expect 0 "a detector in ModelScope's cache is found" -q -m "$S" --vad-min-silence-ms 500 "$V"
err_lines 0
same "$T/out" segments
HF_HUB_CACHE=$PWD/hub expect 0 "a detector in Hugging Face's cache is found" -m "$S" --vad-min-silence-ms 500 "$V"
err_has "models--funasr--fsmn-vad/snapshots/1"
same "$T/out" segments
expect 0 "--no-vad leaves a detector beside the model out" -m beside/model --no-vad "$V"
err_lines 0
is "--no-vad decodes one clip" "$(wc -l <"$T/out")" 1
expect 2 "--vad fsmn without a detector is refused" -m "$S" --vad fsmn "$V"
err_has "--vad-model FOLDER"
expect 2 "an option of the detector is refused with --no-vad" -m beside/model --no-vad --vad-min-silence-ms 500 "$V"
err_has "--vad-min-silence-ms needs --vad fsmn or silero"
expect 2 "margins are refused for FunASR's models" -m beside/model --vad-speech-pad-ms 100 "$V"
err_has "--vad-speech-pad-ms is for Whisper and Silero"
expect 1 "doctor lists the folders where it looks for a detector" doctor
out_has "voice activity"
several=("$F"/audio/en_[gjln]*.wav "$F/audio/zh_synth.wav" long.wav "$F/audio/silence.wav" "$F/audio/en_bgm.wav")
expect 0 "several files are decoded one after the other" -q -m "$S" -f json --word-timestamps "${several[@]}"
cp "$T/out" alone
for n in 2 5 128; do
    expect 0 "$n clips are decoded together, the same bytes in the same order" -q -m "$S" -f json --word-timestamps -b $n "${several[@]}"
    same "$T/out" alone
done
expect 1 "a missing file is reported, and the others are written" -q -m "$S" -b 3 "$F/audio/en_george.wav" no.wav "$F/audio/en_bgm.wav"
err_has "no.wav"
out_has "three one four"
expect 0 "beams are accepted with clips together" -q -m "$S" -b 2 --beam-size 2 "$F/audio/en_george.wav" "$F/audio/zh_synth_happy.wav"
is "beams with clips together print each file's text" "$(tr '\n' ';' <"$T/out")" "three one four;八六;"
expect 0 "clips together do not limit beams" -m "$S" -b 128 --beam-size 32 "$F/audio/en_george.wav"
is "32 beams print the text" "$(cat "$T/out")" "three one four"
expect 0 "hot words are accepted" -m "$S" --hotwords "seven,four" "$F/audio/en_george.wav"
is "hot words do not change text that is certain" "$(cat "$T/out")" "three one four"
expect 2 "--patience is refused for a CTC head" -m "$S" --beam-size 2 --patience 2 "$F/audio/en_george.wav"
err_has "--patience is for models that decode token by token"
expect 0 "-f srt writes a cue" -m "$S" -l zh -f srt "$F/audio/zh_synth_happy.wav"
out_has "00:00:00,000 --> 00:00:01,621"
expect 0 "--max-words-per-line 1 writes a cue for each word" \
    -m "$S" -f srt --word-timestamps --max-words-per-line 1 "$F/audio/en_george.wav"
is "each word has its times" "$(grep -v '^[0-9]*$' "$T/out" | tr '\n' ';')" \
    "00:00:00,150 --> 00:00:00,210;three;00:00:00,570 --> 00:00:00,630;one;00:00:01,350 --> 00:00:01,410;four;"
expect 0 "--max-len 9 cuts segments before words" -m "$S" -f srt --max-len 9 "$F/audio/en_george.wav"
is "each piece has its times" "$(grep -v '^[0-9]*$' "$T/out" | tr '\n' ';')" \
    "00:00:00,150 --> 00:00:00,630;three one;00:00:01,350 --> 00:00:01,410;four;"
expect 2 "--token-timestamps is refused for a CTC head" -m "$S" -f json --token-timestamps "$F/audio/en_george.wav"
err_has "--token-timestamps is for models that decode token by token"
expect 0 "JSON names the source of word times" -m "$S" -f json --word-timestamps long.wav
out_has '"source": "ctc"'
expect 2 "a language that the model does not know is refused" -m "$S" -l de "$F/audio/en_george.wav"
err_has "it knows zh, en, yue, ja, ko"
expect 2 "--initial-prompt is refused for a CTC head" -m "$S" --initial-prompt x "$F/audio/en_george.wav"
err_has "--initial-prompt is for models that decode token by token"
expect 2 "translate is refused for a model without translation" translate -m "$S" "$F/audio/en_george.wav"
expect 0 "info prints the family" info "$S"
out_has "family: sensevoice"
expect 0 "info --plan prints the plan" info --plan "$S"
is "each of six layers has one linear of three times the width" "$(grep -c 'linear_q_k_v\|self_attn.qkv.*384x' "$T/out")" 6
expect 2 "vad refuses a model that detects no voice activity" vad -m "$S" "$F/audio/en_george.wav"
finish
