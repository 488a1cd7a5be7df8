# steno: options of other programs on steno's own command line are answered with steno's. SPDX-License-Identifier: MIT
#
# Each row: a command line, and the whole command that the message suggests in place of it. Nothing is done, nothing is written. The
# suggested command runs: its exit code is that of a missing model, the first thing that is missing.
. "$(dirname "$0")/../lib.sh"

cp "$DIGITS" a.wav
mkdir talks
cp "$DIGITS" talks/b.wav
before=$(find . | sort)
n=0

answer() { # answer TYPED SUGGESTED
    local code suggested
    n=$((n + 1))
    eval "\"\$STENO\" $1" </dev/null >"$T/out" 2>"$T/err"
    code=$?
    suggested=$(sed -n 's/.*; here: //p' "$T/err")
    [ $code -eq 2 ] || bad "steno $1" "exit code $code, not 2"
    [ "$suggested" = "steno $2" ] || bad "steno $1" "suggests \"$suggested\", not \"steno $2\""
    [ ! -s "$T/out" ] || bad "steno $1" "writes to standard output"
    [ "$(wc -l <"$T/err")" -eq 1 ] || bad "steno $1" "$(wc -l <"$T/err") lines"
    [ "$(find . | sort)" = "$before" ] || { bad "steno $1" "writes files: $(find . | sort | tr '\n' ' ')"; find . -newer a.wav -delete; }
    steno() { "$STENO" "$@" </dev/null >"$T/out" 2>"$T/err"; }
    eval "$suggested"
    code=$?
    [ $code -eq 3 ] || bad "the suggested command runs: $suggested" "exit code $code"
    [ "$(find . | sort)" = "$before" ] || bad "$suggested" "writes files: $(find . | sort | tr '\n' ' ')"
}

