# steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

long_speech 250 >long.wav # half an hour: nobody is done before the signal comes

# Begin a run, wait until it has something in hand, send a signal.
interrupt() { # interrupt SIGNAL ARGUMENT...
    local sig=$1
    shift
    : >"$T/err"
    env --default-signal=INT,TERM,HUP "$STENO" -m "$MODEL" -l zh --progress json "$@" >"$T/out" 2>"$T/err" &
    local pid=$!
    until grep -q done_ms "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -"$sig" $pid
    wait $pid
}

interrupt_second() { # the same, at the second of two inputs
    env --default-signal=TERM "$STENO" -m "$MODEL" -l zh --progress json "$DIGITS" long.wav -f all -o out >"$T/out" 2>"$T/err" &
    local pid=$!
    until grep -q '"long.wav", "done_ms"' "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -TERM $pid
    wait $pid
}

interrupt INT long.wav
is "Ctrl-C exits 130" $? 130
interrupt TERM long.wav
is "SIGTERM exits 143" $? 143
interrupt INT long.wav -f all -o out
is "Ctrl-C with files exits 130" $? 130
is "no file of the input in hand is left" "$(ls -A out)" ""
interrupt_second
is "SIGTERM at the second input exits 143" $? 143
is "what is finished is finished, in every format" "$(ls -A out | tr '\n' ' ')" \
    "zh_phrases.json zh_phrases.srt zh_phrases.tsv zh_phrases.txt zh_phrases.vtt "

mkfifo pipe
env --default-signal=INT "$STENO" -q -m "$MODEL" -v - <pipe >"$T/out" 2>"$T/err" &
pid=$!
exec 5>pipe
until grep -q "steno: model" "$T/err"; do sleep 0.02; done
sleep 0.1
kill -INT $pid
wait $pid
is "Ctrl-C while waiting for standard input exits 130" $? 130
exec 5>&-
finish
