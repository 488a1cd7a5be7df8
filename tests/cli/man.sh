# steno: the manual page and --help name the same options. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

section() { sed -n "/^\.SH $1/,/^\.SH/p" "$SRC/doc/steno.1"; }
verbs=$("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
[ "$(wc -w <<<"$verbs")" -gt 15 ] || bad "--help lists verbs" "$verbs"
for verb in $(sed 's/-/\\\\-/g' <<<"$verbs"); do
    section SYNOPSIS | grep -q "^\.B steno $verb\$" || bad "the synopsis has $verb" "it has not"
    section VERBS | grep -qE "^\.BR? $verb( |\$)" || bad "the verb $verb is explained" "it is not"
done

{
    "$STENO" --help
    for verb in $verbs; do
        "$STENO" $verb --help
        "$STENO" $verb --help-all
    done
} | grep -oE '^ {2,6}(-[a-zA-Z], )?--(\[no-\])?[a-z][a-z-]*' | sed -E 's/^ +//; s/^(-[a-zA-Z]), /\1 /' | sort -u >help
# The line after .TP is an option's heading: "-x", "--name" or both.
sed 's/\\-/-/g; s/\\f.//g' "$SRC/doc/steno.1" | awk '/^\.TP/ { getline; print }' |
    sed -nE 's/^\.[A-Z]+ +"?((-[a-zA-Z]) ", " )?(--(\[no-\])?[a-z][a-z-]*).*/\2 \3/p' | sed 's/^ //' | sort -u >man
[ "$(wc -l <help)" -gt 30 ] || bad "--help lists options" "$(cat help)"
diff help man >difference || bad "help (<) and manual page (>) name the same options" "$(cat difference)"

for verb in $verbs; do
    "$STENO" $verb --help-man >page || bad "$verb has a page" "exit code $?"
    head -2 page | grep -q "^\.TH STENO-$verb 1 " || bad "the page of $verb has a title" "$(head -2 page)"
    "$STENO" $verb --help-all | grep -oE '^ {2,6}(-[a-zA-Z], )?--(\[no-\])?[a-z][a-z-]*' | sed -E 's/^.*--(\[no-\])?//' >names
    for name in $(cat names); do
        grep -qF -- "$(sed 's/-/\\-/g' <<<"$name")\fR" page || bad "the page of $verb explains --$name" "it does not"
    done
    ! command -v groff >/dev/null || groff -man -Tutf8 -ww -W break page >/dev/null 2>warnings
    [ ! -s warnings ] || bad "the page of $verb is sound roff" "$(head -3 warnings)"
done

grep -q "steno $("$STENO" --version | cut -d' ' -f2)\"" "$SRC/doc/steno.1" || bad "the manual page has the program's version" "it has not"
for code in 0 1 2 3 4 5 6 7; do
    grep -q "^\.B $code\$" "$SRC/doc/steno.1" || bad "the manual page explains exit code $code" "it does not"
done
finish
