# steno: voice activity and tagged transcription from FunASR folders. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 2 "vad without a model says what it needs" vad "$DIGITS"
err_has "-m silero"
expect 2 "vad takes one file" vad -m "$MODEL"
expect 2 "vad with a model that finds no speech says so" vad -m "$MODEL" "$DIGITS"
err_has "voice-activity model"
err_lines 1
expect 2 "an option for models with tags is refused for Whisper" -m "$MODEL" --itn "$DIGITS"
err_has "itn"
expect 2 "a threshold out of range" vad -m "$MODEL" --vad-threshold 3 "$DIGITS"
err_has "vad-threshold"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    [ $failures -eq 0 ] || finish
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi

expect 0 "vad prints START_MS END_MS" vad -m "$F/fsmn-vad/pt" "$F/audio/vad/sample.wav"
is "the reference's span" "$(cat "$T/out")" "770 5980"
err_lines 0
expect 0 "a fixed end silence" vad -m "$F/fsmn-vad/safetensors" --no-cmvn --vad-min-silence-ms 800 "$F/audio/vad/silence5s.wav"
out_empty
expect 0 "spans by a shorter silence" vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 "$F/audio/vad/jfk.wav"
is "three spans" "$(tr '\n' ';' <"$T/out")" "40 2300;3020 4610;5120 10980;"
expect 0 "spans are cut" vad -m "$F/fsmn-vad/pt" --vad-max-speech-s 5 --json "$F/audio/vad/jfk.wav"
is "as an object" "$(cat "$T/out")" '{"spans": [[40, 5050], [5120, 10130], [10130, 10980]], "duration_ms": 11000}'
expect 0 "news as they come" vad -m "$F/fsmn-vad/pt" --streaming --vad-min-silence-ms 800 "$F/audio/vad/jfk.wav"
is "openings and closings" "$(tr '\n' ';' <"$T/out")" "40 -1;-1 2300;3020 -1;-1 4610;5120 -1;-1 10980;"
expect 0 "as an object" vad -m "$F/fsmn-vad/pt" --streaming --vad-chunk-ms 60 --json "$F/audio/vad/jfk.wav"
is "with the spans" "$(cat "$T/out")" '{"events": [[40, -1], [-1, 10980]], "spans": [[40, 10980]], "duration_ms": 11000}'
expect 0 "merged spans" vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 --vad-merge-s 5 "$F/audio/vad/jfk.wav"
is "begin with the audio" "$(tr '\n' ';' <"$T/out")" "0 4610;4610 5120;5120 10980;"
expect 0 "short ones are left out" vad -m "$F/fsmn-vad/pt" --vad-min-silence-ms 800 --vad-min-speech-ms 1700 "$F/audio/vad/jfk.wav"
is "two spans" "$(tr '\n' ';' <"$T/out")" "40 2300;5120 10980;"
expect 2 "two who say what silence ends a span" vad -m "$F/fsmn-vad/pt" --vad-schedule live --vad-min-silence-ms 8 "$F/audio/vad/jfk.wav"
err_has "--vad-schedule sets the silence that ends a span, and so does --vad-min-silence-ms"
expect 3 "a folder without am.mvn is named" vad -m "$F/fsmn-vad/safetensors" "$F/audio/vad/jfk.wav"
err_has "am.mvn"
IN=$F/audio/vad/sample.wav
expect 0 "from a pipe" vad -m "$F/fsmn-vad/pt" -
is "the same span" "$(cat "$T/out")" "770 5980"
IN=/dev/null
expect 4 "a missing file" vad -m "$F/fsmn-vad/pt" none.wav
err_has "none.wav"

S=$F/models/sensevoice/pt
expect 0 "bench of a model that finds speech" bench -q -m "$F/fsmn-vad/pt" --runs 1 -f tsv
for row in features_60s encode_60s find_60s; do
    cut -f 1 "$T/out" | grep -qx "steno\.$row" || bad "there is a row steno.$row" "$(cut -f 1 "$T/out" | tr '\n' ' ')"
done
expect 0 "bench of a model with a CTC head" bench -q -m "$S" --runs 1 -f tsv
for row in load features_10s encode_30s ctc_60s recognise_30s peak_memory; do
    cut -f 1 "$T/out" | grep -qx "steno\.$row" || bad "there is a row steno.$row" "$(cut -f 1 "$T/out" | tr '\n' ' ')"