rows() {
    local typed suggested
    while IFS='|' read -r typed suggested; do
        typed=${typed%"${typed##*[! ]}"} suggested=${suggested# }
        [ -z "$typed" ] || answer "$typed" "$suggested"
    done
}

echo "whisper.cpp"
rows <<'ROWS'
-m x -f a.wav                        | -m x a.wav
-m x --file a.wav                    | -m x a.wav
-m x -f a.wav -f talks/b.wav         | -m x a.wav talks/b.wav
-m x -f -                            | -m x -
-m x -osrt a.wav                     | -m x a.wav -f srt -o .
-osrt a.wav -m x                     | a.wav -m x -f srt -o .
-osrt /a.wav -m x                    | /a.wav -m x -f srt -o /
-m x -otxt -f a.wav                  | -m x a.wav -f txt -o .
-m x -ovtt talks/b.wav               | -m x talks/b.wav -f vtt -o talks
-m x -olrc a.wav                     | -m x a.wav -f lrc -o .
-m x -ocsv a.wav                     | -m x a.wav -f csv -o .
-m x -oj a.wav                       | -m x a.wav -f json -o .
-m x -ojf a.wav                      | -m x a.wav -f json_full -o .
-m x -owts a.wav                     | -m x a.wav -f wts -o .
-m x -otxt -osrt -ovtt a.wav         | -m x a.wav -f txt,srt,vtt -o .
-m x --output-txt --output-srt a.wav | -m x a.wav -f txt,srt -o .
-m x --output-vtt --output-lrc a.wav | -m x a.wav -f vtt,lrc -o .
-m x --output-csv --output-json a.wav| -m x a.wav -f csv,json -o .
-m x --output-json-full a.wav        | -m x a.wav -f json_full -o .
-m x --output-words a.wav            | -m x a.wav -f wts -o .
-m x -osrt -of y a.wav               | -m x a.wav -f srt -o . --output-template 'y.{format}'
-m x -osrt -of talks/y a.wav         | -m x a.wav -f srt -o talks --output-template 'y.{format}'
-m x -of y a.wav                     | -m x a.wav
-m x -osrt -o talks a.wav            | -m x -o talks a.wav -f srt
-m x -osrt --output-file y a.wav     | -m x a.wav -f srt -o . --output-template 'y.{format}'
-m x -ml 40 -osrt a.wav              | -m x --max-len 40 a.wav -f srt -o .
-m x -ml 1 -sow -osrt a.wav          | -m x --max-len 1 --split-on-word a.wav -f srt -o .
-m x -bs 5 a.wav                     | -m x --beam-size 5 a.wav
-m x -bo 5 a.wav                     | -m x --best-of 5 a.wav
-m x -bo 5 -bs 5 a.wav               | -m x --best-of 5 --beam-size 5 a.wav
-m x -ac 512 a.wav                   | -m x --audio-ctx 512 a.wav
-m x -mc 64 a.wav                    | -m x --max-context 64 a.wav
-m x -ot 1000 a.wav                  | -m x --offset-ms 1000 a.wav
-m x --offset-t 1000 a.wav           | -m x --offset-ms 1000 a.wav
-m x -d 3000 a.wav                   | -m x --duration-ms 3000 a.wav
-m x --duration 3000 a.wav           | -m x --duration-ms 3000 a.wav
-m x -on 5 -osrt a.wav               | -m x --offset-n 5 a.wav -f srt -o .
-m x -p 2 a.wav                      | -m x a.wav
-m x --processors 2 a.wav            | -m x a.wav
-m x -wt 0.1 -oj --token-timestamps a.wav | -m x --word-threshold 0.1 --token-timestamps a.wav -f json -o .
-m x --word-thold 0.1 -ml 9 -osrt a.wav | -m x --word-threshold 0.1 --max-len 9 a.wav -f srt -o .
-m x -et 2.4 a.wav                   | -m x --entropy-threshold 2.4 a.wav
-m x --entropy-thold 2.4 a.wav       | -m x --entropy-threshold 2.4 a.wav
-m x -lpt -0.5 a.wav                 | -m x --logprob-threshold -0.5 a.wav
-m x --logprob-thold -0.5 a.wav      | -m x --logprob-threshold -0.5 a.wav
-m x -nth 0.5 a.wav                  | -m x --no-speech-threshold 0.5 a.wav
-m x --no-speech-thold 0.5 a.wav     | -m x --no-speech-threshold 0.5 a.wav
-m x -tp 0.2 a.wav                   | -m x --temperature 0.2 a.wav
-m x -tpi 0.1 a.wav                  | -m x --temperature-increment-on-fallback 0.1 a.wav
-m x --temperature-inc 0.1 a.wav     | -m x --temperature-increment-on-fallback 0.1 a.wav
-m x -nf a.wav                       | -m x --temperature-increment-on-fallback 0 a.wav
-m x --no-fallback a.wav             | -m x --temperature-increment-on-fallback 0 a.wav
-m x -tr a.wav                       | -m x --task translate a.wav
-m x --translate a.wav               | -m x --task translate a.wav
translate -m x -tr a.wav             | translate -m x a.wav
-m x -di a.wav                       | -m x --diarize a.wav
-m x -tdrz a.wav                     | -m x --tinydiarize a.wav
-m x -dl a.wav                       | detect -m x a.wav
-m x --detect-language a.wav         | detect -m x a.wav
-m x --prompt 'a b' a.wav            | -m x --initial-prompt 'a b' a.wav
-m x -sns a.wav                      | -m x --suppress-non-speech a.wav
-m x --suppress-nst a.wav            | -m x --suppress-non-speech a.wav
-m x -dtw base.en -oj a.wav          | -m x --word-timestamps --alignment-heads base.en a.wav -f json -o .
-m x -np a.wav                       | -m x -q a.wav
-m x -ps a.wav                       | -m x --print-special a.wav
-m x -pc a.wav                       | -m x --print-colors a.wav
-m x -pp a.wav                       | -m x --progress lines a.wav
-m x --print-progress a.wav          | -m x --progress lines a.wav
-m x -debug a.wav                    | -m x -v a.wav
-m x -nt a.wav                       | -m x a.wav
-m x --no-timestamps a.wav           | -m x a.wav
-m x -ls -otxt a.wav                 | -m x --log-scores a.wav -f txt -o .
-m x --log-score -otxt a.wav         | -m x --log-scores a.wav -f txt -o .
-m x -ng a.wav                       | -m x a.wav
-m x --no-gpu a.wav                  | -m x a.wav
-m x -dev 0 a.wav                    | -m x a.wav
-m x --device 0 a.wav                | -m x a.wav
-m x -fa a.wav                       | -m x a.wav
-m x -nfa a.wav                      | -m x a.wav
-m x --flash-attn a.wav              | -m x a.wav
-m x --no-flash-attn a.wav           | -m x a.wav
-m x -oved GPU a.wav                 | -m x a.wav
-m x --vad fsmn -vt 0.5 a.wav        | -m x --vad fsmn --vad-threshold 0.5 a.wav
-m x --vad fsmn -vm ggml-silero.bin a.wav | -m x --vad fsmn --vad-model ggml-silero.bin a.wav
-m x --vad fsmn -vspd 250 a.wav      | -m x --vad fsmn --vad-min-speech-ms 250 a.wav
-m x --vad fsmn -vsd 100 a.wav       | -m x --vad fsmn --vad-min-silence-ms 100 a.wav
-m x --vad fsmn -vmsd 30 a.wav       | -m x --vad fsmn --vad-max-speech-s 30 a.wav
-m x --vad fsmn -vp 30 a.wav         | -m x --vad fsmn --vad-speech-pad-ms 30 a.wav
-m x --vad fsmn -vo 0.1 a.wav        | -m x --vad fsmn a.wav
-m x --vad -f a.wav                  | -m x --vad silero a.wav
-m x --vad a.wav                     | -m x --vad silero a.wav
-m x --vad -vm ggml-silero-v5.1.2.bin -vt 0.6 -f a.wav | -m x --vad silero --vad-model ggml-silero-v5.1.2.bin --vad-threshold 0.6 a.wav
-t 4 -p 1 -m x -l auto -osrt -pp -f a.wav | -t 4 -m x -l auto --progress lines a.wav -f srt -o .
ROWS

echo "openai-whisper"
rows <<'ROWS'
a.wav --model x --fp16 False                         | a.wav --model x --compute f32
a.wav --model x --fp16=False                         | a.wav --model x --compute f32
a.wav --model x --fp16 True                          | a.wav --model x
a.wav --model x --word_timestamps True -f json       | a.wav --model x --word-timestamps -f json
a.wav --model x --word_timestamps=True -f json       | a.wav --model x --word-timestamps -f json
a.wav --model x --word_timestamps False              | a.wav --model x --no-word-timestamps
a.wav --model x --verbose False                      | a.wav --model x
a.wav --model x --verbose True                       | a.wav --model x --verbose
a.wav --model x --condition_on_previous_text False   | a.wav --model x --no-condition-on-previous-text
a.wav --model x --condition_on_previous_text True    | a.wav --model x --condition-on-previous-text
a.wav --model x --carry_initial_prompt False         | a.wav --model x --no-carry-initial-prompt
a.wav --model x --highlight_words False              | a.wav --model x --no-highlight-words
a.wav --model x --beam_size None                     | a.wav --model x
a.wav --model x --best_of None                       | a.wav --model x
a.wav --model x --patience None                      | a.wav --model x --patience none
a.wav --model x --no_speech_threshold None           | a.wav --model x --no-speech-threshold none
a.wav --model x --logprob_threshold=None             | a.wav --model x --logprob-threshold none
a.wav --model x --compression_ratio_threshold None   | a.wav --model x --compression-ratio-threshold none
a.wav --model x --temperature_increment_on_fallback None | a.wav --model x --temperature-increment-on-fallback none
a.wav --model x --hallucination_silence_threshold None | a.wav --model x --hallucination-silence-threshold none
a.wav --model x --language None                      | a.wav --model x
a.wav --model x --initial_prompt None                | a.wav --model x
a.wav --model x --max_line_width None                | a.wav --model x
a.wav --model x --threads None                       | a.wav --model x
a.wav --model x --device cuda                        | a.wav --model x
a.wav --model x --device cuda:0 --fp16 True          | a.wav --model x
a.wav --model x --device mps                         | a.wav --model x
a.wav --model x --output_format srt --verbose False  | a.wav --model x -f srt
a.wav --model x --output_format all -o talks --fp16 False | a.wav --model x -o talks --compute f32 -f all
a.wav -model x                                       | a.wav --model x
a.wav -m x -language English                         | a.wav -m x --language English
a.wav -m x -output_dir talks                         | a.wav -m x --output-dir talks
a.wav -m x -output talks                             | a.wav -m x -o talks
a.wav -m x -out talks                                | a.wav -m x -o talks
ROWS

echo "whisper-ctranslate2 and its like"
rows <<'ROWS'
a.wav --model_directory x --compute_type int8   | a.wav -m x --compute int8
a.wav --model x --compute_type float32          | a.wav --model x --compute f32
a.wav --model x --compute_type float16          | a.wav --model x
a.wav --model x --compute_type auto             | a.wav --model x
a.wav --model x --compute_type int8_float16     | a.wav --model x --compute int8
a.wav --model x --compute_type int8_float32     | a.wav --model x --compute int8
a.wav --model x --compute_type int8_bfloat16    | a.wav --model x --compute int8
a.wav --model x --compute_type int16            | a.wav --model x --compute int16
a.wav --model x --compute_type bfloat16         | a.wav --model x --compute bf16
a.wav --model x --vad_filter True               | a.wav --model x --vad silero
a.wav --model x --vad_filter False              | a.wav --model x
a.wav --model x --vad fsmn --vad_onset 0.5      | a.wav --model x --vad fsmn --vad-threshold 0.5
a.wav --model x --vad fsmn --vad_min_speech_duration_ms 250 | a.wav --model x --vad fsmn --vad-min-speech-ms 250
a.wav --model x --vad fsmn --vad_min_silence_duration_ms 99 | a.wav --model x --vad fsmn --vad-min-silence-ms 99
a.wav --model x --vad fsmn --vad_max_speech_duration_s 9 | a.wav --model x --vad fsmn --vad-max-speech-s 9
a.wav --model x --batched True                  | a.wav --model x --batch-size 8
a.wav --model x --batched False                 | a.wav --model x
a.wav --model x --device_index 0                | a.wav --model x
a.wav --model x --cpu_threads 4                 | a.wav --model x --threads 4
a.wav --model x --pretty_json True              | a.wav --model x
a.wav --model x --local_files_only True         | a.wav --model x
a.wav --model x --log_progress True             | a.wav --model x --progress lines
a.wav --model x --standard -f srt               | a.wav --model x --word-timestamps --max-line-width 42 --max-line-count 2 -f srt
a.wav --model x --print_colors True             | a.wav --model x --print-colors
a.wav --model x --vad_filter True --hotwords "one two" | a.wav --model x --vad silero --hotwords 'one two'
a.wav --model x --batched True --batch_size 4   | a.wav --model x --batch-size 8 --batch-size 4
a.wav --model x --multilingual False            | a.wav --model x
a.wav --model x --multilingual                  | a.wav --model x --language-per-segment
a.wav --model x --multilingual True             | a.wav --model x --language-per-segment
a.wav --model x --live_transcribe False         | a.wav --model x
a.wav --model x --vad fsmn --vad_offset 0.2     | a.wav --model x --vad fsmn --vad-neg-threshold 0.2
a.wav --model x -p True                         | a.wav --model x
ROWS

echo "faster-whisper's own words"
rows <<'ROWS'
a.wav --model_size_or_path x --num_workers 2    | a.wav -m x
a.wav --model x --log_prob_threshold -0.5       | a.wav --model x --logprob-threshold -0.5
a.wav --model x --max_new_tokens 40             | a.wav --model x --sample-length 40
a.wav --model x --vad_filter=True --min_silence_duration_ms 500 | a.wav --model x --vad silero --vad-min-silence-ms 500
a.wav --model x --vad silero --speech_pad_ms 30 | a.wav --model x --vad silero --vad-speech-pad-ms 30
a.wav --model x --vad_method silero_v4 --min_speech_duration_ms 99 | a.wav --model x --vad silero --vad-min-speech-ms 99
a.wav --model x --vad silero --max_speech_duration_s=9 | a.wav --model x --vad silero --vad-max-speech-s 9
a.wav --model x --vad silero --neg_threshold=0.3 | a.wav --model x --vad silero --vad-neg-threshold 0.3
ROWS

echo "behind other verbs"
rows <<'ROWS'
align -m x -osrt a.wav text                     | align -m x a.wav text -f srt -o .
align -m x -ng -np a.wav text                   | align -m x -q a.wav text
align -m x -oj -dtw top:1 a.wav text            | align -m x --json --alignment-heads top:1 a.wav text
align --model x --language None a.wav text      | align --model x a.wav text
detect -m x -f a.wav                            | detect -m x a.wav
detect -m x -dl -oj -f a.wav                    | detect -m x --json a.wav
detect --model x --fp16 False a.wav             | detect --model x --compute f32 a.wav
detect --model x --device cuda a.wav            | detect --model x a.wav
detect -a a.wav -m x                            | detect a.wav -m x
vad -vm ggml-silero.bin -vt 0.6 -f a.wav        | vad -m ggml-silero.bin --vad-threshold 0.6 a.wav
vad --vad-model x -vspd 250 -vsd 100 a.wav      | vad -m x --vad-min-speech-ms 250 --vad-min-silence-ms 100 a.wav
vad -m x -vp 30 -vo 0.1 a.wav                   | vad -m x --vad-speech-pad-ms 30 a.wav
vad --vad-model x -ug -np --file a.wav          | vad -m x -q a.wav
vad --vad fsmn-vad.gguf --vad-maxseg 20000 -a a.wav | vad -m fsmn-vad.gguf --vad-max-speech-s 20 a.wav
bench -m x -ng -fa                              | bench -m x
bench -m x --compute_type int8 -oj              | bench -m x --compute int8 -f json
ROWS

echo "FunASR"
rows <<'ROWS'
-m x -a a.wav                                   | -m x a.wav
-m x -a a.wav --srt                             | -m x a.wav -f srt
-m x -a a.wav --vad fsmn-vad.gguf               | -m x a.wav --vad fsmn --vad-model fsmn-vad.gguf
-m x -a a.wav --vad talks/fsmn-vad              | -m x a.wav --vad fsmn --vad-model talks/fsmn-vad
-m x -a a.wav --vad fsmn --vad-maxseg 20000     | -m x a.wav --vad fsmn --vad-max-speech-s 20
-m x -a a.wav --chunk 15                        | -m x a.wav --chunk-length 15
-m x -a a.wav --rep 1.1                         | -m x a.wav --repetition-penalty 1.1
-m x -a a.wav --backend cpu                     | -m x a.wav
--model-dir x --wav-path a.wav --quantize true  | -m x a.wav
--model-dir x --wav-path a.wav --vad-dir v      | -m x a.wav --vad fsmn --vad-model v
--model-dir x --wav-path a.wav --punc-dir p     | -m x a.wav --punctuation p
--model-dir x --wav-path a.wav --thread-num 2   | -m x a.wav --threads 2
++model=x ++input=a.wav                         | -m x a.wav
++model=x ++vad_model=fsmn-vad ++punc_model=ct-punc ++input=a.wav | -m x --vad fsmn --punctuation ct-punc a.wav
++model=x ++input=a.wav ++language=zh ++device=cpu ++ncpu=2 | -m x a.wav -l zh --threads 2
++model=x ++input=a.wav ++output_dir=talks ++batch_size=2 | -m x a.wav -o talks --batch-size 2
++model=x ++input=a.wav ++hotword='a b' ++use_itn=true | -m x a.wav --hotwords 'a b' --itn
++model=x ++input=a.wav ++use_itn=false         | -m x a.wav --no-itn
ROWS
[ $n -gt 170 ] || bad "more than 170 rows are read" "$n"

echo "doc/compat.md has them all"
grep -oE '(CPP2?|OAI|FAST|FUN)\("[^"]+"(, "--[^"]+")?|SWITCH\([A-Z]+, "[^"]+"' "$SRC/tools/compat/other_cli_words.c" |
    grep -oE '"[^"]+"' | tr -d '"' >words
[ "$(wc -l <words)" -gt 100 ] || bad "the source has more than 100 words" "$(wc -l <words)"
while IFS= read -r word; do
    grep -qF -- "\`$word" "$SRC/doc/compat.md" || bad "doc/compat.md has $word" "it does not"
done <words
rm words

echo "options without an equivalent"
for row in "--model_dir d|takes the path of the file" \
    "--cache_directory d|HF_HUB_CACHE" "--download_root d|HF_HUB_CACHE" "++merge_vad=true|settings are options" \
    "--hf_token X|by channels only" "--speaker_num 2|by channels only" \
    "--live_transcribe True|steno stream" "--live_input_device 1|steno stream" \
    "--vad_parameters x|--vad-min-silence-ms"; do
    # shellcheck disable=SC2086
    expect 2 "${row%%|*} is refused" -m x a.wav ${row%%|*}
    err_has "${row#*|}"
    err_lines 1
done
for row in "align -bs 5 a.wav text" "align -otxt a.wav text" "align -of y -osrt a.wav text" "align -dl a.wav text" \
    "detect -osrt a.wav" "detect -tr a.wav" "vad -bo 5 -m x a.wav" \
    "vad --compute_type int8 --batched True -m x a.wav" "bench -f a.wav" "bench -tp 0.2"; do
    # shellcheck disable=SC2086
    expect 2 "$row is refused" $row
    err_has "\"steno ${row%% *}\" has nothing of the kind"
    err_lines 1
done
expect 2 "options of one dialect name the dialect" -m x -a a.wav --srt
err_has "-a, --srt: not steno's but FunASR's (steno --compat funasr takes all its options); here: "
expect 2 "an option alone is answered" -osrt
err_has "here: steno -f srt -o ."
expect 2 "options of several programs are answered" -m x -a a.wav -osrt
err_has "-a, -osrt: not steno's but other programs'; here: steno -m x a.wav -f srt -o ."

echo "steno's own options are accepted"
for ours in "-l en" "-lpt" "-t 2" "-f srt,txt -o talks" "-fsrt" "-o talks" "-otalks" "--initial-prompt -osrt" "--initial-prompt True" \
    "--model x --output_format srt" "--language English" "--beam_size 5 --best_of 5" "-- -osrt" "--prefix 零 --no-word-timestamps -vq"; do
    # shellcheck disable=SC2086
    expect 3 "$ours is accepted" -m none.bin a.wav $ours
done
touch True
expect 3 "a file may be called True" -m none.bin -v True
finish
