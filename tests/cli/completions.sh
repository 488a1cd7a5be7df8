# steno: completion by shells. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
    expect 0 "completions prints a script for $shell" completions $shell
    cp "$T/out" $shell.script
    for verb in $("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        grep -q -- "$verb" $shell.script || bad "$shell's script has $verb" "it does not"
    done
    if command -v $shell >/dev/null; then
        $shell -n $shell.script 2>"$T/err" || bad "$shell accepts the script" "$(cat "$T/err")"
    else
        echo "skipped: $shell is not here to read it"
    fi
done
expect 2 "completions needs a shell" completions
expect 2 "an unknown shell is refused" completions tcsh
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
offers "bash completes verbs" "compare completions convert " steno co
offers "bash completes options of the default verb" \
    "--language-detection-segments --language-detection-threshold --language-per-segment " steno --language-
offers "bash completes options of a verb" "--vad-chunk-ms " steno vad --vad-c
offers "bash completes words of a value" "bf16 " steno a.wav --compute b
offers "bash completes a value behind =" "int16 int8 " steno a.wav --compute = i
offers "bash completes a value of a short option" "json json_full jsonl " steno -f js
offers "bash completes the next word of a list" "srt,vtt " steno a.wav -f srt,vt
offers "bash completes files" "a.wav b c.wav " steno info ""
offers "bash completes files behind an option that takes one" "a.wav " steno -m a
offers "bash completes an option that has an opposite" "--itn " steno --it
offers "bash completes the opposite of an option" "--no-itn " steno --no-it
offers "bash completes words behind a verb" "zsh " steno completions z
offers "bash completes nothing where a number is needed" " " steno --beam-size ""
offers "bash completes names of models" "base.en base.en-q5_1 base.en-q8_0 " steno a.wav -m base.e
offers "bash completes names of models to fetch" "silero-v5 silero-v6 " steno models pull sil
offers "bash completes an action behind its verb alone" " " steno models pull whe
offers "bash completes verbs behind help" "stream " steno help str
if command -v fish >/dev/null; then
    fish_offers() { fish --no-config -c "source ../fish.script; complete -C '$1'" | cut -f1 | LC_ALL=C sort | tr '\n' ' '; }
    is "fish completes verbs" "$(fish_offers "steno comp")" "compare completions "
    is "fish completes words of a value" "$(fish_offers "steno vad --vad-schedule l")" "live "
    is "fish completes options" "$(fish_offers "steno --language-detection-s")" "--language-detection-segments "
    is "fish completes actions" "$(fish_offers "steno models ")" "list pull rm search verify where "
    is "fish completes names of models" "$(fish_offers "steno vad -m sil")" "silero-v5 silero-v6 "
    is "fish completes names of models to fetch" "$(fish_offers "steno models pull sil")" "silero-v5 silero-v6 "
    is "fish completes the next word of a list" "$(fish_offers "steno a.wav -f srt,vt")" "srt,vtt "
    is "fish completes verbs behind help" "$(fish_offers "steno help str")" "stream "
fi
# At a terminal of its own, for zsh completes nowhere else: pairs of lines, the typed words and a word that zsh has to show.
cat >../terminal.zsh <<'EOF'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=(../zsh $fpath); autoload -Uz compinit; compinit -u -D; print REA""DY'
shown= ; repeat 200; do zpty -r -t shell part && shown+=$part; [[ $shown == *READY* ]] && break; sleep 0.1; done
while read -r typed; do
    read -r word
    zpty -w -n shell "${typed%|}"$'\t\t'
    shown= ; repeat 200; do zpty -r -t shell part && shown+=$part; [[ $shown == *$word* ]] && break; sleep 0.1; done
    [[ $shown == *$word* && $shown != *"bad option"* ]] || print -r -- "$typed: no $word in ${(V)shown}"
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
    none "zsh completes each typed line" "$(zsh -f ../terminal.zsh <../typed 2>&1)"
fi
cd ..
finish
