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
    t 0 "f32 gives a text, $search" --compute f32 $search long.wav
    cp "$T/out" f32
    for compute in int8 int16 bf16; do
        t 0 "$compute with every window verified gives the same bytes, $search" --compute $compute --verify --verify-margin 1e9 $search \
            long.wav
        same "$T/out" f32
    done
    t 0 "windows that are verified together give the same bytes, $search" --compute int8 --verify --verify-margin 1e9 -b 3 $search long.wav
    same "$T/out" f32
done
t 0 "--verify has a default margin, and --print-timings counts its windows" --verify --print-timings long.wav
grep -q "time verify " "$T/err" || bad "timings name verify" "they do not"
t 0 "a margin of 0 is accepted" --compute int8 --verify --verify-margin 0 long.wav
cp "$T/out" none
t 0 "a margin of 0 gives the text of int8 alone" --compute int8 long.wav
same "$T/out" none

t 2 "--verify is refused for f32" --compute f32 --verify long.wav
err_has "--compute f32"
t 2 "--verify-margin is refused without --verify" --verify-margin 0.2 long.wav
err_has "needs --verify"
t 2 "a margin below 0 is refused" --verify --verify-margin -1 long.wav
t 2 "a margin that is no number is refused" --verify --verify-margin often long.wav
finish
