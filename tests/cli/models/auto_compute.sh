# steno: what --compute auto takes by figures of this machine. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
export STENO_MODEL=$MODEL
figures=$HOME/.cache/steno/speed.tsv
note="note: --compute auto is bf16 here, by the figures that \"steno doctor\" prints"
mkdir -p "$HOME/.cache/steno"
head -c 60044 "$DIGITS" >short.wav # 1.9 s
DIGITS=$PWD/short.wav
expect 0 "doctor names this machine" doctor
fact() { sed -n "s/^$1: //p" "$T/out"; }
level=$(fact "level used"); level=${level%% *}
threads=$(fact threads); threads=${threads%% *}
version=$(fact steno)
machine="steno $version, $(fact processor), $level"
key="$machine, auto and bf16"
own=$(fact "compute used"); own=${own%% *} # int16 or f32
out_has "compute measured: not on this machine with this version"
[ ! -e "$figures" ] || bad "doctor measures when it is asked" "$(cat "$figures")"
faked() { printf '%s\t%s\t%s\t%s\n' "${KEY-$key}" "$1" "$2" 2 >"$figures"; }
# chosen CLAIM EXPECTED OPTION...: the arithmetic that info prints for the model
chosen() {
    local claim=$1 want=$2
    shift 2
    expect 0 "$claim" info "$@"
    is "$claim" "$(fact compute)" "$want"
    if [ "$want" = bf16 ] && [ $# -eq 0 ]; then err_has "$note"; else err_lacks "--compute auto is bf16"; fi
}

echo "the margin"
for ms in 141 140 139 100 50; do
    faked $ms 100
    [ $ms = 141 ] && want=bf16 || want=$own
    chosen "$ms beside 100 ms: $want" "$want"
done
faked 141 100
expect 0 "more than 1.4 times as long: bf16" -v "$DIGITS"
err_has ", compute bf16 on "
err_has "$note"
cp "$T/out" by_figures
expect 0 "its text is that of --compute bf16" -t 1 --compute bf16 "$DIGITS"
err_lacks "--compute auto is bf16"
same by_figures "$T/out"
chosen "an arithmetic that is typed counts" f32 --compute f32
chosen "on any number of threads" bf16 -t 1 -q
err_lines 0
for verb in translate detect stream "align -l zh"; do
    set -- $verb "$DIGITS"
    [ "$1" != align ] || set -- "$@" "一"
    expect 0 "$1 takes bf16" "$@"
    err_has "$note"
done
expect 0 "doctor prints the choice and its price" doctor
out_has "compute used: bf16 (products of encoders: $own takes 1.41 times as long on this machine, more than 1.40"
out_has "; changes 5 of the 328 texts of the project's collection, --compute $own 0"
out_has "compute measured: the encoder of base takes 141 ms for a window in $own and 100 in bf16 with 2 threads: 1.41 times as long"

echo "who does not follow it"
faked 300 100
printf '{"id": "a", "input": "%s"}\n' "$DIGITS" >manifest.jsonl
expect 0 "batch does not: its machines must agree" batch -i manifest.jsonl -o out.jsonl
err_lacks "--compute auto is bf16"
expect 0 "bench does not: its figures are those of the level" bench -m "$MODEL" --runs 1
out_has ", compute $own"
expect 0 "other programs' command lines do not" --compat whisper-cli -m "$MODEL" -f "$DIGITS"
err_lacks "--compute auto is bf16"
[ "$level" = c ] || chosen "nor does another level" f32 --cpu c

echo "models without the choice open as before"
D=$SRC/tests/data
for model in "$D/gguf/vad.gguf" "$D/punctuation_words" "$D/punctuation_streaming" "$D/lm/qwen3-q4_0.gguf"; do
    expect 0 "${model#"$D/"} opens" info "$model"
    is "${model#"$D/"} is in f32" "$(fact compute)" f32
    err_lines 0
done
expect 0 "a VAD beside a model that follows" -l zh --vad fsmn --vad-model "$D/gguf/vad.gguf" "$DIGITS"
err_has "$note"
expect 0 "the verb vad" vad -m "$D/gguf/vad.gguf" "$DIGITS"
BERT=${STENO_SHARED:-/none}/material/llm/models/bert/hf
if [ -d "$BERT" ]; then
    expect 0 "a model of vectors has the choice" info "$BERT"
    is "but does not transcribe" "$(fact compute)" "$own"
    err_lines 0
fi
F=${STENO_SHARED:-/none}/material/funasr
if [ -d "$F" ]; then
    mkdir online
    for f in config.yaml am.mvn tokens.json; do ln -s "$F/models/paraformer-online/pt/$f" online/; done
    ln -s "$F/models/paraformer/pt/model.pt" online/
    expect 0 "a model that reads chunks opens" info -m online
    is "in f32" "$(fact compute)" f32
    expect 0 "and transcribes" -m online "$DIGITS"
    err_lacks "bf16"
    expect 0 "and streams" stream -m online "$DIGITS"
    err_lacks "bf16"
    expect 2 "an arithmetic that is typed is refused" info -m online --compute bf16
    err_has "--compute"
fi

echo "the choice of a model does not follow it either"
for n in base tiny; do cp "$MODEL" "$HOME/.cache/steno/ggml-$n.bin"; done
unset STENO_MODEL
{ printf '%s, %s threads, compute %s\t%s\t%s\n' "$machine" "$threads" 0 500 20 "$machine" "$threads" 2 0.02 0.02
  printf '%s\t300\t100\t2\n' "$key"; } >"$figures"
cp "$figures" before
expect 0 "without -m" info
is "the speed of auto counts" "$(fact file)" "$HOME/.cache/steno/ggml-base.bin"
is "the model follows the figures" "$(fact compute)" bf16
expect 0 "doctor" doctor
out_has "default model: $HOME/.cache/steno/ggml-base.bin ("
same before "$figures" # nothing was measured
rm "$HOME"/.cache/steno/*.bin
export STENO_MODEL=$MODEL

echo "figures that do not count"
for KEY in "steno 0.0.9${key#steno "$version"}" "${key/, $level,/ II, $level,}" "${key%, auto and bf16}" "$key and more"; do
    [ "$KEY" != "$key" ] || bad "the key differs" "$KEY"
    faked 300 100
    chosen "figures of \"$KEY\"" "$own"
done
unset KEY
for end in '' '\t300' '\t300\tx\t2' '\t300\t0\t2' '\t300\t100\t2\t1' '\tnan\t100\t2' '\0\377'; do
    printf "%s$end\n" "$key" >"$figures"
    chosen "a damaged line" "$own"
done

echo "measuring"
expect 2 "doctor --measure takes no model" doctor --measure "$MODEL"
err_has "--measure is about this machine"
printf 'steno 0.0.1, another\t1\t2\n' >"$figures"
if in_full; then # half a minute on a busy machine; unit.tool_figures measures less
    STENO_MODEL=$MODEL "$STENO" doctor --measure >"$T/out" 2>"$T/err"
    code=$?
    cp "$T/out" measured
    if grep -q "^problem: --measure: other programs use the processor" measured; then
        is "figures of a busy machine are a problem" $code 1
        is "and are not kept" "$(cat "$figures")" "$(printf 'steno 0.0.1, another\t1\t2')"
    else
        is "doctor --measure measures and keeps" $code 0
        out_has "compute measured: the encoder of base takes "
        is "lines of others stay" "$(head -1 "$figures")" "$(printf 'steno 0.0.1, another\t1\t2')"
        is "its own is beside them" "$(cut -f 1 "$figures" | tail -1)" "$key"
        cp "$figures" kept
        expect 0 "doctor prints what was kept" doctor
        is "the same figures" "$(fact "compute measured")" "$(sed -n 's/^compute measured: //p' measured)"
        is "and the same choice" "$(fact "compute used")" "$(sed -n 's/^compute used: //p' measured)"
        same kept "$figures"
    fi
fi
rm -r "$HOME/.cache/steno"
echo >"$HOME/.cache/steno" # no folder
expect 1 "figures that cannot be kept are a problem" doctor --measure
out_has "problem: --measure: "
finish
