# steno: near-ties decided in f32. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh -f json "$@"
}

tail -c +45 "$DIGITS" >pcm
{ cat pcm; head -c 800000 /dev/zero; cat pcm; } >part && wav <part >long.wav # 39 s
for search in "" "--beam-size 3" "--word-timestamps"; do
    t 0 "f32 $search" --compute f32 $search long.wav
    cp "$T/out" f32
    for compute in int8 int16 bf16; do
        t 0 "$compute, every window verified $search: the same bytes" --compute $compute --verify --verify-margin 1e9 $search long.wav
        same "$T/out" f32
    done
    t 0 "the same together" --compute int8 --verify --verify-margin 1e9 -b 3 $search long.wav
    same "$T/out" f32
done
t 0 "--verify by itself, and how many windows it took" --verify --print-timings long.wav
grep -q "time verify " "$T/err" || bad "timings name verify" "they do not"
t 0 "no window" --compute int8 --verify --verify-margin 0 long.wav
cp "$T/out" none
t 0 "is int8 alone" --compute int8 long.wav
same "$T/out" none

t 2 "--verify beside f32 does nothing" --compute f32 --verify long.wav
err_has "--compute f32"
t 2 "--verify-margin alone does nothing" --verify-margin 0.2 long.wav
err_has "needs --verify"
t 2 "a margin below 0" --verify --verify-margin -1 long.wav
t 2 "no number" --verify --verify-margin often long.wav
finish
