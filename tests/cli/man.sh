# steno: the manual page and --help name the same options. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

section() { sed -n "/^\.SH $1/,/^\.SH/p" "$SRC/doc/steno.1"; }
verbs=$("$STENO" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$verbs")" -gt 15 ] || bad "--help lists verbs" "$verbs"
for verb in $verbs; do
    section SYNOPSIS | grep -q "^\.B steno $verb\$" || bad "the synopsis has $verb" "it has not"
    section VERBS | grep -qE "^\.BR? $verb( |\$)" || bad "the verb $verb is explained" "it is not"
done

{
    "$STENO" --help
    for verb in $verbs; do
        "$STENO" $verb --help
    done
} | grep -oE '^ {2,6}(-[a-zA-Z], )?--(\[no-\])?[a-z][a-z-]*' | sed -E 's/^ +//; s/^(-[a-zA-Z]), /\1 /' | sort -u >help
# The line after .TP is an option's heading: "-x", "--name" or both.
sed 's/\\-/-/g; s/\\f.//g' "$SRC/doc/steno.1" | awk '/^\.TP/ { getline; print }' |
    sed -nE 's/^\.[A-Z]+ +"?((-[a-zA-Z]) ", " )?(--(\[no-\])?[a-z][a-z-]*).*/\2 \3/p' | sed 's/^ //' | sort -u >man
[ "$(wc -l <help)" -gt 30 ] || bad "--help lists options" "$(cat help)"
diff help man >difference || bad "help (<) and manual page (>) name the same options" "$(cat difference)"

grep -q "steno $("$STENO" --version | cut -d' ' -f2)\"" "$SRC/doc/steno.1" || bad "the manual page has the program's version" "it has not"
for code in 0 1 2 3 4 5 6; do
    grep -q "^\.B $code\$" "$SRC/doc/steno.1" || bad "the manual page explains exit code $code" "it does not"
done
finish
