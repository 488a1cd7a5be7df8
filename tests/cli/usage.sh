# steno: mistakes on the command line. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

usage() { # usage CLAIM MESSAGE ARGUMENT...: the command line is refused with one line
    local claim=$1 message=$2
    shift 2
    expect 2 "$claim" "$@"
    err_has "$message"
    err_lines 1
    out_empty
}

usage "an unknown option names its nearest match" "unknown option --langauge; did you mean --language?" a.wav --langauge en
usage "an abbreviated option names what it may stand for" "did you mean --language?" a.wav --lang en
usage "an option like nothing is named" "unknown option --xyzzy" a.wav --xyzzy
usage "an unknown letter is named" "unknown option -Z" a.wav -Z
usage "a misspelt opposite names its nearest match" "did you mean --no-suppress-blank?" a.wav --no-supress-blank
usage "a missing value is reported" "--language needs a value" a.wav --language
usage "a missing value of a letter is reported" "-t needs a value" a.wav -t
usage "an empty value is reported" "--model: the value is empty" a.wav --model=
usage "a value for a flag is reported" "--demo takes no value" a.wav --demo=1
usage "a word that is no number is reported" "\"four\" is not a whole number" a.wav -t four
usage "a number with a tail is reported" "\"4x\" is not a whole number" a.wav -t4x
usage "a number out of range is reported" "out of range" a.wav --threads 100000
usage "a negative offset is refused" "out of range" a.wav --offset-ms -1
usage "a number beyond 64 bits is refused" "out of range" a.wav --offset-ms 99999999999999999999
usage "nan is refused as a threshold" "is not a number" a.wav --no-speech-threshold nan
usage "an unknown format names its nearest match" "unknown value \"sRt\"; did you mean srt?" a.wav -f txt,sRt -o out
usage "an unknown task names the choices" "transcribe|translate" a.wav --task dance
usage "unknown arithmetic is refused" "--compute" a.wav --compute fp8
usage "an unknown processor level names its nearest match" "did you mean avx2?" a.wav --cpu avx3
usage "several formats need a folder" "need --output-dir" a.wav -f txt,srt
usage "all formats need a folder" "need --output-dir" a.wav -f all
usage "no input is a mistake" "no input" -l en
usage "standard input can be given once" "once only" - -
usage "a mistyped verb names its nearest match" "unknown verb \"transcrib\"; did you mean transcribe?" transcrib a.wav
usage "-m and --demo exclude each other" "exclude each other" a.wav -m x --demo
usage "a verb without operands refuses one" "no operands" bench x
usage "doctor takes one model" "doctor takes one model" doctor x y
usage "detect takes one file" "one sound file" detect
usage "two inputs with one output name are refused" "two inputs would be written" a/x.wav b/x.mp3 -o out
usage "two inputs with one output name are named, with a template that separates them" \
    'as out/x.txt: a/x.wav and b/x.wav; --output-template "{dir}/{stem}.{format}" keeps' a/x.wav y.wav b/x.wav -o out
usage "a template with the extension is suggested" 'x.wav and x.mp3; --output-template "{stem}.{ext}.{format}" keeps' x.wav x.mp3 -o out
usage "a template with a number is suggested" 'x/y.wav and ./x/y.wav; --output-template "{n}-{stem}.{format}" keeps' x/y.wav ./x/y.wav -o \
    out
usage "an input that is given twice is refused" "x.wav is given twice" x.wav x.wav -o out
usage "a prompt that is not UTF-8 is refused" "not valid UTF-8 at byte 2" a.wav --initial-prompt $'ab\xff'
usage "control characters of an argument are shown, not sent" "unknown option --a\\x1b[31m" a.wav $'--a\x1b[31m'
usage "two inputs that a template gives one name are refused" "two inputs would be written as out/same.txt" \
    a.wav b.wav -o out --output-template same.{format}
