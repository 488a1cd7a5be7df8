# steno: the command line of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

W="--compat whisper-cli"
cp "$DIGITS" zh.wav

# ---- what is typed wrong: never exit code 0
for args in "--no-such zh.wav" "-bs" "-bs five zh.wav" "-of" "zh.wav --beam-size=3" "-di -tdrz zh.wav" "-debug zh.wav" "-l xx zh.wav"; do
    # shellcheck disable=SC2086
    expect 1 "a mistake exits 1: $args" $W -m "$MODEL" $args
    out_empty
done
err_has "language"
# shellcheck disable=SC2086
expect 1 "the message about a value that is no number names the option" $W -m "$MODEL" -bs five zh.wav
err_has '-bs: "five" is not a whole number; "whisper-cli --help" lists the options'
# shellcheck disable=SC2086
expect 2 "a command line without an input is refused" $W -m "$MODEL"
# shellcheck disable=SC2086
expect 2 "missing inputs are refused" $W -m "$MODEL" none.wav -f none2.wav
err_has "none2.wav: No such file"
# shellcheck disable=SC2086
expect 3 "the default model is that of whisper-cli" $W zh.wav
err_has "models/ggml-base.en.bin"
# shellcheck disable=SC2086
expect 1 "a missing font is reported" $W -m "$MODEL" -l zh -owts zh.wav
err_has "-owts needs a font file"
# shellcheck disable=SC2086
expect 3 "a missing model of voice activity is reported" $W -m "$MODEL" -l zh --vad -vm none.bin zh.wav
err_has "none.bin"
is "a mistake writes no file" "$(ls)" zh.wav
# shellcheck disable=SC2086
expect 0 "-h prints the options" $W -h
out_has "-bs, --beam-size X"
out_has "nothing: it is about graphics processors"
# shellcheck disable=SC2086
expect 0 "--version prints the version" $W --version
out_has "steno "

# ---- an option that the program sets by itself is its own fault
Q=$SRC/tests/data/qwen3_asr
# shellcheck disable=SC2086
expect 1 "a model of another family is refused" $W -m "$Q" zh.wav
err_has '--gelu is for encoder-decoder models; this qwen3-asr model does not serve it, and "whisper-cli" sets it: give another model'
# shellcheck disable=SC2086
expect 1 "an option that was typed is to be left out" $W -m "$Q" -tr zh.wav
err_has "--gelu"
expect 2 "whisper sets its task" --compat whisper --model "$Q" zh.wav
err_has '--task is for multilingual encoder-decoder models; this qwen3-asr model does not serve it, and "whisper" sets it'
expect 2 "a task that was typed is to be left out" --compat whisper --model "$Q" --task translate zh.wav
err_has "this qwen3-asr model does not serve it: leave it out"

# ---- a grammar that is not used is reported; whisper-cli ends with 4 if it has no rule
printf '# nothing\n' >none.gbnf
printf 'root ::= "one"\n' >one.gbnf
for grammar in nonsense none.gbnf missing.gbnf; do
    # shellcheck disable=SC2086
    expect 4 "--grammar $grammar has no rule" $W -m "$MODEL" --grammar $grammar zh.wav
    err_has "\"$grammar\" has no rule"
    out_empty
done
# shellcheck disable=SC2086
for grammar in one.gbnf 'root ::= "one"'; do
    expect 0 "--grammar $grammar without --grammar-rule is not used" $W -m "$MODEL" -l zh --grammar "$grammar" zh.wav
    err_has "--grammar is not used without --grammar-rule"
done
rm none.gbnf one.gbnf

# ---- names of files
L="$W -m $MODEL -l zh -np"
# shellcheck disable=SC2086
expect 0 "files are written beside the input and keep its ending" $L zh.wav -otxt -osrt -ovtt -olrc -ocsv -oj -ls
err_lines 0
is "each file's name is the input's name with an extension" "$(ls | tr '\n' ' ')" \
    "zh.wav zh.wav.csv zh.wav.json zh.wav.lrc zh.wav.score.txt zh.wav.srt zh.wav.txt zh.wav.vtt "
