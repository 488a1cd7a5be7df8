# steno: a batch in processes of its own: a file that ends one costs one input. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
[ -r "/proc/$$/task/$$/children" ] || { echo "skipped: the kernel does not list children"; exit 77; }

run() { "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl "$@"; }
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
joined() { "$STENO" batch --merge --ordered -i m.jsonl "$1" 2>/dev/null; }
begun() { grep -c "\"begin\", \"id\": \"$2\"" "$1" 2>/dev/null || true; } # begun FILE ID
start() { # start ARGUMENT...: in the background; sets pid
    rm -f many.jsonl
    "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o many.jsonl --isolate "$@" 2>"$T/err" &
    pid=$!
    until [ -s many.jsonl ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
}
await() { until eval "$1" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done; }

long_speech 4 >long.wav
head -c 40044 "$DIGITS" >short.wav
for i in 1 2 3 4 5 6; do ln -s short.wav "f$i.wav"; done
printf '%s\n' f1.wav f2.wav '{"path": "long.wav", "id": "long"}' f3.wav f4.wav f5.wav f6.wav >m.jsonl
run -o one.jsonl 2>"$T/err"
is "the batch in one process exits 0" $? 0
joined one.jsonl >one

for options in "" "--jobs 3" "--jobs 2 -b 3" "--jobs 2 -b 2 --ordered"; do
    rm -f many.jsonl
    expect 0 "--isolate $options transcribes each input" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o many.jsonl --isolate $options
    joined many.jsonl >many
    same many one
    is "each input has begun once, $options" "$(grep -c '"type": "begin"' many.jsonl)" 7
done
grep '"type": "transcript"' many.jsonl | sed 's/, "run": {[^}]*}//' >ordered
same ordered one
expect 0 "one process resumes the journal of several" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o many.jsonl --resume
is "a journal without gaps begins no input" "$(grep -c '"type": "begin"' many.jsonl)" 7

# A worker that is killed is replaced, and its input is repeated alone.
start -b 3
await '[ "$(begun many.jsonl long)" -eq 1 ]'
kill -9 $(children $pid)
wait $pid
is "the batch finishes after a worker was killed" $? 0
err_has "a worker was killed by signal 9; another one takes its place"
joined many.jsonl >many
same many one
grep -q '"id": "long", .*"attempts": 2' many.jsonl ||
    bad "the second attempt of the killed input is counted" "$(grep '"long", "cl' many.jsonl)"

# A file that always kills its process is given up; the inputs decoded beside it are not.
start -b 3 --retries 1
for n in 1 2; do
    await "[ \"\$(begun many.jsonl long)\" -eq $n ]"
    kill -9 $(children $pid) # the first time it has two other inputs
done
wait $pid
is "a file that kills its process twice fails" $? 1
is "the file that fails has the class poison" \
    "$(grep -o '"id": "[a-z0-9.]*", "class": "poison"' many.jsonl)" '"id": "long", "class": "poison"'
is "the inputs beside it have text" "$(grep -c '"class": null' many.jsonl)" 6
err_has "long: the process was killed 2 times during this input"

# An input whose process is stopped: only a kill ends it.
start --timeout 0.5
await '[ "$(begun many.jsonl f1.wav)" -eq 1 ]'
kill -STOP $(children $pid)
wait $pid
is "a worker that is stopped is killed" $? 1
grep -q '"id": "f1.wav", "class": "timeout"' many.jsonl ||
    bad "the input of a stopped worker has the class timeout" "$(grep f1.wav many.jsonl | cut -c1-200)"
is "the inputs after a timeout have results" "$(grep -c '"type": "transcript"' many.jsonl)" 7

# Signals, and a controller that is killed.
start --jobs 2
await '[ "$(begun many.jsonl long)" -eq 1 ]'
workers=$(children $pid)
kill -TERM $pid
wait $pid
is "a signal ends the batch" $? 143
for w in $workers; do ! kill -0 "$w" 2>/dev/null || bad "no worker is left after a signal" "$w"; done
run -o many.jsonl --isolate --resume --retries 0 2>"$T/err"
is "a batch resumes after a signal, and the attempt is not counted" $? 0
joined many.jsonl >many
same many one
start --jobs 2
await '[ "$(begun many.jsonl long)" -eq 1 ]'
workers=$(children $pid)
kill -9 $pid
wait $pid 2>/dev/null
for w in $workers; do
    for ((i = 0; i < 200; i++)); do kill -0 "$w" 2>/dev/null || break; sleep 0.05; done
    ! kill -0 "$w" 2>/dev/null || bad "workers end with their controller" "$w"
done
run -o many.jsonl --isolate --jobs 2 --resume 2>"$T/err"
is "the journal is unlocked and resumes after the controller was killed" $? 0
joined many.jsonl >many
same many one

expect 2 "--jobs needs --isolate" batch -m "$MODEL" -i m.jsonl -o no.jsonl --jobs 2
err_has "--jobs needs --isolate"
expect 2 "options that the model does not have are refused before any worker runs" \
    batch -m "$MODEL" -i m.jsonl -o no.jsonl --isolate --keep-tags
[ ! -e no.jsonl ] || [ ! -s no.jsonl ] || bad "a refused batch writes no journal" "$(head -c 100 no.jsonl)"
finish
