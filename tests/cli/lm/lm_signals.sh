# steno: language models and Ctrl-C, readers that go away, full disks. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

# A small model that believes in a context of 60,000 tokens: it talks for long, and reads long.
LM=$T/long.gguf
cp "$SRC/tests/data/lm/qwen3-q4_0.gguf" "$LM" && chmod u+w "$LM"
key=$(grep -abo -m 1 qwen3.context_length "$LM" | head -1 | cut -d: -f1)
le 4 60000 | dd of="$LM" bs=1 seek=$((key + 24)) conv=notrunc 2>/dev/null
LONG="-m $LM -t 1 -c 60000 --ignore-eos"
yes 'hello world' | head -7000 | tr '\n' ' ' >prompt.txt # longer to read than anybody waits

PAUSE=$(sanitized && echo 4 || echo 1) # until it is at work: nothing tells

# Begin a run in the background, where signals count as they do in front.
begin() { # begin VERB ARGUMENT...
    : >"$T/out"
    env --default-signal=INT,TERM,HUP "$STENO" "$@" <"$IN" >"$T/out" 2>"$T/err" &
    pid=$!
}
said() { until [ -s "$T/out" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done; }
after() { # after SIGNAL ARGUMENT...: of generate, once it has begun to talk
    local sig=$1
    shift
    begin generate $LONG "$@"
    said
    kill -"$sig" $pid
    wait $pid
}

expect 0 "what it says" generate $LONG -n 40 "hello"
cp "$T/out" whole
after INT -n 0 hello
is "Ctrl-C ends generate" $? 130
head -c 4 whole >first
head -c 4 "$T/out" >interrupted
same first interrupted
is "what was said ends with a line" "$(tail -c 1 "$T/out" | od -An -tx1 | tr -d ' ')" 0a
err_lines 0
after TERM -n 0 hello
is "SIGTERM ends it" $? 143
after HUP -n 0 hello
is "a terminal that is closed ends it" $? 129

for how in --json --ids; do
    begin generate $LONG -n 0 $how hello
    sleep $PAUSE
    kill -INT $pid
    wait $pid
    is "Ctrl-C ends $how" $? 130
    [ $how = --ids ] || out_has '"finish_reason": "canceled", "prompt_ids": ['
    grep -qE '[0-9]' "$T/out" || bad "what was made until then is told by $how" "$(head -c 200 "$T/out")"
done

for n in 1 2; do
    begin generate $LONG -f prompt.txt
    sleep $PAUSE
    for _ in $(seq $n); do kill -INT $pid; done
    wait $pid
    is "Ctrl-C ($n times) while a prompt is read" $? 130
    err_lines 0
    none "nothing was said" "$(tr -d '\n' <"$T/out")"
done

# A chat: Ctrl-C ends the answer, and the talk goes on; between answers it ends the talk, and so do other signals at any time.
mkfifo lines
talk() {
    IN=lines begin chat $LONG
    exec 8>lines
    printf 'hello\n' >&8
    said
}
talk
kill -INT $pid
printf '/reset\n/what\n' >&8
until grep -q /what "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
is "the answer has ended with a line" "$(wc -l <"$T/out")" 1
cp "$T/out" one
printf 'hello\n' >&8
until [ "$(wc -c <"$T/out")" -gt "$(($(wc -c <one) + 3))" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
printf '/exit\n' >&8
exec 8>&-
wait $pid
is "the talk ends by itself" $? 0
tail -n +2 "$T/out" | head -c 4 >second
same first second
talk
kill -TERM $pid
exec 8>&-
wait $pid
is "SIGTERM ends a talk in the midst of an answer" $? 143
IN=lines begin chat $LONG
exec 8>lines
printf '/what\n' >&8
until grep -q /what "$T/err" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid
wait $pid
is "Ctrl-C between answers ends the talk" $? 130
exec 8>&-

head -c 60000 prompt.txt | tr ' ' '\n' >many.txt
for _ in 1 2 3 4 5 6; do cat many.txt many.txt >more.txt && mv more.txt many.txt; done
begin embed -m "$LM" -t 1 @many.txt
said
kill -INT $pid
wait $pid
is "Ctrl-C ends embed" $? 130
begin search -m "$LM" -t 1 hello many.txt
sleep $PAUSE
kill -INT $pid
wait $pid
is "Ctrl-C ends search" $? 130
out_empty

# Nobody reads, nothing can be written, nothing comes in.
for verb in "generate $LONG -n 0 hello" "generate $LONG -n 9 --json hello" "generate $LONG -n 9 --ids hello" "chat $LONG -n 9" \
    "embed -m $LM hello" "embed -m $LM -f npy hello" "search -m $LM hello prompt.txt" "tokenize -m $LM hello"; do
    echo "$verb"
    echo hello | "$STENO" $verb >/dev/full 2>"$T/err"
    is "a full disk ends ${verb%% *}" $? 6
    err_has "standard output: cannot write: No space left on device"
    err_lines 1
    "$STENO" $verb </dev/null >&- 2>"$T/err"
    is "no standard output ends ${verb%% *}" $? "$([ "${verb%% *}" = chat ] && echo 0 || echo 6)" # which has nothing to say
done
for verb in "generate $LONG -n 0 hello" "embed -m $LM @many.txt"; do
    "$STENO" $verb 2>"$T/err" | head -c 3 >/dev/null
    is "a reader that goes away ends ${verb%% *}" "${PIPESTATUS[0]}" 6
    err_has "standard output: the reader has gone"
done
for verb in "generate $LONG -" "chat $LONG" "embed -m $LM -" "tokenize -m $LM -" "search -m $LM hello -"; do
    "$STENO" $verb <&- >"$T/out" 2>"$T/err"
    is "no standard input for ${verb%% *}" $? 4
    err_has "standard input: Bad file descriptor"
done
"$STENO" generate $LONG -n 3 hello >"$T/out" 2>&-
is "no standard error is no harm" $? 0
finish
