# steno: the journal of a batch: each input has one result, whatever ends the process. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

b() { # b CODE CLAIM ARGUMENT...: a batch of the manifest m.jsonl
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl "$@"
}
lines() { grep -c "^{\"type\": \"$2\"" "$1"; } # lines FILE TYPE: the number of lines
joined() { "$STENO" batch --merge --ordered -i m.jsonl "$@" 2>/dev/null; }
# killed FILE ID [ARGUMENT...]: begin a batch, and end it by SIGKILL after the input was begun
killed() {
    local file=$1 id=$2 n pid
    shift 2
    n=$(grep -c "^{\"type\": \"begin\", \"id\": \"$id\"" "$file" 2>/dev/null)
    "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o "$file" --resume "$@" 2>"$T/err" &
    pid=$!
    until [ "$(grep -c "^{\"type\": \"begin\", \"id\": \"$id\"" "$file" 2>/dev/null)" -gt "${n:-0}" ] || ! kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
}

long_speech 6 >long.wav
head -c 60044 "$DIGITS" >short.wav
for i in 1 2 3; do cp short.wav "f$i.wav"; done
cat >m.jsonl <<'M'
f1.wav
{"audio_filepath": "f2.wav", "duration": 1.5, "offset": 0.25, "text": "reference", "speaker": {"name": "A\u00e9", "age": [1, 2e1]}}

{"input": "long.wav", "id": "long"}
{"path": "f3.wav", "id": "a \"third\" one", "initial_prompt": "一", "channel": 0}
M
b 0 "a manifest of paths and objects is transcribed" -o one.jsonl
is "each input has a result" "$(lines one.jsonl transcript)" 4
is "each input has begun once" "$(lines one.jsonl begin)" 4
head -1 one.jsonl | grep -q '^{"type": "job", .*"header": {.*"shard": "0/1"}' || bad "the header comes first" "$(head -c 300 one.jsonl)"
tail -1 one.jsonl | grep -q '"inputs": 4, "ok": 4, "empty": 0, "failed": 0' || bad "the sums come last" "$(tail -1 one.jsonl)"
tail -1 one.jsonl | grep -q '"duration": 48.5' || bad "the sums count the range of an input only" "$(tail -1 one.jsonl)"
grep -q '"id": "f2.wav#t=0.25".*"manifest": {"text": "reference","speaker": {"name": "A\\u00e9", "age": \[1, 2e1\]}}' one.jsonl ||
    bad "other members of a manifest's line are copied into the result" "$(grep f2.wav one.jsonl | cut -c1-400)"
joined one.jsonl >one
is "the join has a line per input" "$(wc -l <one)" 4
grep -q '"run"' one && bad "the join has nothing of the run" "it has"
is "the join is in the manifest's order" "$(sed 's/.*"id": "\(.\).*"class".*/\1/' one | tr -d '\n')" ffla

expect 0 "transcribe gives the text of the batch" -q -m "$MODEL" -t 1 -l zh -f jsonl long.wav
members() { sed 's/.*"status": "ok"/"status": "ok"/'; }
grep '"type": "transcript"' "$T/out" | members >alone
grep '"id": "long"' one | members >both
same both alone
expect 0 "transcribe --offset-ms gives the text of an input with an offset" \
    -q -m "$MODEL" -t 1 -l zh -f jsonl --offset-ms 250 --duration-ms 1500 f2.wav
grep '"type": "transcript"' "$T/out" | members >alone
grep '"id": "f2.wav#t=0.25"' one | members >both
same both alone

cp one.jsonl again.jsonl
b 2 "a file that exists is refused without --resume" -o again.jsonl
err_has "again.jsonl exists; --resume continues it"
b 0 "--resume of a complete journal changes nothing" -o again.jsonl --resume
same again.jsonl one.jsonl
b 2 "other options are refused" -o again.jsonl --resume --beam-size 2
err_has "its first line has the options of another run"
b 2 "another shard is refused" -o again.jsonl --resume --shard 0/2
err_has "it has the shard of another run: 0/1 there, 0/2 here"
echo f4.wav >>m.jsonl
cp short.wav f4.wav
b 0 "a manifest that grew is resumed" -o again.jsonl --resume
is "only its new input is transcribed" "$(($(lines again.jsonl begin) - $(lines one.jsonl begin)))" 1
sed -i 1d m.jsonl
b 2 "a manifest that changed is refused" -o again.jsonl --resume
err_has "it has a manifest that was changed"
sed -i '1i f1.wav' m.jsonl
b 0 "a manifest whose line is back is accepted" -o again.jsonl --resume

cp m.jsonl whole.jsonl
printf 'long.wav\nf1.wav\n' >m.jsonl
"$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o grows.jsonl 2>"$T/err" &
pid=$!
until grep -q '"begin", "id": "long.wav"' grows.jsonl 2>/dev/null || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
printf 'f1.wav\n{"id": 1}\n' >>m.jsonl
wait $pid
is "a manifest that grows during the run exits 0" $? 0
is "each line that was checked has one result" "$(lines grows.jsonl transcript) $(lines grows.jsonl summary)" "2 1"
b 2 "the next run checks the lines that were appended" -o grows.jsonl --resume
err_has "m.jsonl: line 3 has the id f1.wav of an earlier line"
cp whole.jsonl m.jsonl

for b in 1 3; do
    for options in "-b $b" "-b $b --ordered"; do
        rm -f part.jsonl
        b 0 "a batch with $options has each result" -o part.jsonl $options
        joined part.jsonl >part
        joined again.jsonl >one
        same part one
    done
    b 0 "--ordered prints results in order, -b $b" -o - -b $b --ordered
    grep '"type": "transcript"' "$T/out" | sed 's/, "run": {[^}]*}//' >ordered
    same ordered one
done

for i in 0 1 2; do b 0 "shard $i of 3 is written" -o "s$i.jsonl" --shard $i/3; done
is "the shards have each input once" "$(cat s?.jsonl | grep -c '"type": "transcript"')" 5
joined s2.jsonl s0.jsonl s1.jsonl >shards
same shards one
SLURM_ARRAY_TASK_ID=1 b 0 "--shard auto takes the index of a Slurm array" -o auto.jsonl --shard auto/3
joined auto.jsonl >auto
joined s1.jsonl >shards
same auto shards
SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=2 \
    b 2 "an array with holes is refused" -o no.jsonl --shard auto
err_has "the number of parts is not known"
SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1 \
    b 0 "an array from 0 without holes is accepted" -o auto2.jsonl --shard auto
joined auto2.jsonl >auto
same auto shards
b 2 "--shard auto without an array is refused" -o no.jsonl --shard auto
err_has "none of SLURM_ARRAY_TASK_ID"
for shard in 3/3 1/0 x 1 1/2/3 -1/2 1/1000001; do b 2 "the shard $shard is refused" -o no.jsonl --shard=$shard; done

# The process is killed.
rm -f part.jsonl
killed part.jsonl long
is "the input that was running has no result" "$(grep -c '"type": "transcript".*"id": "long"' part.jsonl)" 0
printf '{"type": "transcript", "schema_ver' >>part.jsonl
b 0 "--resume cuts a torn line off and transcribes the rest" -o part.jsonl --resume
joined part.jsonl >part
same part one
grep -q '"id": "long".*"attempts": 2' part.jsonl ||
    bad "the second attempt of the killed input is counted" "$(grep '"long", "class' part.jsonl | cut -c1-300)"
rm -f part.jsonl
for i in 1 2; do killed part.jsonl long -b 3 --retries 1; done
b 1 "an input that killed its process twice is given up" -o part.jsonl --resume --retries 1
err_has "long: the process was killed 2 times during this input"
is "the other inputs have text" "$(grep -c '"class": null' part.jsonl)" 4
grep -q '"id": "long", "class": "poison", "retryable": false' part.jsonl ||
    bad "an input that was given up has the class poison" "$(grep '"long", "class' part.jsonl)"
b 1 "--resume does not repeat an input that was given up" -o part.jsonl --resume --retries 1
head -c 4096 /dev/zero >>part.jsonl
b 1 "zeros after a loss of power are cut off" -o part.jsonl --resume --retries 1

rm -f part.jsonl
"$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o part.jsonl 2>/dev/null &
pid=$!
until grep -q '"id": "long"' part.jsonl 2>/dev/null; do sleep 0.01; done
b 6 "a second process with the same journal is refused" -o part.jsonl --resume
err_has "another process writes it"
kill -TERM $pid
wait $pid
is "a signal ends the batch with its code" $? 143
tail -1 part.jsonl | grep -q '"type": "stop", "id": "long", "attempt": 1' ||
    bad "an attempt that a signal ended is not counted" "$(tail -1 part.jsonl | cut -c1-200)"
b 0 "a batch that a signal ended resumes" -o part.jsonl --resume --retries 0
joined part.jsonl >part
same part one

# Failures.
cp m.jsonl whole.jsonl
printf '%s\n' f1.wav none.wav text.wav '{"path": "f2.wav", "channel": 7}' '{"path": "f3.wav", "language": "xx"}' >m.jsonl
echo "not audio" >text.wav
b 1 "a batch with failures exits 1" -o bad.jsonl
class_of() { grep -o "\"id\": \"$1\", \"class\": \"[a-z]*\", \"retryable\": [a-z]*" bad.jsonl | sed 's/.*"class": //'; }
is "a missing file has the class io" "$(class_of none.wav)" '"io", "retryable": true'
for id in text.wav f2.wav f3.wav; do
    is "$id has the class input" "$(class_of $id)" '"input", "retryable": false'
done
is "an input of the class io is tried three times" "$(grep -c '"begin", "id": "none.wav"' bad.jsonl)" 3
expect 1 "--merge lists the failures" batch --merge -i m.jsonl bad.jsonl
err_has "none.wav: failed"
err_lines 4
is "--merge prints a line for each input" "$(wc -l <"$T/out")" 5
expect 1 "--merge lists missing results" batch --merge -i whole.jsonl bad.jsonl
err_has "long: no result"
b 1 "--resume of failures exits 1" -o bad.jsonl --resume
is "--resume does not repeat failures" "$(grep -c '"begin"' bad.jsonl)" 7
cp short.wav none.wav
b 1 "--retry-failed repeats failures of a retryable class" -o bad.jsonl --resume --retry-failed
is "--retry-failed repeats no other failure" "$(grep -c '"begin"' bad.jsonl)" 8
expect 1 "--merge takes the result that is not a failure" batch --merge -i m.jsonl bad.jsonl
err_lines 3
b 1 "--max-failures ends the run" -o few.jsonl --max-failures 1 --retries 0
is "--max-failures 1 ends the run after one failure" "$(grep -c '"status": "error"' few.jsonl)" 1
echo '{"path": "long.wav"}' >m.jsonl
b 1 "--timeout ends an input" -o late.jsonl --timeout 0.05
grep -q '"class": "timeout", "retryable": true' late.jsonl ||
    bad "an input that --timeout ended has the class timeout" "$(grep transcript late.jsonl | cut -c1-200)"

# Broken manifests, other files in place of journals, and full disks.
wrong() { # wrong TEXT REASON: a manifest with a line that is refused before anything is transcribed
    printf 'f1.wav\n%s\n' "$1" >m.jsonl
    rm -f no.jsonl
    b 2 "the line $1 is refused" -o no.jsonl
    err_has "m.jsonl: line 2 $2"
    [ ! -e no.jsonl ] || bad "a refused manifest writes no journal" "$(head -c 100 no.jsonl)"
}
wrong '{"id": "x"}' 'has no "audio_filepath"'
wrong '{"path": "a", "input": "b"}' '"input" is given twice'
wrong '{"path": "a"' 'is not a JSON object'
wrong '{"path": "a"} {}' 'is not a JSON object'
wrong '{"path": "a", "offset": -1}' '"offset" is not a number of seconds'
wrong '{"path": "a", "channel": 1.5}' '"channel" is not the number of a channel'
wrong '{"path": "a", "more": NaN}' '"more" has a value that JSON does not have'
wrong '{"path": "a", "more": [01]}' '"more" has a value that JSON does not have'
wrong '{"path": 7}' '"path" is not a text'
wrong '{"path": null}' 'has no "audio_filepath"'
wrong '{"path": "a", "id": ""}' 'has an id of 0'
wrong '-' 'has standard input as its file'
wrong f1.wav 'has the id f1.wav of an earlier line'
wrong $'f\xff.wav' 'is not text in UTF-8 at byte 1'
expect 4 "a missing manifest exits 4" batch -m "$MODEL" -i none.jsonl -o no.jsonl
echo '{"path": "f1.wav", "id": null, "language": null, "initial_prompt": null, "channel": null, "offset": null}' >m.jsonl
b 0 "null in a manifest is the same as no value" -o null.jsonl
[ "$(grep -c '"type": "transcript".*"id": "f1.wav"' null.jsonl)" = 1 ] ||
    bad "the id of a line with null is its path" "$(tail -c 300 null.jsonl)"
cp whole.jsonl m.jsonl
echo "hello" >text.jsonl
b 2 "a file that is no journal is refused" -o text.jsonl --resume
err_has "text.jsonl: line 1 is not a line of a batch's journal"
is "a refused file is not changed" "$(cat text.jsonl)" hello
for text in hello '{"type": "jo!' '{"type": "begin", "id": "a' 'R\0\0\0'; do # a file with one line that does not end
    printf "$text" >text.jsonl
    cp text.jsonl before
    b 2 "a file with a torn line that no journal begins with is refused" -o text.jsonl --resume
    err_has "text.jsonl: line 1 is not a line of a batch's journal"
    same text.jsonl before
done
echo f1.wav >m.jsonl
for text in '{"type": "j' '{"type": "job", "schema_version": 2, "hea' '\0\0\0\0'; do
    printf "$text" >begin.jsonl
    b 0 "a header that was not written to its end is written again" -o begin.jsonl --resume
    is "the header is the first line" "$(head -c 16 begin.jsonl)" '{"type": "job", '
done
joined begin.jsonl >one
head -c 4096 /dev/zero >>begin.jsonl
expect 0 "--merge leaves out zeros after a loss of power" batch --merge -i m.jsonl begin.jsonl
same "$T/out" one
printf '\n' >>begin.jsonl
expect 2 "a line with zeros is refused" batch --merge -i m.jsonl begin.jsonl
err_has "begin.jsonl: line 5 has a NUL byte"
cp whole.jsonl m.jsonl
mkfifo pipe.jsonl
timeout 60 head -c 10 pipe.jsonl >start &
b 6 "a FIFO without its reader is reported" -o pipe.jsonl
err_has "pipe.jsonl: cannot write: Broken pipe"
wait
timeout 60 cat pipe.jsonl >all &
b 0 "the output may be a FIFO" -o pipe.jsonl
wait
is "the FIFO has all results" "$(lines all transcript)" 5
timeout 60 cat pipe.jsonl >start &
b 2 "--resume of a FIFO is refused" -o pipe.jsonl --resume
wait
err_has "--resume needs a file: pipe.jsonl cannot be read again"
b 2 "--resume of standard output is refused" -o - --resume
err_has "--resume needs a file: standard output cannot be read again"
b 2 "the manifest is refused as the journal" -o m.jsonl --resume
err_has "m.jsonl is the manifest"
b 2 "--merge takes no options of a transcription" --merge one.jsonl
err_has "has no effect with --merge"
expect 2 "batch needs a manifest" batch -m "$MODEL" -o no.jsonl
expect 2 "batch needs an output" batch -m "$MODEL" -i m.jsonl
(
    ulimit -f 4
    "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o full.jsonl 2>"$T/err"
)
is "a full disk ends the run" $? 6
err_has "full.jsonl: cannot write"
b 0 "--resume finishes the run when there is space" -o full.jsonl --resume
joined full.jsonl >full
joined again.jsonl >one
same full one
[ ! -c /dev/full ] || b 6 "a full device ends the run" -o /dev/full
finish
