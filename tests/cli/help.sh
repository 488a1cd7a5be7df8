# steno: help and version. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 2 "a command line without arguments prints one screen of help on standard error"
err_has "Usage: steno"
out_empty
cp "$T/err" help
expect 0 "--help prints the help on standard output" --help
same "$T/out" help
err_lines 0
[ "$(wc -l <"$T/out")" -le 48 ] || bad "help fits a screen" "$(wc -l <"$T/out") lines"
awk 'length > 80 { bad = 1 } END { exit bad }' "$T/out" || bad "help fits 80 columns" "$(awk 'length > 80' "$T/out")"
for word in help -h; do
    expect 0 "$word prints the help" $word
    same "$T/out" help
done

for verb in $(sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p' help); do
    grep -qE "^  $verb +[a-z]" help || bad "the help lists $verb" "it does not"
    expect 0 "help $verb prints the verb's options" help "$verb"
    cp "$T/out" verb
    for word in --help -h; do
        expect 0 "$word $verb prints the verb's options" $word "$verb"
        same "$T/out" verb
        expect 0 "$verb $word prints the verb's options" "$verb" $word
        same "$T/out" verb
    done
    out_has "Usage: steno $verb"
    out_has "--help"
    err_lines 0
    "$STENO" $verb --help-all >>"$T/out"
    awk 'length > 80 { bad = 1 } END { exit bad }' "$T/out" || bad "$verb --help fits 80 columns" "$(awk 'length > 80' "$T/out")"
done
expect 0 "help shows defaults" transcribe --help-all
out_has "(default: 0.6)"
[ "$(grep -cE '^ +(-., )?--' "$T/out")" -gt 90 ] || bad "--help-all lists all options" "$(grep -cE '^ +(-., )?--' "$T/out")"
expect 0 "--help lists the options that are often used" transcribe --help
grep -q -- "--no-speech-threshold" "$T/out" && bad "--help leaves rare options out" "one is there"
out_has "--help-all"
[ "$(grep -cE '^ +(-., )?--' "$T/out")" -lt 50 ] || bad "--help lists fewer options than --help-all" "$(grep -cE '^ +(-., )?--' "$T/out")"

# Examples are commands that the program accepts: only files and models are missing.
verbs=$("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
mkdir examples
export HF_HUB_OFFLINE=1
for verb in $verbs; do
    "$STENO" $verb --help | sed -n '/^Examples:/,/^$/s/^  \([a-z].*\)/\1/p' >list
    is "$verb has three examples" "$(wc -l <list)" 3
    while read -r line; do
        [[ $verb != bench && $verb != serve ]] || continue # they run for minutes, and until a signal
        (
            cd examples || exit
            steno() { "$STENO" "$@"; }
            ffmpeg() { :; }
            eval "$line"
        ) >"$T/out" 2>"$T/err" </dev/null
        [ $? -ne 2 ] || bad "$line" "$(cat "$T/err")"
    done <list
done
expect 0 "-h behind other options prints help" a.wav -l en -h
out_has "Usage: steno transcribe"

expect 0 "--version prints name and version" --version
cp "$T/out" version
for word in version -V; do
    expect 0 "$word prints name and version" $word
    same "$T/out" version
done
grep -qE '^steno [0-9]+\.[0-9]+\.[0-9]+$' "$T/out" || bad "the version is a version" "$(cat "$T/out")"

expect 2 "help about a verb that does not exist names the nearest" help transcrib
err_has "unknown verb \"transcrib\"; did you mean transcribe?"
expect 2 "help about an unlike verb names it" help xyzzy
err_has "unknown verb \"xyzzy\""
expect 2 "help about two verbs is refused" help align detect
expect 2 "version with an operand is refused" version x
mkdir here
cp "$DIGITS" here/help
cd here && expect 0 "a file may have the name of a verb" -q -m "$MODEL" ./help
cd ..

"$STENO" --help >&- 2>"$T/err"
is "help that cannot be written exits 6" $? 6
"$STENO" --version >/dev/full 2>"$T/err"
is "a version that cannot be written exits 6" $? 6
finish
