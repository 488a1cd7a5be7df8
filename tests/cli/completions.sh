# steno: completion by shells. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
    expect 0 "a script for $shell" completions $shell
    cp "$T/out" $shell.script
    for verb in $("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        grep -q -- "$verb" $shell.script || bad "$shell knows $verb" "it does not"
    done
    if command -v $shell >/dev/null; then
        $shell -n $shell.script 2>"$T/err" || bad "$shell reads it" "$(cat "$T/err")"
    else
        echo "skipped: $shell is not here to read it"
    fi
done
expect 2 "no shell" completions
expect 2 "a shell that is not known" completions tcsh
err_has 'unknown shell "tcsh"'

# complete WORD...: what bash offers for the last word
cat >complete.bash <<'EOF'
. ../bash.script
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_steno
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' '
EOF
mkdir here
touch here/a.wav "here/b c.wav"
cd here || exit
offers() {
    local claim=$1 want=$2
    shift 2
    is "$claim" "$(bash ../complete.bash "$@")" "$want"
}
offers "verbs" "compare completions convert " steno co
offers "options of the default verb" "--language-detection-segments --language-detection-threshold " steno --language-
offers "options of a verb" "--vad-chunk-ms " steno vad --vad-c
offers "words of a value" "bf16 " steno a.wav --compute b
offers "behind =" "int16 int8 " steno a.wav --compute = i
offers "of a short option" "json json_full jsonl " steno -f js
offers "the next of a list" "srt,vtt " steno a.wav -f srt,vt
offers "files" "a.wav b c.wav " steno info ""
offers "files behind an option that takes one" "a.wav " steno -m a
offers "yes and no" "--itn " steno --it
offers "and its other half" "--no-itn " steno --no-it
offers "words behind a verb" "zsh " steno completions z
offers "nothing where a number is wanted" " " steno --beam-size ""
if command -v fish >/dev/null; then
    fish_offers() { fish --no-config -c "source ../fish.script; complete -C '$1'" | cut -f1 | LC_ALL=C sort | tr '\n' ' '; }
    is "fish: verbs" "$(fish_offers "steno comp")" "compare completions "
    is "fish: words" "$(fish_offers "steno vad --vad-schedule l")" "live "
    is "fish: options" "$(fish_offers "steno --language-detection-s")" "--language-detection-segments "
fi
cd ..
finish
