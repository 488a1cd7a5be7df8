# steno: openai-whisper's command line, and what it prints and writes. SPDX-License-Identifier: MIT
#
# tests/data/compat/whisper.golden has what openai-whisper 20250625 did for the command lines of whisper.cases (tests/golden/
# make_compat_whisper.py). steno has to give the same bytes, on standard output and in files; of log-probabilities and probabilities, which
# are sums in another order, the same numbers.
. "$(dirname "$0")/../lib.sh"

COMPAT=$SRC/tests/data/compat
G=$SRC/tests/data/golden
cp "$G"/{de_phrases,en_twelve,es_phrases,fr_phrases,zh_short,chord,noise,tiny50ms}.wav "$DIGITS" .
join() { # join SOUND...: > WAV
    local s
    for s in "$@"; do tail -c +45 "$s.wav"; done >"$T/joined"
    wav <"$T/joined"
}
join zh_phrases zh_phrases zh_phrases zh_phrases zh_phrases zh_phrases >long.wav
join de_phrases es_phrases fr_phrases en_twelve zh_phrases de_phrases >mixed.wav
cp zh_phrases.wav japanese.wav
cp en_twelve.wav audio.wav
mkdir sounds
cp zh_short.wav sounds/zh_short
cp fr_phrases.wav sounds/two.dots.wav
find . -type f | sort >"$T/before"

put() { # put FILE: its bytes, and a newline where there is none at the end
    cat "$1"
    [ ! -s "$1" ] || [ -z "$(tail -c 1 "$1")" ] || printf '\n@@ no newline\n'
}
# What a run has left, in the form of the golden file.
dump() {
    local f
    put "$T/out"
    find . -type f | LC_ALL=C sort | comm -13 "$T/before" - | while IFS= read -r f; do
        echo "@@ file ${f#./}"
        put "$f"
        rm "$f"
    done
}
# Numbers that are sums in another order: # in the text, and by themselves in FILE.num.
apart() { # apart FILE
    awk -v num="$1.num" 'BEGIN { printf "" > num }
        # a segment that lasts no time loses its text, which is on standard output there, but in no file
        /^\[.* --> .*\] / && $1 == "[" substr($3, 1, length($3) - 1) { print $1, $2, $3; next }
        { while (match($0, /"(avg_logprob|no_speech_prob|probability)": [-0-9.e]+/)) {
              k = index(substr($0, RSTART), ": ") + 1
              print substr($0, RSTART + k, RLENGTH - k) >num
              before = substr($0, 1, RSTART + k - 1)
              gsub(/"temperature": 0,/, "\"temperature\": 0.0,", before) # a whole number there, where no other attempt follows
              printf "%s#", before
              $0 = substr($0, RSTART + RLENGTH)
          }
          print }' "$1" >"$1.text"
}
near() { # near A B: the same numbers
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] || return 1
    paste "$1" "$2" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 2e-4) bad = 1 } END { exit bad }'
}

