# steno: a signal at any call that makes a file leaves no incomplete file. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

sanitized && { echo "skipped: a sanitizer has to be loaded first"; exit 77; }
[ -r "${STENO_SIGNAL_AT:-}" ] || { echo "skipped: no signal_at was built"; exit 77; }

# at NTH ARGUMENT...: run with a signal at that call
at() {
    local nth=$1
    shift
    LD_PRELOAD=$STENO_SIGNAL_AT SIGNAL_AT=$nth env --default-signal=INT,TERM,HUP "$STENO" "$@" >"$T/out" 2>"$T/err"
}

# every CLAIM WHOLE OUT ARGUMENT...: a signal at each call in turn, until there are no more; OUT equals WHOLE then, or is absent
every() {
    local claim=$1 whole=$2 out=$3 nth code=143 ended=0
    shift 3
    echo "$claim"
    for ((nth = 1; nth < 300 && code == 143; nth++)); do
        rm -rf "$out"
        at $nth "$@"
        code=$?
        [ $code = 143 ] || break
        ended=$((ended + 1))
        [ ! -e "$out" ] || diff -r "$whole" "$out" >/dev/null || bad "$claim: at call $nth the output is whole or absent" "$(find "$out")"
        none "$claim: at call $nth no temporary file is left" "$(find . -name '.steno-*')"
    done
    is "$claim: the run without a signal exits 0" $code 0
    [ $ended -ge 3 ] || bad "$claim: at least three runs are ended by signals" "$ended of them"
}

expect 0 "convert writes a file" convert -q "$MODEL" whole.pt
expect 0 "convert writes a folder" convert -q "$MODEL" whole/
every "convert to a file" whole.pt out.pt convert -q "$MODEL" out.pt
every "convert to a folder" whole out convert -q "$MODEL" out/
expect 0 "quantize writes a file" quantize -q "$MODEL" whole.bin q5_0
every "quantize" whole.bin out.bin quantize -q "$MODEL" out.bin q5_0

mkdir own
at 2 convert -q "$MODEL" own/
is "a signal at the second call ends convert" $? 143
[ -d own ] || bad "a folder that existed before stays" "it is gone"
none "the folder that existed before is empty" "$(ls -A own)"
mkdir full
echo mine >full/mine
at 2 convert -q "$MODEL" full/
is "a file in the folder stays" "$(cat full/mine)" mine

# ---- results and journals: the first signal requests the end, the second ends the program
long_speech 2 >a.wav
export SIGNAL_TIMES=2
code=143
for ((nth = 1; nth < 300 && code == 143; nth += 2)); do
    rm -rf results
    at $nth -q -m "$MODEL" -l zh -f json,srt -o results a.wav
    code=$?
    none "transcribe: at call $nth no temporary file is left" "$(find . -name '.steno-*')"
done
is "transcribe: the run without a signal exits 0" $code 0
[ $nth -gt 10 ] || bad "transcribe: runs are ended by signals" "$nth"
rm -rf results
finish
