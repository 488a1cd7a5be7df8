# steno: folders, lists and patterns as inputs. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
mkdir -p talks/old/older
for name in talks/b.wav talks/a.WAV talks/old/c.wav talks/old/older/d.wav "talks/with space.wav"; do cp "$DIGITS" "$name"; done
echo notes >talks/notes.txt
echo hidden >talks/.hidden.wav
inputs() { # inputs CLAIM NAMES ARGUMENT...: what results there are, in the order in which they were made
    local claim=$1 want=$2
    shift 2
    rm -rf out
    expect 0 "$claim" -m "$MODEL" -l zh -o out "$@"
    is "$claim: these, in order" "$(sed -n 's/^steno: \(.*\): wrote .*/\1/p' "$T/err" | tr '\n' '|')" "$want"
}
inputs "a folder" "talks/a.WAV|talks/b.wav|talks/with space.wav|" talks
inputs "with a slash" "talks/a.WAV|talks/b.wav|talks/with space.wav|" talks/
inputs "and those in it" "talks/a.WAV|talks/b.wav|talks/with space.wav|talks/old/c.wav|talks/old/older/d.wav|" --recursive talks
inputs "a pattern" "talks/b.wav|talks/with space.wav|" 'talks/*.wav'
inputs "a pattern over folders" "talks/old/c.wav|" 'talks/*/?.wav'
printf '# two, and a pattern\ntalks/b.wav\r\n\ntalks/with space.wav\ntalks/old/*.wav\n' >list
inputs "a list" "talks/b.wav|talks/with space.wav|talks/old/c.wav|" @list
IN=list inputs "a list on standard input" "talks/b.wav|talks/with space.wav|talks/old/c.wav|" @-
inputs "all sorts" "talks/old/older/d.wav|talks/b.wav|talks/with space.wav|talks/old/c.wav|" talks/old/older @list
cp "$DIGITS" '@name.wav' && cp "$DIGITS" 'a[1].wav'
inputs "files of such names are files" "@name.wav|a[1].wav|" '@name.wav' 'a[1].wav'

mkdir empty
expect 4 "a folder without sound" -q -m "$MODEL" -l zh empty
err_has "steno: empty: "
expect 4 "a pattern that nothing fits" -q -m "$MODEL" -l zh 'none*.wav'
err_has "steno: none*.wav: "
expect 4 "a list that is not there" -q -m "$MODEL" -l zh @none
err_has "steno: none: "
echo "# nothing" >nothing
expect 2 "a list of nothing" -q -m "$MODEL" -l zh @nothing
err_has "no input: the list is empty"
expect 2 "two results of one name" -q -m "$MODEL" -l zh -o out talks talks/b.wav
err_has "two inputs would be written as"
finish
