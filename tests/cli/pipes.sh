# steno: sound from pipes. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
mkdir spool
export TMPDIR=$PWD/spool
left() { [ -z "$(ls -A spool)" ] || bad "no temporary file is left: $1" "$(ls -A spool)"; }

piped() { # piped CODE CLAIM COMMAND...: what the command prints is the input
    local want=$1 claim=$2
    shift 2
    "$@" 2>/dev/null | timeout 120 "$STENO" -q -m "$MODEL" -l zh - >"$T/out" 2>"$T/err"
    is "$claim" "${PIPESTATUS[1]}" "$want"
    err_lines $((want != 0))
    left "$claim"
}

piped 0 "a pipe of sound is transcribed" cat "$DIGITS"
[ -s "$T/out" ] || bad "a pipe of sound gives a text" "there is none"
piped 4 "an endless pipe of text is refused" yes "this is no sound"
err_has "standard input: is not a "
piped 4 "an endless pipe of zeros is refused" cat /dev/zero
piped 4 "an endless pipe of noise is refused" cat /dev/urandom
piped 4 "a short text is refused" echo "this is no sound"
piped 4 "an empty pipe is refused" true
mkfifo fifo
yes >fifo 2>/dev/null &
expect 4 "an endless FIFO is refused" -q -m "$MODEL" fifo
wait

cat "$DIGITS" | TMPDIR=$PWD/none "$STENO" -q -m "$MODEL" - >"$T/out" 2>"$T/err"
is "a missing TMPDIR is reported" $? 4
err_has "no temporary file can be made in $PWD/none: No such file"
(
    ulimit -f 100
    cat "$DIGITS" | "$STENO" -q -m "$MODEL" - >"$T/out" 2>"$T/err"
)
is "a TMPDIR without space is reported" $? 4
err_has "the temporary file in $PWD/spool could not grow: "
err_has "TMPDIR"
err_lines 1
left "without space"

exec 5<>fifo # never ends
"$STENO" -q -m "$MODEL" - <fifo >"$T/out" 2>"$T/err" &
pid=$!
cat "$DIGITS" >&5
for _ in $(seq 100); do
    ls -l /proc/$pid/fd 2>/dev/null | grep -q "$PWD/spool/" && break
    sleep 0.1
done
ls -l /proc/$pid/fd | grep -q "$PWD/spool/" || bad "sound is spooled in TMPDIR" "$(ls -l /proc/$pid/fd)"
left "while a pipe is read"
kill $pid
wait $pid 2>/dev/null
left "after the program was killed"
finish
