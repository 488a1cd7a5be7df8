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
offers "options of the default verb" \
    "--language-detection-segments --language-detection-threshold --language-per-segment " steno --language-
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
offers "names of models" "base.en base.en-q5_1 base.en-q8_0 " steno a.wav -m base.e
offers "names of models to fetch" "silero-v5 silero-v6 " steno models pull sil
offers "an action stands behind its verb alone" " " steno models pull whe
offers "verbs behind help" "stream " steno help str
if command -v fish >/dev/null; then
    fish_offers() { fish --no-config -c "source ../fish.script; complete -C '$1'" | cut -f1 | LC_ALL=C sort | tr '\n' ' '; }
    is "fish: verbs" "$(fish_offers "steno comp")" "compare completions "
    is "fish: words" "$(fish_offers "steno vad --vad-schedule l")" "live "
    is "fish: options" "$(fish_offers "steno --language-detection-s")" "--language-detection-segments "
    is "fish: actions" "$(fish_offers "steno models ")" "list pull rm search verify where "
    is "fish: names of models" "$(fish_offers "steno vad -m sil")" "silero-v5 silero-v6 "
    is "fish: names of models to fetch" "$(fish_offers "steno models pull sil")" "silero-v5 silero-v6 "
    is "fish: the next of a list" "$(fish_offers "steno a.wav -f srt,vt")" "srt,vtt "
    is "fish: verbs behind help" "$(fish_offers "steno help str")" "stream "
fi
# At a terminal of its own, for zsh completes nowhere else: what is typed, and what has to be shown for it.
cat >../terminal.zsh <<'EOF'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=(../zsh $fpath); autoload -Uz compinit; compinit -u -D; print REA""DY'
shown= ; repeat 200; do zpty -r -t shell part && shown+=$part; [[ $shown == *READY* ]] && break; sleep 0.1; done
while read -r typed; do
    read -r wanted
    zpty -w -n shell "${typed%|}"$'\t\t'
    shown= ; repeat 200; do zpty -r -t shell part && shown+=$part; [[ $shown == *$wanted* ]] && break; sleep 0.1; done
    [[ $shown == *$wanted* && $shown != *"bad option"* ]] || print -r -- "$typed: no $wanted in ${(V)shown}"
    zpty -w -n shell $'\x15'
done
zpty -d shell
EOF
if command -v zsh >/dev/null; then
    mkdir ../zsh
    cp ../zsh.script ../zsh/_steno
    cat >../typed <<'EOF'
steno comp|
completions
steno vad --vad-schedule |
live
steno a.wav --compute |
int16
steno models |
verify
steno completions |
fish
steno a.wav -m sil|
silero-v6
steno models pull qwen3-0|
qwen3-0.6b-q8_0
steno help str|
stream
EOF
    none "zsh: what it shows" "$(zsh -f ../terminal.zsh <../typed 2>&1)"
fi
cd ..
finish
