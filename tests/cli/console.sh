# steno: colours, styles and special tokens on a screen. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -m "$MODEL" -l zh "$@"
}
esc=$'\e'
plain() { sed "s/$esc\\[[0-9;]*m//g"; }

t 0 "the text is printed" "$DIGITS"
cp "$T/out" text
t 0 "colours are not sent to a file" --print-colors "$DIGITS"
same "$T/out" text
t 0 "--color always sends them anywhere" --print-colors --color always "$DIGITS"
cp "$T/out" colored
plain <colored >stripped
same stripped text
sed "s/$esc\\[0m/&\n/g" colored | grep -q "^$esc\\[38;5;\\(160\\|202\\|208\\|214\\|184\\|148\\|34\\)m" ||
    bad "a token has one of seven colours" "$(od -c colored | head -3)"
iconv -f UTF-8 -t UTF-8 <colored >/dev/null 2>&1 || bad "coloured text is valid UTF-8" "$(od -c colored | head -5)"
grep -qE "($(printf '\xe9')|$(printf '\xe9\x9b'))$esc" <(LC_ALL=C cat colored) && bad "no sequence stands inside a character" "one does"
t 0 "--print-confidence prints styles" --print-confidence --color always "$DIGITS"
LC_ALL=C grep -qE "$esc\\[[247]m" "$T/out" ||
    bad "a token is dim, underlined or inverse" "$(od -c "$T/out" | head -3)"
plain <"$T/out" >stripped
same stripped text
NO_COLOR=1 t 0 "--color always is more than NO_COLOR" --print-colors --color always "$DIGITS"
same "$T/out" colored

t 0 "special tokens are shown in the text" --print-special "$DIGITS"
is "the first line has its special tokens" "$(head -n 1 "$T/out")" "<|0.28|>$(head -n 1 text)<|2.40|>"
t 0 "special tokens and colours are not written into text files" -v --print-special --print-colors --color always "$DIGITS" -o out
same out/zh_phrases.txt text
t 0 "special tokens and colours are not written into tsv" -v --print-special --print-colors --color always "$DIGITS" -f tsv
grep -q "<|\|$esc" "$T/out" && bad "tsv has no special token and no colour" "it has"

expect 0 "-v shows times and text on standard error" -v -m "$MODEL" -l zh "$DIGITS" --print-colors --color always --print-special
plain <"$T/err" >stripped
grep -qF "[00:00.280 --> 00:02.400] <|0.28|>$(head -n 1 text)<|2.40|>" stripped ||
    bad "-v prints a segment with times, colours and special tokens" "$(cat stripped)"
"$STENO" -v -m "$MODEL" -l zh "$DIGITS" >both 2>&1
is "a text is printed once where both streams are one" "$(grep -c "$(head -n 1 text)" both)" 1
grep -qF "[00:00.280 --> 00:02.400] $(head -n 1 text)" both ||
    bad "the text stands behind its times where both streams are one" "$(cat both)"
expect 0 "--no-prints leaves nothing but text" --no-prints -m "$MODEL" "$DIGITS"
same "$T/out" text
err_lines 0

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    on_terminal() { # on_terminal ENVIRONMENT...: what a terminal receives
        env "$@" script -qec "'$STENO' -q -m '$MODEL' -l zh --print-colors '$DIGITS'" /dev/null </dev/null 2>&1 | tr -d '\r'
    }
    on_terminal TERM=xterm >screen
    same screen colored
    on_terminal TERM=xterm NO_COLOR=1 >screen
    same screen text
    on_terminal TERM=dumb >screen
    same screen text
else
    echo "(not tried: no terminal can be made here with the program script)"
fi
finish
