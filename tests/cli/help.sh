# steno: help and version. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

expect 0 "no arguments print one screen of help on standard output"
out_has "Usage: steno"
err_lines 0
[ "$(wc -l <"$T/out")" -le 40 ] || bad "help fits a screen" "$(wc -l <"$T/out") lines"
awk 'length > 80 { bad = 1 } END { exit bad }' "$T/out" || bad "help fits 80 columns" "$(awk 'length > 80' "$T/out")"
expect 0 "--help prints the same help" --help
out_has "transcribe"

for verb in transcribe translate detect info bench doctor; do
    expect 0 "$verb --help prints the verb's options" "$verb" --help
    out_has "Usage: steno $verb"
    out_has "--help"
    err_lines 0
    awk 'length > 80 { bad = 1 } END { exit bad }' "$T/out" || bad "$verb --help fits 80 columns" "$(awk 'length > 80' "$T/out")"
done
expect 0 "help shows defaults" transcribe --help
out_has "(default: 0.6)"
expect 0 "-h behind other options prints help" a.wav -l en -h
out_has "Usage: steno transcribe"

expect 0 "--version prints name and version" --version
grep -qE '^steno [0-9]+\.[0-9]+\.[0-9]+$' "$T/out" || bad "the version is a version" "$(cat "$T/out")"

"$STENO" --help >&- 2>"$T/err"
is "help that cannot be written exits 6" $? 6
"$STENO" --version >/dev/full 2>"$T/err"
is "a version that cannot be written exits 6" $? 6
finish
