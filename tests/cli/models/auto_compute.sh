# steno: what --compute auto takes by figures of this machine. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
export STENO_MODEL=$MODEL
figures=$HOME/.cache/steno/speed.tsv
mkdir -p "$HOME/.cache/steno"
expect 0 "doctor names this machine" doctor
fact() { sed -n "s/^$1: //p" "$T/out"; }
level=$(fact "level used"); level=${level%% *}
key="steno $(fact steno), $(fact processor), $level, auto and bf16"
own=$(fact "compute used"); own=${own%% *} # int16 or f32
out_has "compute measured: not on this machine with this version"
[ ! -e "$figures" ] || bad "doctor measures when it is asked" "$(cat "$figures")"
faked() { printf '%s\t%s\t%s\t%s\n' "${KEY-$key}" "$1" "$2" 2 >"$figures"; }
# arithmetic CLAIM EXPECTED ARGUMENT...: that of a run that prints the model
arithmetic() {
    local claim=$1 want=$2
    shift 2
    expect 0 "$claim" "$@"
    is "$claim" "$(sed -n 's/.*, compute \([a-z0-9]*\) on .*/\1/p' "$T/err")" "$want"
}

echo "the margin"
faked 141 100
arithmetic "more than 1.4 times as long: bf16" bf16 -v "$DIGITS"
err_has "note: --compute auto is bf16 here, by the figures that \"steno doctor\" prints"
cp "$T/out" by_figures
arithmetic "its text is that of --compute bf16" bf16 -v --compute bf16 "$DIGITS"
err_lacks "--compute auto is bf16"
same by_figures "$T/out"
arithmetic "on any number of threads" bf16 -v -t 1 "$DIGITS"
same by_figures "$T/out"
arithmetic "an arithmetic that is typed counts" f32 -v --compute f32 "$DIGITS"
err_lacks "--compute auto is bf16"
expect 0 "with -q there is no note" -q "$DIGITS"
err_lines 0
for verb in translate detect stream; do
    expect 0 "$verb takes bf16" $verb "$DIGITS"
    err_has "note: --compute auto is bf16 here"
done
expect 0 "align takes bf16" align -l zh "$DIGITS" "一"
err_has "note: --compute auto is bf16 here"
expect 0 "info prints bf16" info
out_has "compute: bf16"
expect 0 "doctor prints the choice and its price" doctor
out_has "compute used: bf16 (products of encoders: $own takes 1.41 times as long on this machine, more than 1.40"
out_has "; changes 5 of the 328 texts of the project's collection, --compute $own 0"
out_has "compute measured: the encoder of base takes 141 ms for a window in $own and 100 in bf16 with 2 threads: 1.41 times as long"
for ms in 140 139 100 50; do
    faked $ms 100
    arithmetic "$ms beside 100 ms: $own" "$own" -v "$DIGITS"
    err_lacks "--compute auto is bf16"
done

echo "who does not follow it"
faked 300 100
printf '{"id": "a", "input": "%s"}\n' "$DIGITS" >manifest.jsonl
expect 0 "batch does not: its machines must agree" batch -i manifest.jsonl -o out.jsonl
err_lacks "--compute auto is bf16"
expect 0 "bench does not: its figures are those of the level" bench -m "$MODEL" --runs 1
out_has ", compute $own"
expect 0 "other programs' command lines do not" --compat whisper-cli -m "$MODEL" -f "$DIGITS"
err_lacks "--compute auto is bf16"
if [ "$level" != c ]; then
    arithmetic "nor does another level" f32 -v --cpu c "$DIGITS"
    err_lacks "--compute auto is bf16"
fi

echo "figures that do not count"
for KEY in "steno 0.0.9${key#steno "$(fact steno)"}" "${key/, $level,/ II, $level,}" "${key%, auto and bf16}" "$key and more"; do
    [ "$KEY" != "$key" ] || bad "the key differs" "$KEY"
    faked 300 100
    arithmetic "figures of \"$KEY\"" "$own" -v "$DIGITS"
done
unset KEY
for end in '' '\t300' '\t300\tx\t2' '\t300\t0\t2' '\t300\t100\t2\t1' '\tnan\t100\t2' '\0\377'; do
    printf "%s$end\n" "$key" >"$figures"
    arithmetic "a damaged line" "$own" -v "$DIGITS"
done

echo "measuring"
printf 'steno 0.0.1, another\t1\t2\n' >"$figures"
STENO_MODEL=$MODEL "$STENO" doctor --measure >"$T/out" 2>"$T/err"
code=$?
cp "$T/out" measured
if grep -q "^problem: --measure: other programs use the processor" measured; then
    echo "(not tried: figures that are kept; other programs use this processor)"
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
expect 2 "doctor --measure takes no model" doctor --measure "$MODEL"
err_has "--measure is about this machine"
if [ "$(id -u)" != 0 ]; then
    chmod a-w "$HOME/.cache/steno"
    expect 1 "figures that cannot be kept are a problem" doctor --measure
    chmod u+w "$HOME/.cache/steno"
    out_has "problem: --measure: "
fi
rm -r "$HOME/.cache/steno"
echo >"$HOME/.cache/steno" # no folder
expect 1 "nor in a folder that is none" doctor --measure
out_has "problem: --measure: "
finish