done
expect 0 "bench of a model whose tokens are found in frames" bench -q -m "$F/models/paraformer/pt" --runs 1 --json
for key in features_10s_ms encode_60s_ms cif_30s_ms decode_180_tokens_ms; do out_has "\"$key\": {\"median\""; done
expect 2 "detect with a model that tags its text" detect -m "$S" "$F/audio/en_george.wav"
err_has "a sensevoice model does not detect a language by itself"
err_lacks "English"
long_speech 9 >long.wav # 65 s: three clips, of which the last two share a run
expect 0 "progress of audio that is heard once" -q -m "$S" --progress lines long.wav
is "is not at its end at once" "$(cut -d: -f3 "$T/err" | tr -d '\n')" " 0 % 85 % 100 %"
expect 0 "segments have times" -q -m "$S" -f json long.wav
is "which meet" "$(grep -oE '"(start|end)": [0-9.]+' "$T/out" | sed 's/.*: //' | uniq -c | awk '$1 == 2 { n++ } END { print n + 0 }')" 2
expect 0 "text without tags" -m "$S" "$F/audio/en_george.wav"
is "text" "$(cat "$T/out")" "three one four"
expect 0 "digits instead of words" -m "$S" --itn -f json "$F/audio/en_george.wav"
out_has '"text": "3 1 4."'
out_has '"language": "en", "emotion": "NEUTRAL", "events": ["Speech"], "itn": true'
expect 0 "tags in the text" -m "$S" --keep-tags "$F/audio/en_bgm.wav"
is "as the reference prints them" "$(cat "$T/out")" "<|en|><|NEUTRAL|><|BGM|><|woitn|>four four two"
expect 0 "the list that generate() returns" -m "$S" -f funasr --word-timestamps "$F/audio/en_bgm.wav"
out_has '[{"key": "en_bgm", "text": "<|en|><|NEUTRAL|><|BGM|><|woitn|>four four two", "timestamp": [[210, 270], [690, 750], '
out_has '[1350, 1410]], "words": ["four", "four", "two"]}]'
expect 0 "as a file beside another" -q -m "$S" -f funasr,txt --rich-text -o list "$F/audio/zh_synth_happy.wav"
is "is named by both" "$(cat list/zh_synth_happy.funasr.json)" '[{"key": "zh_synth_happy", "text": "\u516b\u516d\ud83d\ude0a"}]'
expect 0 "Whisper's list has no tags" -m "$MODEL" -l zh -f funasr "$DIGITS"
out_has '[{"key": "zh_phrases", "text": "'
expect 0 "signs in the text" -m "$S" --rich-text "$F/audio/zh_synth_happy.wav"
is "as the reference writes them" "$(cat "$T/out")" "八六😊"
expect 2 "either tags or signs" -m "$S" --keep-tags --rich-text "$F/audio/en_bgm.wav"
err_has "--keep-tags and --rich-text exclude each other"
expect 2 "tags are for models with tags" -m "$MODEL" --keep-tags "$DIGITS"
err_has "--keep-tags is for models with tags"
expect 0 "a query for no speech" -m "$S" -l nospeech --keep-tags "$F/audio/noise.wav"
out_has "<|nospeech|>"
V="$F/audio/vad/pauses.wav"
expect 0 "segments where somebody speaks" -m "$S" --vad-model "$F/fsmn-vad/pt" --vad-min-silence-ms 500 "$V"
err_lines 0
is "a line each" "$(head -3 "$T/out" | tr '\n' ';')" "five six six five nine;三零三零四;five nine three seven two;"
cp "$T/out" segments
expect 0 "several segments in a run" -q -m "$S" --vad-model "$F/fsmn-vad/gguf/fsmn-vad.gguf" --vad-min-silence-ms 500 -b 8 "$V"
same "$T/out" segments
mkdir -p beside cache/hub/models/iic hub/models--funasr--fsmn-vad/snapshots/1
ln -sf "$F/fsmn-vad/pt" beside/fsmn-vad
ln -sf "$S" beside/model
ln -sf "$F/fsmn-vad/pt" cache/hub/models/iic/speech_fsmn_vad_zh-cn-16k-common-pytorch
ln -sf "$F"/fsmn-vad/pt/* hub/models--funasr--fsmn-vad/snapshots/1
expect 0 "found beside the model, and named" -m beside/model --vad-min-silence-ms 500 "$V"
err_has "voice activity: beside/fsmn-vad (found automatically"
same "$T/out" segments
MODELSCOPE_CACHE=$PWD/cache expect 0 "found in ModelScope's cache" -q -m "$S" --vad-min-silence-ms 500 "$V"
err_lines 0
same "$T/out" segments
HF_HUB_CACHE=$PWD/hub expect 0 "found in Hugging Face's" -m "$S" --vad-min-silence-ms 500 "$V"
err_has "models--funasr--fsmn-vad/snapshots/1"
same "$T/out" segments
expect 0 "not wanted" -m beside/model --no-vad "$V"
err_lines 0
is "one clip" "$(wc -l <"$T/out")" 1
expect 2 "wanted, and nowhere" -m "$S" --vad fsmn "$V"
err_has "--vad-model FOLDER"
expect 2 "not wanted, and told how" -m beside/model --no-vad --vad-min-silence-ms 500 "$V"
err_has "--vad-min-silence-ms needs --vad fsmn or silero"
expect 2 "margins are Whisper's" -m beside/model --vad-speech-pad-ms 100 "$V"
err_has "--vad-speech-pad-ms is for Whisper and Silero"
expect 1 "doctor tells where it looks" doctor
out_has "voice activity"
several=("$F"/audio/en_[gjln]*.wav "$F/audio/zh_synth.wav" long.wav "$F/audio/silence.wav" "$F/audio/en_bgm.wav")
expect 0 "several files" -q -m "$S" -f json --word-timestamps "${several[@]}"
cp "$T/out" alone
for n in 2 5 128; do
    expect 0 "$n clips together: the same bytes in the same order" -q -m "$S" -f json --word-timestamps -b $n "${several[@]}"
    same "$T/out" alone
done
expect 1 "one that fails is told, the others are written" -q -m "$S" -b 3 "$F/audio/en_george.wav" no.wav "$F/audio/en_bgm.wav"
err_has "no.wav"
out_has "three one four"
expect 0 "beams, clips together" -q -m "$S" -b 2 --beam-size 2 "$F/audio/en_george.wav" "$F/audio/zh_synth_happy.wav"
is "text" "$(tr '\n' ';' <"$T/out")" "three one four;八六;"
expect 0 "clips together do not limit beams" -m "$S" -b 128 --beam-size 32 "$F/audio/en_george.wav"
is "text" "$(cat "$T/out")" "three one four"
expect 0 "hot words" -m "$S" --hotwords "seven,four" "$F/audio/en_george.wav"
is "text that is sure" "$(cat "$T/out")" "three one four"
expect 2 "what ends a search token by token" -m "$S" --beam-size 2 --patience 2 "$F/audio/en_george.wav"
err_has "--patience is for models that decode token by token"
expect 0 "subtitles" -m "$S" -l zh -f srt "$F/audio/zh_synth_happy.wav"
out_has "00:00:00,000 --> 00:00:01,621"
expect 0 "a cue for each word" -m "$S" -f srt --word-timestamps --max-words-per-line 1 "$F/audio/en_george.wav"
is "times and words" "$(grep -v '^[0-9]*$' "$T/out" | tr '\n' ';')" \
    "00:00:00,150 --> 00:00:00,210;three;00:00:00,570 --> 00:00:00,630;one;00:00:01,350 --> 00:00:01,410;four;"
expect 0 "segments are cut before words" -m "$S" -f srt --max-len 9 "$F/audio/en_george.wav"
is "times and pieces" "$(grep -v '^[0-9]*$' "$T/out" | tr '\n' ';')" \
    "00:00:00,150 --> 00:00:00,630;three one;00:00:01,350 --> 00:00:01,410;four;"
expect 2 "there are no times of tokens" -m "$S" -f json --token-timestamps "$F/audio/en_george.wav"
err_has "--token-timestamps is for models that decode token by token"
expect 0 "words in JSON" -m "$S" -f json --word-timestamps long.wav
out_has '"source": "ctc"'
expect 2 "a language the model does not know" -m "$S" -l de "$F/audio/en_george.wav"
err_has "it knows zh, en, yue, ja, ko"
expect 2 "an option that means nothing to it" -m "$S" --initial-prompt x "$F/audio/en_george.wav"
err_has "--initial-prompt is for models that decode token by token"
expect 2 "it does not translate" translate -m "$S" "$F/audio/en_george.wav"
expect 0 "info describes it" info "$S"
out_has "family: sensevoice"
expect 0 "the plan is one linear of three times the width a layer" info --plan "$S"
is "such linears" "$(grep -c 'linear_q_k_v\|self_attn.qkv.*384x' "$T/out")" 6
expect 2 "vad wants a voice-activity model" vad -m "$S" "$F/audio/en_george.wav"
finish