n=0 some=1
! sanitized || some=5 # under one each takes long: every fifth
again='greedy_long words_long words_mixed threads readme_translate english_name code' # other cases cover them
! in_full || again=
while IFS= read -r line; do
    name=${line%% *} n=$((n + 1))
    [ $((n % some)) -eq 0 ] || continue
    case " $again " in *" $name "*) continue ;; esac
    awk -v name="$name" '/^@@ case / { on = $3 == name; next } on' "$COMPAT/whisper.golden" >want
    [ -s want ] || { rm want; bad "$name" "nothing is stored for it"; continue; }
    mv want "$T/want"
    # shellcheck disable=SC2086
    expect 0 "$line" --compat whisper --model "$MODEL" ${line#* }
    dump >"$T/got"
    apart "$T/got"
    apart "$T/want"
    cmp -s "$T/got.text" "$T/want.text" || bad "$line" "$(diff "$T/want.text" "$T/got.text" | head -6)"
    near "$T/got.num" "$T/want.num" || bad "$line" "numbers: $(paste "$T/want.num" "$T/got.num" | head -3)"
done <"$COMPAT/whisper.cases"
[ $n -gt 50 ] || bad "more than 50 cases are read" "$n"

W="--compat whisper --model $MODEL"
echo "mistakes are argparse's"
mistake() { # mistake MESSAGE ARGUMENT...
    local message=$1
    shift
    expect 2 "$*" --compat whisper "$@"
    is "$message" "$(sed -n '$s/^whisper: error: //p' "$T/err")" "$message"
    err_has "usage: whisper [-h] [--model MODEL]"
    out_empty
    [ -z "$(find . -type f | LC_ALL=C sort | comm -13 "$T/before" -)" ] || bad "$*" "writes files"
}
mistake "the following arguments are required: audio"
mistake "the following arguments are required: audio" --language en
mistake "unrecognized arguments: --foo" a.wav --foo
mistake "unrecognized arguments: --output-dir" --output-dir out
mistake "unrecognized arguments: b.wav" a.wav --task translate b.wav
mistake "unrecognized arguments: --foo c.wav" a.wav --task translate --foo c.wav
mistake "argument --task: expected one argument" a.wav --task
mistake "argument --task: expected one argument" a.wav --task --language en
mistake "argument --output_dir/-o: expected one argument" a.wav -o
mistake "argument --task: invalid choice: 'sing' (choose from 'transcribe', 'translate')" a.wav --task sing
mistake "argument --output_format/-f: invalid choice: 'lrc' (choose from 'txt', 'vtt', 'srt', 'tsv', 'json', 'all')" a.wav -f lrc
mistake "argument --verbose: invalid str2bool value: 'yes'" a.wav --verbose yes
mistake "argument --fp16: invalid str2bool value: 'None'" a.wav --fp16 None
mistake "argument --beam_size: invalid optional_int value: 'x'" a.wav --beam_size x
mistake "argument --beam_size: invalid optional_int value: '1.5'" a.wav --beam_size 1.5
mistake "argument --temperature: invalid float value: 'None'" a.wav --temperature None
mistake "argument --temperature: invalid float value: '0x1'" a.wav --temperature 0x1
mistake "argument --no_speech_threshold: invalid optional_float value: '1_'" a.wav --no_speech_threshold 1_
mistake "argument --threads: expected one argument" a.wav --threads -x
mistake "ambiguous option: --max_line could match --max_line_width, --max_line_count" a.wav --max_line 3
mistake "argument -h/--help: ignored explicit argument '1'" a.wav --help=1
mistake "argument --model: invalid valid_model_name value: 'nix'" a.wav --model nix
mistake "--highlight_words requires --word_timestamps True" a.wav --model "$MODEL" --highlight_words True
mistake "--max_line_count requires --word_timestamps True" a.wav --model "$MODEL" --max_line_width 1 --max_line_count 2
mistake "argument --length_penalty: length_penalty (alpha) should be a value between 0 and 1" a.wav --model "$MODEL" --length_penalty 2
mistake "argument --patience: patience requires beam_size to be given" a.wav --model "$MODEL" --beam_size None --patience 1
mistake "argument --beam_size: a beam search has at least one beam" a.wav --model "$MODEL" --beam_size 0
expect 2 "an unknown language is refused" $W a.wav --language klingon
err_has "argument --language: invalid choice: 'klingon'"
expect 2 "a language in lower case is refused" $W a.wav --language english
err_has "argument --language: invalid choice: 'english'"
expect 2 "an unknown name of a language is refused" $W zh_short.wav --language Klingon
err_has "Klingon"
expect 0 "-h prints the options" --compat whisper a.wav -h --no-such
out_has "--condition_on_previous_text X"
expect 3 "a model that whisper would download is reported" --compat whisper zh_short.wav --model tiny.en
err_has "tiny.en"

echo "inputs that fail: whisper exits 0, steno does not"
expect 4 "a missing input exits 4" $W none.wav
err_has "none.wav"
expect 1 "one of two missing inputs exits 1" $W zh_short.wav none.wav -f txt
[ -s zh_short.txt ] || bad "the other input is written" "it is not"
rm -f zh_short.txt
for f in flac mp3; do cp audio.wav audio.$f; done
expect 2 "two inputs with one name are refused" $W audio.flac audio.mp3 audio.wav
err_has "two inputs would be written as ./audio.json"
expect 2 "two inputs with one name in different folders are refused" $W zh_short.wav sounds/zh_short -f txt
err_has "two inputs would be written as ./zh_short.txt"

echo "warnings and names"
expect 0 "FP16 and the device have warnings" $W zh_short.wav -f txt -o o --device cuda
err_has "FP16 is not supported on CPU; using FP32 instead"
err_has "--device cuda: this version computes on the CPU"
expect 0 "a run without FP16 has no warnings" $W zh_short.wav -f txt -o o --fp16 False
err_lines 0
expect 0 "--max_line_count without --max_line_width has a warning" \
    $W zh_short.wav -f srt -o o --word_timestamps True --max_line_count 2 --fp16 False
err_has "UserWarning: --max_line_count has no effect without --max_line_width"
for o in @ @/deep; do # steno's own word for the input's folder
    expect 0 "the folder $o is accepted" $W sounds/two.dots.wav -f txt -o $o --fp16 False
    err_lines 0
    [ -s "$o/two.dots.txt" ] || bad "the folder $o is made where the program runs" "$(find . -name 'two.dots.*')"
done
none "no file is written beside the sound" "$(find sounds -name '*.txt' -o -name deep)"
mkdir -p "$HOME/.cache/whisper" m
cp "$MODEL" "$HOME/.cache/whisper/large-v3-turbo.pt"
cp "$MODEL" m/tiny.pt
expect 0 "turbo in whisper's cache is the default model" --compat whisper zh_short.wav -f txt -o o --fp16 False
cp o/zh_short.txt "$T/turbo"
expect 0 "--model_dir names a folder of models" --compat whisper zh_short.wav -f txt -o o --model tiny --model_dir m --fp16 False
same o/zh_short.txt "$T/turbo"
ln -s "$STENO" "$T/whisper"
STENO=$T/whisper
expect 0 "the name of the link selects the program" zh_short.wav -f txt -o o --fp16 False
same o/zh_short.txt "$T/turbo"
finish
