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
expect 4 "a folder as a list" -q -m "$MODEL" -l zh @talks
err_has "steno: talks: Is a directory"
expect 4 "sound as a list" -q -m "$MODEL" -l zh @talks/b.wav
err_has "steno: talks/b.wav: line 1 has a NUL byte: it is not a list of names"
printf 'talks/b.wav\ntalks/a\0.wav\n' >nul
IN=nul expect 4 "on standard input, too" -q -m "$MODEL" -l zh @-
err_has "steno: standard input: line 2 has a NUL byte"

ln -s .. talks/old/back # links that lead back to where they are
expect 0 "each folder once" -m "$MODEL" -l zh -o round --recursive --output-template "{n}.{format}" talks/old
is "what is in it, and where the link leads" "$(ls round | wc -l)" 5
rm talks/old/back
# deep N: sound in the N-th folder below deep
deep() {
    rm -rf deep out
    local path=deep$(printf '/d%.0s' $(seq "$1"))
    mkdir -p "$path"
    cp "$DIGITS" "$path/a.wav"
}
deep 30
inputs "30 folders deep" "$(find deep -name a.wav)|" --recursive deep
deep 31
inputs "31 folders deep" "$(find deep -name a.wav)|" --recursive deep
deep 32
expect 4 "32 folders deep" -q -m "$MODEL" -l zh --recursive deep
err_has "$(find deep -type d | tail -1): it lies more than 31 folders deep in deep; give it by itself"
deep 200
expect 4 "200 folders deep" -q -m "$MODEL" -l zh --recursive deep
err_has "it lies more than 31 folders deep in deep"
expect 2 "two results of one name" -q -m "$MODEL" -l zh -o out talks talks/b.wav
err_has "two inputs would be written as"
finish
