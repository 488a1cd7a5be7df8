# steno: every verb with a model of every family: it is served, or refused in words. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

M=${STENO_SHARED:-/none}/material
declare -A at=(
    [whisper]=$MODEL
    [sensevoice]=$SRC/tests/data/gguf/sensevoice.gguf
    [paraformer]=$SRC/tests/data/contextual
    [vad]=$SRC/tests/data/gguf/vad.gguf
    [marks]=$SRC/tests/data/punctuation_streaming
    [lm]=$SRC/tests/data/lm/qwen3-q4_0.gguf
    [nano]=$M/funasr/models/nano/pt
    [bert]=$M/llm/models/bert/hf
)

# A row is a verb, what it is asked with %m for the model, and the families that it serves; the others are refused with exit code 2, and the
# line names the model's kind.
rows="
transcribe  -q -m %m %s                  whisper sensevoice paraformer nano
translate   -q -m %m %s                  whisper
align       -m %m -l en %s one           whisper
detect      -m %m %s                     whisper
vad         -m %m %s                     vad
tokenize    -m %m b                      whisper sensevoice lm bert nano
punctuate   -m %m text.txt               marks
generate    -m %m -n 3 one               lm
chat        -m %m -n 3                   lm
embed       -m %m one                    lm bert
search      -m %m one text.txt           lm bert
info        -m %m                        whisper sensevoice paraformer nano vad marks lm bert
doctor      %m                           whisper sensevoice paraformer nano vad marks lm bert
bench       --runs 1 -m %m               whisper sensevoice paraformer nano vad marks lm bert
"

echo 'one two' >text.txt
kind_of() { # the family's name, as messages have it
    "$STENO" info -m "$1" 2>/dev/null | sed -n 's/^family: //p'
}
for family in "${!at[@]}"; do
    [ -e "${at[$family]}" ] || { echo "(not tried: $family; the collection is not here)"; continue; }
    kind=$(kind_of "${at[$family]}")
    [ -n "$kind" ] || bad "info names the family of ${at[$family]}" "it does not"
    while read -r verb asked; do
        [ -n "$verb" ] || continue
        served=" ${asked##*  } "
        words=${asked%%  *}
        words=${words//%s/$DIGITS}
        words=${words//%m/${at[$family]}}
        if [ "${served/ $family /}" != "$served" ]; then
            IN=text.txt expect 0 "$verb serves $family" $verb $words
            err_lacks "does not serve"
        else
            IN=text.txt expect 2 "$verb refuses $family" $verb $words
            err_has "$kind"
            err_lines 1
            out_empty
        fi
    done <<<"$rows"
done
finish
