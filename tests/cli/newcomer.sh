# steno: what newcomers type, and the command that steno prints in reply. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

answers() { # answers CODE MESSAGE ARGUMENT...: one line with the command to type, and no other output
    local code=$1 message=$2
    shift 2
    expect "$code" "steno $*" "$@"
    err_has "$message"
    err_lines 1
    out_empty
}
export HF_HUB_OFFLINE=1

echo "an action of models without its verb, or with another word"
answers 2 'unknown verb "pull"; did you mean "steno models pull base"?' pull base
answers 2 'did you mean "steno models pull base small"?' download base small
answers 2 'did you mean "steno models pull base"?' fetsh base
answers 2 'did you mean "steno models pull base"?' install base
answers 2 'did you mean "steno models pull --hub ms '"'a b'"'"?' pul --hub ms "a b"
answers 2 'did you mean "steno models list"?' list
answers 2 'did you mean "steno models where base"?' where base
answers 2 'did you mean "steno models pull"?' help pull
answers 2 'models: unknown action "pul"; did you mean "steno models pull base"?' models pul base
answers 2 'did you mean "steno models pull base --force"?' models download base --force
answers 2 'did you mean "steno models list"?' models ls
answers 2 'did you mean "steno models where base"?' models whre base
answers 2 'models: unknown action "xyzzy"; actions are list, search, pull, rm, where and verify' models xyzzy
answers 2 "models needs an action: list, search, pull, rm, where or verify" models
long=$(printf 'x%.0s' $(seq 1000))
expect 2 "a suggested command that is too long is cut" pull "$long"
err_has 'did you mean "steno models pull xxx'
answers 2 'did you mean models?' mdoels list
cp "$DIGITS" pull
expect 0 "a file with the name of a verb is transcribed" -q -m "$MODEL" pull
for word in pull get; do
    cp "$DIGITS" $word
    expect 3 "a file named $word is an input without a verb" $word
done
rm pull get

answers 2 'did you mean stream?' live
answers 2 'did you mean "steno stream --mic"?' mic
answers 2 'unknown option --list; "steno transcribe --help" lists them' --list

echo "paths of models from whisper.cpp's scripts"
for path in models/ggml-base.en.bin ./models/ggml-base.en.bin /none/ggml-base.en.bin ggml-base.en.bin; do
    answers 3 "model $path: no such file; \"steno models pull base.en\" gets such a model, and -m base.en takes it" -m $path "$DIGITS"
done
answers 3 '"steno models pull silero-v6" gets such a model' vad -m ggml-silero-v6.2.0.bin "$DIGITS"
answers 3 "no model of that name in the caches" -m models/other.bin "$DIGITS"
expect 6 "a missing folder for links is reported" install-dialects "$HOME/no bin"
err_has "make it first: mkdir -p"
mkdir "$HOME/bin"
expect 0 "a folder for links that is not in PATH is reported" install-dialects "$HOME/bin" whisper
err_has "export PATH=\"$HOME/bin:\$PATH\""

echo "a file in place of a folder"
answers 2 '"-f srt -o ." writes NAME.srt here, "-f srt > talk.srt" one file' -m "$MODEL" "$DIGITS" -o talk.srt
answers 2 '"-f txt > out/talk.txt" one file' -m "$MODEL" "$DIGITS" -f srt -o out/talk.txt
[ ! -e out ] && [ ! -e talk.srt ] || bad "a file in place of a folder is not made" "$(ls)"
mkdir notes.txt
for dir in notes.txt v1.2 .srt; do
    expect 0 "$dir is accepted as a folder" -q -m "$MODEL" "$DIGITS" -o $dir
    [ -s $dir/zh_phrases.txt ] || bad "$dir has the text" "$(ls -a $dir)"
done