usage "two formats that a template gives one name are refused" "put {format} into" a.wav -o out -f srt,vtt --output-template {stem}
usage "a language does not keep names apart" "two inputs would be written" a/x.wav b/x.mp3 -o out --output-template {language}/{stem}
usage "a template may not climb out of the folder" "leaves the output folder" a.wav -o out --output-template ../{stem}
usage "a template may not climb out further down" "leaves the output folder" a.wav -o out --output-template {stem}/../../x
usage "a template may not begin at the root" "leaves the output folder" a.wav -o out --output-template /tmp/{stem}
usage "a template has to name a file" "names a folder" a.wav -o out --output-template {stem}/
usage "an unknown word of a template is reported" "{lang} is unknown" a.wav -o out --output-template {stem}.{lang}
usage "the words of a template are listed" "{dir}, {n}, {date}, {time} and {model}" a.wav -o out --output-template "{name}"
usage "a template needs a folder" "needs --output-dir" a.wav --output-template {stem}
usage "colours and styles exclude each other" "exclude each other" a.wav --print-colors --print-confidence
usage "an unknown colour mode names the choices" "auto|always|never" a.wav --color blue
[ ! -e out ] || bad "a mistake makes no folder" "it does"
usage "an option is named as it was typed" "-t: 300 is out of range" a.wav -t 300
usage "the message has the library's range" "--chunk-length: 31 is out of range; it takes 1 to 30" a.wav --chunk-length 31
usage "options of voice activity need --vad" "--vad-threshold needs --vad fsmn" -m "$MODEL" a.wav --vad-threshold 0.5
usage "options of subtitles need a format of subtitles" \
    "--max-line-width is for the output formats srt, vtt, ass and wts" a.wav --max-line-width 20
usage "--offset-n needs the format srt" "--offset-n is for the output format srt" a.wav --offset-n 2
usage "--token-timestamps needs a format with objects" "--token-timestamps shows in the output formats json" a.wav --token-timestamps
usage "a grammar without a rule is refused" "--grammar is empty" a.wav --grammar /dev/null
usage "a seed without sampling is refused" "--seed is of sampling" a.wav --seed 1 --temperature-increment-on-fallback 0
usage "a penalty without candidates is refused" "--greedy follows one sequence" a.wav --greedy --length-penalty 0.5
usage "--carry-initial-prompt without a prompt is refused" "--carry-initial-prompt needs --initial-prompt" a.wav --carry-initial-prompt
usage "styles without text are refused" "--print-colors needs text on standard output" a.wav --print-colors -f srt
usage "a random model beside a real one is refused" "--shape is for a model of random weights" bench -m x --shape tiny
usage "two formats of a bench are refused" "exclude each other" bench --json -f tsv
IN=$T/work expect 4 "a folder on standard input is printed once" -q -m "$MODEL" -
err_has "steno: standard input is a directory"
err_lines 1

if [ ! -e /usr/local/share/steno ]; then
    mkdir "$T/lone"
    cp "$STENO" "$T/lone/steno"
    STENO=$T/lone/steno expect 3 "--demo without the built-in model fails" --demo a.wav
    err_has "with -m"
    STENO=$T/lone/steno expect 2 "--demo without its recording is a mistake" --demo
    err_has "with -m"
fi

echo "needs the model:"
usage "an unknown language is a mistake" "xx" -q -m "$MODEL" -l xx "$DIGITS"
usage "token ids that are none are a mistake" "suppress" -q -m "$MODEL" --suppress-tokens 1,x "$DIGITS"

expect 0 "options accept _ for -, =value, joined and separate letters" \
    --output_format=txt -qm "$MODEL" -t2 -t 1 --no_suppress_blank "$DIGITS"
expect 4 "-- ends the options" -q -m "$MODEL" -- --no-such-file.wav
err_has "--no-such-file.wav: "
cp "$DIGITS" ./info
expect 0 "a file called like a verb can be given with ./" -q -m "$MODEL" ./info

# The option that is named keeps all inputs apart, not just the first two.
mkdir -p films/a films/b
cp "$SRC/tests/data/demo.wav" films/x.wav
for f in films/x.mp3 films/a/x.wav films/b/x.wav; do cp films/x.wav $f; done
for set in "films/x.wav films/x.mp3" "films/a/x.wav films/b/x.wav" "films/x.wav films/x.mp3 films/a/x.wav" "--recursive films"; do
    # shellcheck disable=SC2086
    expect 2 "the names of $set are equal" -q -m "$MODEL" -o apart $set
    template=$(sed -n 's/.*--output-template "\(.*\)" keeps them apart/\1/p' "$T/err")
    # shellcheck disable=SC2086
    expect 0 "the template that is named keeps $set apart" -q -m "$MODEL" -o apart --output-template "$template" $set
done
finish
