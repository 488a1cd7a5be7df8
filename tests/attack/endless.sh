# steno: texts without an end. SPDX-License-Identifier: MIT
#
# Each reader of a text reads it up to a limit, names that, and ends, before memory is gone: a line without an end, lines without an end,
# zeros, a FIFO without a writer. endless.sh [SECONDS [SEED]]: the short form tries each reader with each text once, in little memory;
# the long one goes on with other bytes and less memory.
STENO=${STENO:-build/steno}
. "$(dirname "$0")/../cli/lib.sh"
sanitized && { echo "skipped: a sanitizer needs an address space without limit"; exit 77; }

RANDOM=${2:-1}
LM=$SRC/tests/data/lm/qwen3-q4_0.gguf
BERT=${STENO_SHARED:-/none}/material/llm/models/bert/hf
WAV=$SRC/tests/data/demo.wav
cp -r "$SRC/tests/data/punctuation_streaming" marks
mkfifo empty
n=0

# What has no end, by its name: standard input of the program.
feed() {
    case $1 in
    zeros) exec cat /dev/zero ;;
    line) exec tr '\0' "$2" </dev/zero ;;
    lines) exec yes "$2" ;;
    newlines) exec tr '\0' '\n' </dev/zero ;;
    esac
}

# try KIND KIB ARGUMENT...: @@ stands for the text
try() {
    local kind=$1 kib=$2 code
    shift 2
    (
        ulimit -v "$kib"
        exec timeout -k 1 60 "$STENO" "$@"
    ) < <(feed "$kind" "$letter") >"$T/out" 2>"$T/err"
    code=$?
    n=$((n + 1))
    case $code in 1 | 2 | 3 | 4) ;; *) bad "$kind" "exit code $code ($* )" ;; esac
    [ -s "$T/err" ] || bad "$kind" "no reason is given ($*)"
    [ "$(wc -c <"$T/err")" -lt 2000 ] || bad "$kind" "the reason has $(wc -c <"$T/err") bytes ($*)"
}

# Each reader. Lines that are answered one by one may go on for ever: a list of them is no error there.
readers() { # readers KIND KIB
    local f=/dev/stdin
    try "$1" "$2" -q -m "$MODEL" "@$f"
    [ "$1" = zeros ] || [ "$1" = line ] && {
        try "$1" "$2" punctuate -q -m marks
        try "$1" "$2" punctuate -q -m marks $f
        try "$1" "$2" chat -q -m "$LM" -n 1
    }
    try "$1" "$2" generate -q -m "$LM" -n 1 -f $f
    try "$1" "$2" generate -q -m "$LM" -n 1 -
    try "$1" "$2" generate -q -m "$LM" -n 1 --prompts $f
    try "$1" "$2" generate -q -m "$LM" -n 1 --grammar-file $f hello
    try "$1" "$2" generate -q -m "$LM" -n 1 --json-schema-file $f hello
    try "$1" "$2" tokenize -q -m "$LM" -
    try "$1" "$2" tokenize -q -m "$LM" --decode @$f
    try "$1" "$2" align -q -m "$MODEL" "$WAV" @$f
    try "$1" "$2" -q -m "$MODEL" --hotwords @$f "$WAV"
    try "$1" "$2" -q -m "$MODEL" --grammar $f "$WAV"
    try "$1" "$2" lint-subs $f
    try "$1" "$2" info $f
    try "$1" "$2" punctuate -q -m marks --jieba-dict $f "$SRC/README.md"
    cat "$WAV" >a.txt
    try "$1" "$2" compare a.txt $f
    [ -r "$BERT/config.json" ] && try "$1" "$2" embed -q -m "$BERT" @$f && try "$1" "$2" search -q -m "$BERT" words $f
    try "$1" "$2" -q -m "$MODEL" $f
    try "$1" "$2" stream -q -m "$MODEL" $f
}

letter=a
readers line 1500000
readers zeros 1500000
for kind in lines newlines; do
    try $kind 1500000 generate -q -m "$LM" -n 1 --prompts -
    try $kind 1500000 -q -m "$MODEL" @-
    try $kind 1500000 tokenize -q -m "$LM" @/dev/stdin
done

# A FIFO without a writer is reported, and not waited for.
for args in "-q -m $MODEL @empty" "punctuate -q -m marks empty" "generate -q -m $LM -f empty"; do
    timeout 20 "$STENO" $args </dev/null >"$T/out" 2>"$T/err"
    code=$?
    case $code in 2 | 4) ;; *) bad "a FIFO without a writer is reported" "exit code $code (steno $args)" ;; esac
    err_has "no process writes to this FIFO"
done

SECONDS=0
while [ $SECONDS -lt "${1:-0}" ]; do
    letter=$(printf "\\$(printf %o $((33 + RANDOM % 90)))")
    case $((RANDOM % 3)) in 0) kind=line ;; 1) kind=zeros ;; 2) kind=line letter=$'\t' ;; esac
    readers $kind $((700000 + RANDOM * 40))
done

# At a limit: a line of as many bytes as may be is taken, one more is not.
line() { head -c "$1" /dev/zero | tr '\0' a; }
{ line 65536; echo; echo "$DIGITS"; } >list
expect 1 "a name of 65536 bytes is looked for, and the other is read" -q -m "$MODEL" @list
[ -s "$T/out" ] || bad "a list with a long name" "nothing is read"
{ line 65537; echo; echo "$DIGITS"; } >list
expect 4 "a longer one makes it no list" -q -m "$MODEL" @list
err_has "list: line 1 is longer than 65536 bytes"
printf '\xef\xbb\xbf%s\r\n' "$DIGITS" >list
expect 0 "a list with the mark of an editor" -q -m "$MODEL" @list
printf '\xff\xfea\0.\0w\0' >list
expect 4 "a list in UTF-16" -q -m "$MODEL" @list
err_has "save it as UTF-8"
printf '\xef\xbb\xbfone two\n' >marked
printf 'one two\n' >plain
"$STENO" punctuate -q -m marks marked >"$T/out" 2>&1
"$STENO" punctuate -q -m marks plain >want 2>&1
same "$T/out" want
"$STENO" tokenize -m "$LM" @marked >"$T/out" 2>&1
"$STENO" tokenize -m "$LM" @plain >want 2>&1
same "$T/out" want
{ line 16777217; echo; } >long
expect 1 "a line to punctuate of more than 16 MiB" punctuate -q -m marks long
err_has "long: line 1 is longer than 16777216 bytes"
printf 'he\0llo\n' >nul
IN=nul
expect 4 "a NUL in a line of a conversation" chat -q -m "$LM" -n 1
err_has "standard input: line 1 has a NUL byte"
out_empty
echo "$n runs"
finish