echo "models that are missing, and the command that fetches each"
answers 2 '"steno models pull fsmn-vad" gets it' -q -m "$MODEL" --vad fsmn "$DIGITS"
answers 2 '"steno models pull silero" gets it' -q -m "$MODEL" --vad silero "$DIGITS"
answers 2 '"steno models pull silero" gets it' stream -q -m "$MODEL" --vad silero "$DIGITS"
answers 2 '"steno models pull silero" gets one' vad "$DIGITS"
answers 2 "srt, vtt, ass and wts: add -f srt" "$DIGITS" --style bbc
IN=$MODEL expect 4 "samples without --raw are refused" stream -q -m "$MODEL"
err_has "need --raw s16le"
if command -v script >/dev/null; then
    script -qec "$STENO stream -m $MODEL" /dev/null </dev/null >"$T/out" 2>"$T/err"
    is "stream refuses a terminal as standard input" "$?" 2
    out_has "standard input is the terminal: give a file, --mic for a microphone"
fi

echo "lists"
mkdir many
cp "$DIGITS" many/a.wav
cp "$DIGITS" "many/b.wav "
printf 'many/a.wav  \t\r\nmany/b.wav \n  \n' >list.txt
expect 0 "blanks at the end of a line are ignored" -q -m "$MODEL" @list.txt
is "both files of the list are transcribed" "$(wc -l <"$T/out")" 6
printf 'many/a.wav\nmany/none.wav\n' >list.txt
expect 1 "one of two files fails" -q -m "$MODEL" @list.txt -o night --resume
expect 1 "--resume skips the finished file, and the other fails again" -q -m "$MODEL" @list.txt -o night --resume
expect 4 "--resume of one file that fails exits 4" -q -m "$MODEL" many/none.wav -o night2 --resume

echo "no model"
answers 0 'no model is on this machine; "steno models pull base" gets one (148 MB), "steno models list --all" shows' models list
answers 0 'no model is on this machine' models list --json
expect 0 "models list -q of no model prints nothing" models list -q
err_lines 0
out_empty
expect 0 "models list --all lists all models" models list --all
out_has "base "
err_lines 1
grep -q " MB " "$T/out" && ! grep -v " MB " "$T/out" >"$T/without" || bad "each model of the list has a size" "$(cat "$T/without")"
answers 3 "model base: is not on this machine; this gets it (148.0 MB): steno models pull base" models where base
answers 3 "model some/model: is not on this machine; this gets it: steno models pull some/model" models where some/model
answers 3 "this gets it (about 134 MB): steno models pull bge-small" search -m bge-small what /dev/null
answers 3 "did you mean base?" models where baes
answers 3 '"steno models list --all" lists all names' models where xyzzy
answers 3 '"steno models list --all" lists all names' models where ./xyzzy
for verb in "" translate align detect stream "vad -m base"; do
    text=
    [ "$verb" != align ] || text=text
    # shellcheck disable=SC2086
    expect 3 "${verb:-transcribe} reports a missing model and a missing file" $verb talk.mp3 $text
    err_has "steno models pull base"
    err_has "steno: talk.mp3: no such file"
    err_lines 2
done
expect 3 "a file that exists is not reported beside a missing model" -m base "$DIGITS"
err_lines 1
expect 3 "three of many missing files are named" -m base 1.wav 2.wav 3.wav "$DIGITS" 4.wav - https://example.org/a.wav 5.wav
err_has "3.wav: no such file"
err_lacks "4.wav"
err_has "and 2 more inputs do not exist"
err_lines 5
echo "names of models in the examples of help"
n=0
for verb in $("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    for name in $("$STENO" "$verb" --help | grep -oP '^  steno .*-m \K[^ ]+(?= |$)' | grep -v '\.bin$'); do
        n=$((n + 1))
        "$STENO" models where "$name" >/dev/null 2>"$T/err"
        err_has "this gets it"
    done
done
[ $n -gt 30 ] || bad "more than 30 examples are read" "$n"
mkdir -p "$HOME/.cache/steno"
cp "$MODEL" "$HOME/.cache/steno/ggml-base.bin"
expect 0 "a list of one model has no advice" models list
err_lines 0
out_has "ggml-base.bin"
expect 0 "models where prints the path of a model" models where base
is "models where prints the path alone" "$(cat "$T/out")" "$HOME/.cache/steno/ggml-base.bin"
expect 4 "a missing file alone is reported when the model exists" -q talk.mp3
err_has "talk.mp3: "
err_lines 1
finish