rm zh.wav.*
cp zh.wav b.wav
# shellcheck disable=SC2086
expect 0 "-of names files in the order of inputs" $L -f zh.wav b.wav -of one -of two -otxt
same one.txt two.txt
rm one.txt two.txt
# shellcheck disable=SC2086
expect 0 "an input without -of has its own name" $L -f zh.wav b.wav -of one -otxt
same one.txt b.wav.txt
mv one.txt want
rm b.wav.txt
# shellcheck disable=SC2086
expect 0 "-of - prints the file alone" $L zh.wav -of - -otxt
same "$T/out" want
# shellcheck disable=SC2086
expect 0 "-of - prints one of two formats" $L zh.wav -of - -otxt -osrt
same "$T/out" want
err_has "srt is not written"
IN=zh.wav
# shellcheck disable=SC2086
expect 0 "standard input is read" $L - -of - -otxt
same "$T/out" want
IN=/dev/null
# shellcheck disable=SC2086
expect 1 "one of two missing inputs exits 1" $L none.wav zh.wav -of x -of y -otxt
same y.txt want
# shellcheck disable=SC2086
expect 0 "-dtw does nothing with flash attention, as in whisper-cli" $L zh.wav -of - -otxt -dtw base.en
same "$T/out" want
err_has "does nothing without -nfa"
# shellcheck disable=SC2086
expect 1 "-dtw without flash attention is refused" $L zh.wav -of - -otxt -dtw base.en -nfa
err_has "--word-timestamps"
# shellcheck disable=SC2086
expect 3 "an unknown model of -dtw is refused, as in whisper-cli" $L zh.wav -of - -otxt -dtw base.de
err_has 'unknown model "base.de"'
printf '%s\n' -m "$MODEL" -l zh -np -f zh.wav -of "a b" -otxt >args
# shellcheck disable=SC2086
expect 0 "@FILE reads arguments" $W @args
same "a b.txt" want
# shellcheck disable=SC2086
expect 1 "a missing file of arguments is reported" $W @none
# shellcheck disable=SC2086
expect 0 "options of other machines are accepted" $L zh.wav -of - -otxt -ng -fa -nfa -dev 0 -oved CPU -t 2
same "$T/out" want
err_lacks "graphics processors"
for gpu in "-dev 1" "-oved GPU"; do
    # shellcheck disable=SC2086
    expect 0 "$gpu computes on the CPU" $L zh.wav -of - -otxt $gpu
    same "$T/out" want
    err_has "$gpu: this version has no kernels for graphics processors; computing on the CPU"
done
cp zh.wav c.txt
# shellcheck disable=SC2086
expect 1 "an input is not overwritten" $L -f c.txt -of c -otxt
same c.txt zh.wav
ln -s "$STENO" whisper-cli
printf '\n[00:00:00.300 --> 00:00:02.400]  六零七八。\n' >want
./whisper-cli -m "$MODEL" -l zh -np --compute f32 zh.wav 2>"$T/err" | head -2 >"$T/out"
same "$T/out" want

# ---- output and files of whisper.cpp 1.9.3 (whisper-cli -nfa -t 1 -np) for the same sounds. Differences are masked and named here:
# "systeminfo" describes its build; probabilities differ by the rounding of products.
rm -rf ./*
G=$SRC/tests/data/compat/whisper_cli
ln -s "$MODEL" m.bin
: >font.ttf
[ ! -d "${STENO_SHARED:-/none}" ] || ln -s "${STENO_SHARED:-/none}/material/funasr/silero/ggml-silero-v6.2.0.bin" vad.bin
long_speech 9 >long.wav

mask() { # mask FILE NAME: without systeminfo and probabilities
    case $2 in
    *.json) sed -e 's/^\t"systeminfo": .*/\t"systeminfo": "",/' -e 's/"p": [^,]*/"p": /' "$1" ;;
    *.score.txt) sed 's/\t[^\t]*$//' "$1" ;;
    *) cat "$1" ;;
    esac
}
probabilities() { sed -n -e 's/.*"p": \([^,]*\).*/\1/p' -e 's/.*\t\([0-9.e-]*\)$/\1/p' "$1"; }
times() { grep -oE '[0-9]+:[0-9]+:[0-9]+[.,][0-9]+' "$1" | tr ':,' ' .' | awk '{ print $1 * 3600 + $2 * 60 + $3 }'; }
near() { # near CLAIM LIMIT FILE FILE: numbers differ by no more
    paste "$3" "$4" | awk -v limit="$2" '{ d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > limit) bad++ } END { exit bad > 0 }' ||
        bad "$1" "$(paste "$3" "$4" | head -5)"
}
ascends() { # ascends CLAIM FILE: each span ends after it begins and no sooner than the one before, which it does not begin before
    times "$2" | paste - - | awk '$2 < $1 || $1 < from || $2 < to { bad++ } { from = $1; to = $2 } END { exit bad || NR < 3 }' ||
        bad "$1" "$(times "$2" | paste - - | head -20)"
}
agree() { # agree CASE FILE
    local want=$G/$1/$2 got=$2
    [ "$2" != stdout ] || got=$T/out
    mask "$got" "$2" >a
    mask "$want" "$2" >b
    cmp -s a b || bad "$1/$2 has the other program's bytes" "$(diff a b | head -6)"
    [ "${2%.json}" != "$2" ] || [ "${2%.score.txt}" != "$2" ] || return 0
    probabilities "$got" >a
    probabilities "$want" >b
    local limit=0.06
    [ "$1" != full ] || limit=0.0003 # GELU by erf is off by 0.0005 there
    near "probabilities of $1/$2" $limit a b
}

