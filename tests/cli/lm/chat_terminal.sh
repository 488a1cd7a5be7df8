# steno: conversations at a terminal. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "skipped: no terminal can be made here with the program script"; exit 77; }
LM=$SRC/tests/data/lm/qwen3-q4_0.gguf
has_editor() { ldd "$STENO" 2>/dev/null | grep -q libedit; }

# What is typed comes from a FIFO; what the terminal shows goes to the file shown.
# The shell of the terminal gets its Ctrl-C, too: it has a trap, as it must live to write the exit code.
mkfifo keys
open_terminal() { # open_terminal ARGUMENT...
    rm -f code
    : >shown
    TERM=xterm LANG=C.UTF-8 LC_ALL=C.UTF-8 env --default-signal=INT \
        script -qec "trap : INT; '$STENO' $*; echo \$? >code" /dev/null <keys >shown 2>&1 &
    pid=$!
    exec 8>keys
}
shows() { # shows TEXT [TIMES]
    for _ in $(seq 200); do
        [ "$(grep -aoF -- "$1" shown | wc -l)" -ge "${2-1}" ] && return
        sleep 0.05
    done
    bad "the terminal shows \"$1\"" "$(tail -c 200 shown | od -c | head -20)"
}
close_terminal() { # close_terminal CODE
    exec 8>&-
    wait $pid
    is "the conversation exits $1" "$(cat code)" "$1"
}

expect 0 "generate answers a question" generate -m "$LM" --compute f32 -t 1 -n 8 hello
answer=$(tr -cd 'a-z' <"$T/out")
open_terminal chat -m "$LM" --compute f32 -t 1 -n 8
shows '> '
printf 'hello\n' >&8
shows '> ' 2
tr -cd 'a-z' <shown | grep -qF "hello$answer" || bad "chat gives the answer of generate" "$(od -c shown | head -20)"
printf '/what\n' >&8
shows 'unknown command; the commands are /reset and /exit'
printf '/exit\n' >&8
close_terminal 0

if has_editor; then
    open_terminal chat -m "$LM" -t 1 -n 4
    shows '> '
    printf '/h\303\251llo 今天x\177\n' >&8 # a line of wide characters, and the last one taken back
    shows '/héllo 今天: unknown command'
    printf '\033[A' >&8 # the line before
    shows '/héllo 今天' 3
    printf '\001\013/exit\n' >&8 # to its beginning, cut, others
    close_terminal 0
    open_terminal chat -m "$LM" -t 1 -n 4
    shows '> '
    printf '\004' >&8
    close_terminal 0
else
    echo "(not tried: editing of lines; this build has no libedit)"
fi

open_terminal chat -m "$LM" -t 1 -n 4
shows '> '
printf 'abc\003' >&8
for _ in $(seq 100); do [ -s code ] && break; sleep 0.05; done
close_terminal 130

# Control characters are replaced on a terminal; a file has them unchanged.
grammar='root ::= "a\x1b]0;b\x07\x7fc\td\u009be"'
script -qec "'$STENO' generate -m '$LM' --grammar '$grammar' -t 1 hello" /dev/null </dev/null | tr -d '\r' >screen
printf 'a\357\277\275]0;b\357\277\275\357\277\275c\td\357\277\275e\n' >want
same screen want
expect 0 "control characters are written into a file" generate -m "$LM" --grammar "$grammar" -t 1 hello
printf 'a\033]0;b\007\177c\td\302\233e\n' >want
same "$T/out" want
finish
