# steno: shards of a batch that are killed at random places: their join is a single run. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
n_files=60 n_kills=6
sanitized && n_files=24 n_kills=3
in_full && n_files=2000 n_kills=50
RANDOM=${SEED-$(date +%N | sed 's/^0*//')}
echo "seed $RANDOM, $n_files files, $n_kills kills"

run() { "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o "$1" --shard "$2" -b 2 "${@:3}" 2>"$T/err"; }
results() { grep -c '"type": "transcript"' "$1"; }
for k in 1 2 3 4; do head -c $((44 + 8000 * k)) "$DIGITS" >"$k.wav"; done
for ((i = 0; i < n_files; i++)); do echo "{\"path\": \"$((i % 4 + 1)).wav\", \"id\": \"file $i\"}"; done >m.jsonl
run one.jsonl 0/1
is "the batch in one process exits 0" $? 0
expect 0 "--merge reads the journal of one process" batch --merge --ordered -i m.jsonl one.jsonl
cp "$T/out" one
is "the journal of one process has all results" "$(wc -l <one)" $n_files

# Four shards; two of them are killed at random, and resumed.
for i in 0 1; do run "s$i.jsonl" $i/4 & done
wait
for ((k = 0; k < n_kills; k++)); do
    i=$((2 + k % 2))
    touch "s$i.jsonl"
    until_n=$(($(results "s$i.jsonl") + RANDOM % (n_files / n_kills / 2 + 1)))
    "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o "s$i.jsonl" --shard $i/4 -b 2 --resume --retries 100 2>"$T/err" &
    pid=$!
    until [ "$(results "s$i.jsonl")" -ge "$until_n" ] && [ -s "s$i.jsonl" ]; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.005
    done
    sleep "0.0$((RANDOM % 100))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $((RANDOM % 3)) -ne 0 ] || printf '{"type": "tran' >>"s$i.jsonl"
done
for i in 2 3; do
    run "s$i.jsonl" $i/4 --resume --retries 100
    is "shard $i exits 0" $? 0
done
expect 0 "--merge reads the journals of all shards" batch --merge --ordered -i m.jsonl s3.jsonl s0.jsonl s2.jsonl s1.jsonl
same "$T/out" one
is "no result is there twice" "$(cat s?.jsonl | grep -o '"transcript", .*, "id": "[^"]*"' | sort | uniq -d | wc -l)" 0
is "each input is in one shard" "$(cat s?.jsonl | grep -c '"type": "transcript"')" $n_files
echo "begun $(cat s?.jsonl | grep -c '"type": "begin"') times"
finish