part() { # part START SAMPLES > WAV: of the phrases
    tail -c +$((45 + 2 * $1)) "$SRC/tests/data/audio/zh_phrases.wav" | head -c $((2 * $2)) >"$T/part"
    wav <"$T/part"
    rm "$T/part"
}

# ---- -p: parts of equal length, each decoded by itself; the cases below hold their results
for p in 0 -1 1025 99999999999; do
    # shellcheck disable=SC2086
    expect 1 "-p $p is refused" $W -m m.bin -l zh -np -p $p long.wav
    err_has "-p $p: a sound is cut into 1 to 1024 parts"
    out_empty
done
cp "$DIGITS" in.wav
# shellcheck disable=SC2086
expect 0 "-p prints its cuts" $W -m m.bin -l zh -bs 1 -nf -ot 1000 -p 3 in.wav
err_has "in.wav: -p cut the sound into 3 parts at 00:00:03.070, 00:00:05.140; words near the cuts may be wrong or missing"
# shellcheck disable=SC2086
expect 0 "-np prints no cuts" $W -m m.bin -l zh -bs 1 -nf -np -p 3 in.wav
err_lines 0
# shellcheck disable=SC2086
expect 0 "-p 1 prints no cuts" $W -m m.bin -l zh -bs 1 -nf -p 1 in.wav
err_lacks "-p cut"
part 8000 3599 >in.wav
# shellcheck disable=SC2086
expect 0 "the number of parts that are too short is printed" $W -m m.bin -l zh -bs 1 -nf -nth 1 -p 2 in.wav
err_has "in.wav: 1 of 2 parts have no text: they have less than 0.12 s each"
part 8000 900 >in.wav
# shellcheck disable=SC2086
expect 0 "1024 parts are accepted" $W -m m.bin -l zh -bs 1 -nf -p 1024 in.wav
out_empty
err_has "in.wav: there is no text: less than 0.12 s"
err_has " and 1013 more times; words near"
rm in.wav
IN=long.wav
# shellcheck disable=SC2086
expect 0 "parts of a file are printed" $W -m m.bin -l zh -bs 1 -nf -np -p 3 long.wav -of - -osrt
cp "$T/out" want
# shellcheck disable=SC2086
expect 0 "parts of standard input are printed" $W -m m.bin -l zh -bs 1 -nf -np -p 3 - -of - -osrt
same "$T/out" want
IN=/dev/null
# shellcheck disable=SC2086
expect 0 "parts of two inputs are written" $W -m m.bin -l zh -bs 1 -nf -np -p 3 long.wav "$DIGITS" -of one -of two -otxt
# shellcheck disable=SC2086
expect 0 "parts of the second input alone are written" $W -m m.bin -l zh -bs 1 -nf -np -p 3 "$DIGITS" -of three -otxt
same two.txt three.txt
rm -f ./*.txt

# ---- steno's own windows: one after the other or together
alone=(-q -m m.bin -l zh --no-condition-on-previous-text --without-timestamps --audio-ctx 250 --sample-length 12 -f srt)
expect 0 "windows are decoded one after the other" "${alone[@]}" long.wav
ascends "the times of windows ascend" "$T/out"
cp "$T/out" want
expect 0 "windows are decoded together" "${alone[@]}" -b 8 long.wav
same "$T/out" want
rm want

# ---- an input with too few samples has a message, except with -np
brief="there is no text: less than 0.12 s"
for n in 1 40 41 360 1600 1799; do
    part 8000 $n >in.wav
    # shellcheck disable=SC2086
    expect 0 "$n samples have a message" $W -m m.bin -l zh in.wav
    out_empty
    err_has "in.wav: $brief"
    # shellcheck disable=SC2086
    expect 0 "$n samples have no message with -np" $W -m m.bin -l zh -np in.wav
    out_empty
    err_lines 0
done
part 8000 1800 >in.wav
# shellcheck disable=SC2086
expect 0 "1800 samples have no message" $W -m m.bin -l zh -nth 1 in.wav
err_lacks "$brief"
cp "$DIGITS" in.wav
# shellcheck disable=SC2086
expect 0 "a part of 0.1 s has a message" $W -m m.bin -l zh -ot 500 -d 100 in.wav
out_empty
err_has "in.wav: $brief"
rm in.wav

# ---- -ac above the model's context: the run ends as in whisper-cli, except when only the language is detected
cp "$DIGITS" in.wav
for ctx in 1501 2000 1048577 99999999999; do
    # shellcheck disable=SC2086
    expect 10 "a context of $ctx is refused" $W -m m.bin -l zh -bs 1 -ac $ctx -otxt in.wav
    err_has "-ac $ctx: the audio context of this model is 1500"
    out_empty
done
is "a refused context writes no file" "$(ls in.wav*)" in.wav
for ctx in 1500 -1 0; do
    # shellcheck disable=SC2086
    expect 0 "a context of $ctx is accepted" $W -m m.bin -l zh -bs 1 -ac $ctx in.wav
    out_has "六零七八。"
done
# shellcheck disable=SC2086
expect 0 "-dl detects the language with a refused context" $W -m m.bin -dl -ac 2000 in.wav
err_has "in.wav: language zh"
rm in.wav

# ---- a text that failed without a time keeps its end of text, which -ls and -ojf list: whisper-cli with times suppressed gives the second
# window tokens of 1, 0.96259, 0.672674, 1 and [_EOT_] of 1, a mean log-probability of -0.0869 (-0.1087 without [_EOT_])
rules=(--decoding whisper.cpp --gelu tanh --compute f32 --guards off --greedy --compression-ratio-threshold none --no-suppress-non-speech)
expect 0 "a run whose windows have no times is transcribed" \
    transcribe -q -m m.bin -l zh -f json "${rules[@]}" --temperature-increment-on-fallback 0 \
    --suppress-tokens "$(seq -s, 50365 51864)" long.wav
sed -n 's/.*"seek": 3000,[^{]*"avg_logprob": \([-0-9.e]*\).*/\1/p' "$T/out" >a
echo -0.0869 >b
near "the mean log-probability counts the end of text" 0.005 a b
rm a b

