# steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

long_speech "$(sanitized && echo 80 || echo 250)" >long.wav # half an hour, or ten slow minutes: no run finishes before the signal arrives

# Begin a run, wait until standard error has a pattern, send a signal.
when() { # when PATTERN SIGNAL ARGUMENT...
    local pattern=$1 sig=$2
    shift 2
    : >"$T/err" # before the run: the last one may have left the pattern there
    env --default-signal=INT,TERM,HUP "$STENO" -m "$MODEL" -l zh "$@" <"$IN" >"$T/out" 2>"$T/err" &
    local pid=$!
    until grep -q "$pattern" "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -"$sig" $pid
    wait $pid
}

interrupt() { # interrupt SIGNAL ARGUMENT...: sends SIGNAL once the run decodes long.wav
    local sig=$1
    shift
    when '"long.wav", "done_ms"' "$sig" --progress json "$@"
}

interrupt INT long.wav
is "Ctrl-C exits 130" $? 130
interrupt TERM long.wav
is "SIGTERM exits 143" $? 143
interrupt INT long.wav -f all -o out
is "Ctrl-C with files exits 130" $? 130
none "Ctrl-C leaves no file of the input that is decoded" "$(ls -A out | grep -v '^\.steno_resume$')"
interrupt TERM "$DIGITS" long.wav -f all -o out
is "SIGTERM at the second input exits 143" $? 143
is "SIGTERM keeps the files of a finished input, in every format" "$(ls -A out | grep -v '^\.steno_resume$' | tr '\n' ' ')" \
    "zh_phrases.json zh_phrases.srt zh_phrases.tsv zh_phrases.txt zh_phrases.vtt "

cp long.wav second.wav
interrupt INT -b 3 --beam-size 2 --word-timestamps -f srt,json -o together long.wav "$DIGITS" second.wav
is "Ctrl-C among several inputs exits 130" $? 130
none "Ctrl-C leaves no file of unfinished inputs" "$(ls -A together | grep -vE 'zh_phrases|^\.steno_resume$')"

mkfifo pipe
exec 5<>pipe # without a writer
IN=pipe when "steno: model" INT -v -
is "Ctrl-C while waiting for standard input exits 130" $? 130
IN=pipe when "steno: model" INT -v -b 2 "$DIGITS" -
is "Ctrl-C while a batch waits for standard input exits 130" $? 130

cp "$DIGITS" big.wav
truncate -s 8G big.wav # behind its sound
when "big.wav: language zh" INT -v -f jsonl big.wav
is "Ctrl-C while the digest of a large file is made exits 130" $? 130
# A finished digest would have a line for the input.
is "the job is the only line" "$(grep -c . "$T/out") $(grep -c '"type": "transcript"' "$T/out")" "1 0"
truncate -s 8G big.bin
when "big.bin: " INT -v -b 2 -f jsonl big.bin "$DIGITS"
is "Ctrl-C while the digest of a refused file is made exits 130" $? 130
! grep -q big.bin "$T/out" || bad "the refused file has no line" "$(cat "$T/out")"
rm big.wav big.bin
finish
