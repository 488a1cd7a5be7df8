# steno: language models with Ctrl-C, readers that close, and full disks. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

# A small model whose metadata have a context of 60,000 tokens: long to generate, and long to read.
LM=$T/long.gguf
cp "$SRC/tests/data/lm/qwen3-q4_0.gguf" "$LM" && chmod u+w "$LM"
key=$(grep -abo -m 1 qwen3.context_length "$LM" | head -1 | cut -d: -f1)
le 4 60000 | dd of="$LM" bs=1 seek=$((key + 24)) conv=notrunc 2>/dev/null
LONG="-m $LM -t 1 -c 60000 --ignore-eos"
yes 'hello world' | head -7000 | tr '\n' ' ' >prompt.txt # takes longer to read than the test runs

PAUSE=$(sanitized && echo 4 || echo 1) # until the run computes: no output shows it

# Begin a run in the background, where signals count as they do in front.
begin() { # begin VERB ARGUMENT...
    : >"$T/out"
    env --default-signal=INT,TERM,HUP "$STENO" "$@" <"$IN" >"$T/out" 2>"$T/err" &
    pid=$!
}
printed() { until [ -s "$T/out" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done; }
after() { # after SIGNAL ARGUMENT...: of generate, once it has printed text
    local sig=$1
    shift
    begin generate $LONG "$@"
    printed
    kill -"$sig" $pid
    wait $pid
}

expect 0 "generate prints a text" generate $LONG -n 40 "hello"
cp "$T/out" whole
after INT -n 0 hello
is "Ctrl-C ends generate" $? 130
head -c 4 whole >first
head -c 4 "$T/out" >interrupted
same first interrupted
is "the printed text ends with a line end" "$(tail -c 1 "$T/out" | od -An -tx1 | tr -d ' ')" 0a
err_lines 0
after TERM -n 0 hello
is "SIGTERM ends generate" $? 143
after HUP -n 0 hello
is "SIGHUP ends generate" $? 129

for how in --json --ids; do
    begin generate $LONG -n 0 $how hello
    sleep $PAUSE
    kill -INT $pid
    wait $pid
    is "Ctrl-C ends $how" $? 130
    [ $how = --ids ] || out_has '"finish_reason": "canceled", "prompt_ids": ['
    grep -qE '[0-9]' "$T/out" || bad "$how prints the tokens before Ctrl-C" "$(head -c 200 "$T/out")"
done

for n in 1 2; do
    begin generate $LONG -f prompt.txt
    sleep $PAUSE
    for _ in $(seq $n); do kill -INT $pid; done
    wait $pid
    is "Ctrl-C ($n times) ends the reading of a prompt" $? 130
    err_lines 0
    none "no text is printed before the prompt is read" "$(tr -d '\n' <"$T/out")"
done

# A chat: Ctrl-C ends the answer, and the conversation continues. Between answers it ends the conversation. Other signals always end it.
mkfifo lines
converse() {
    IN=lines begin chat $LONG
    exec 8>lines
    printf 'hello\n' >&8
    printed
}
converse
kill -INT $pid
printf '/reset\n/what\n' >&8
until grep -q /what "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
is "the interrupted answer ends with a line end" "$(wc -l <"$T/out")" 1
cp "$T/out" one
printf 'hello\n' >&8
until [ "$(wc -c <"$T/out")" -gt "$(($(wc -c <one) + 3))" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
printf '/exit\n' >&8
exec 8>&-
wait $pid
is "the conversation exits 0 after an interrupted answer" $? 0
tail -n +2 "$T/out" | head -c 4 >second
same first second
converse
kill -TERM $pid
exec 8>&-
wait $pid
is "SIGTERM ends a conversation during an answer" $? 143
IN=lines begin chat $LONG
exec 8>lines
printf '/what\n' >&8
until grep -q /what "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
wait $pid
is "Ctrl-C between answers ends the conversation" $? 130
exec 8>&-

head -c 60000 prompt.txt | tr ' ' '\n' >many.txt
for _ in 1 2 3 4 5 6; do cat many.txt many.txt >more.txt && mv more.txt many.txt; done
begin embed -m "$LM" -t 1 @many.txt
printed
kill -INT $pid
wait $pid
is "Ctrl-C ends embed" $? 130
begin search -m "$LM" -t 1 hello many.txt
sleep $PAUSE
kill -INT $pid
wait $pid
is "Ctrl-C ends search" $? 130
out_empty

# Full disks, closed readers, and closed standard streams.
for verb in "generate $LONG -n 0 hello" "generate $LONG -n 9 --json hello" "generate $LONG -n 9 --ids hello" "chat $LONG -n 9" \
    "embed -m $LM hello" "embed -m $LM -f npy hello" "search -m $LM hello prompt.txt" "tokenize -m $LM hello"; do
    echo "$verb"
    echo hello | "$STENO" $verb >/dev/full 2>"$T/err"
    is "a full disk ends ${verb%% *}" $? 6
    err_has "standard output: cannot write: No space left on device"
    err_lines 1
    "$STENO" $verb </dev/null >&- 2>"$T/err"
    is "a closed standard output ends ${verb%% *}" $? "$([ "${verb%% *}" = chat ] && echo 0 || echo 6)" # chat has no line to print
done
for verb in "generate $LONG -n 0 hello" "embed -m $LM @many.txt"; do
    "$STENO" $verb 2>"$T/err" | head -c 3 >/dev/null
    is "a reader that closes ends ${verb%% *}" "${PIPESTATUS[0]}" 6
    err_has "standard output: the reader has gone"
done
for verb in "generate $LONG -" "chat $LONG" "embed -m $LM -" "tokenize -m $LM -" "search -m $LM hello -"; do
    "$STENO" $verb <&- >"$T/out" 2>"$T/err"
    is "a closed standard input ends ${verb%% *}" $? 4
    err_has "standard input: Bad file descriptor"
done
"$STENO" generate $LONG -n 3 hello >"$T/out" 2>&-
is "generate runs without standard error" $? 0
finish