# ---- -ac: a window is as long as its audio context, so that no sound between windows is lost
# shellcheck disable=SC2086
expect 0 "a short context is accepted" $W -m m.bin -l zh -np -bs 1 -nf -ac 512 long.wav -of - -osrt
times "$T/out" | paste - - | awk '$1 - last > 10 { bad++ } { last = $2 } END { exit bad || last < 60 }' ||
    bad "no sound is lost between short windows" "$(cat "$T/out")"

while read -r name sound args; do
    [ -n "$name" ] && [ "$name" != "#" ] || continue
    case $sound in
    *+*) part "${sound%+*}" "${sound#*+}" >in.wav ;;
    *_8k.wav) [ "${STENO_FFMPEG-1}" = 1 ] || continue; cp "$SRC/tests/data/audio/$sound" in.wav ;; # 8000 Hz
    *.wav) cp "$SRC/tests/data/audio/$sound" in.wav ;;
    long) cp long.wav in.wav ;;
    stereo) stereo 56000 >in.wav ;;
    *) [ "${STENO_FFMPEG-1}" = 1 ] || continue; cp "$SRC/tests/data/audio/$sound" in.wav ;;
    esac
    [ "${args#*vad.bin}" = "$args" ] || [ -r vad.bin ] || continue
    # shellcheck disable=SC2086
    expect 0 "$name: $args" $W -m m.bin -t 1 -nfa -np --compute f32 $args in.wav
    for f in "$G/$name"/*; do agree "$name" "${f##*/}"; done
    rm -f in.wav a b
    for f in in.wav.*; do [ ! -e "$f" ] || [ -e "$G/$name/$f" ] || bad "$name writes no other file" "$f"; done
    rm -f in.wav.*
done <"$G/cases"
finish
