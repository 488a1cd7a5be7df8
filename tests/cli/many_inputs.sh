# steno: folders, lists and patterns as inputs. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
mkdir -p talks/old/older
for name in talks/b.wav talks/a.WAV talks/old/c.wav talks/old/older/d.wav "talks/with space.wav"; do cp "$DIGITS" "$name"; done
echo notes >talks/notes.txt
echo hidden >talks/.hidden.wav
inputs() { # inputs CLAIM NAMES ARGUMENT...: the results are NAMES, in the order in which they were written
    local claim=$1 want=$2
    shift 2
    rm -rf out
    expect 0 "$claim" -m "$MODEL" -l zh -o out "$@"
    is "$claim: the results are in order" "$(sed -n 's/^steno: \(.*\): wrote .*/\1/p' "$T/err" | tr '\n' '|')" "$want"
}
inputs "a folder's files are read" "talks/a.WAV|talks/b.wav|talks/with space.wav|" talks
inputs "a folder may have a slash at its end" "talks/a.WAV|talks/b.wav|talks/with space.wav|" talks/
inputs "--recursive reads the folders in a folder" \
    "talks/a.WAV|talks/b.wav|talks/with space.wav|talks/old/c.wav|talks/old/older/d.wav|" --recursive talks
inputs "a pattern is resolved" "talks/b.wav|talks/with space.wav|" 'talks/*.wav'
inputs "a pattern over folders is resolved" "talks/old/c.wav|" 'talks/*/?.wav'
printf '# two, and a pattern\ntalks/b.wav\r\n\ntalks/with space.wav\ntalks/old/*.wav\n' >list
inputs "a list is read" "talks/b.wav|talks/with space.wav|talks/old/c.wav|" @list
IN=list inputs "a list on standard input is read" "talks/b.wav|talks/with space.wav|talks/old/c.wav|" @-
inputs "a folder and a list are read one after the other" \
    "talks/old/older/d.wav|talks/b.wav|talks/with space.wav|talks/old/c.wav|" talks/old/older @list
cp "$DIGITS" '@name.wav' && cp "$DIGITS" 'a[1].wav'
inputs "files whose names begin with @ or hold brackets are read" "@name.wav|a[1].wav|" '@name.wav' 'a[1].wav'

mkdir empty
expect 4 "a folder without sound exits 4" -q -m "$MODEL" -l zh empty
err_has "steno: empty: "
expect 4 "a pattern without a file exits 4" -q -m "$MODEL" -l zh 'none*.wav'
err_has "steno: none*.wav: "
expect 4 "a missing list exits 4" -q -m "$MODEL" -l zh @none
err_has "steno: none: "
echo "# nothing" >nothing
expect 2 "a list without a name is refused" -q -m "$MODEL" -l zh @nothing
err_has "no input: the list is empty"
expect 4 "a folder as a list exits 4" -q -m "$MODEL" -l zh @talks
err_has "steno: talks: Is a directory"
expect 4 "a sound file as a list exits 4" -q -m "$MODEL" -l zh @talks/b.wav
err_has "steno: talks/b.wav: line 1 has a NUL byte: it is not a list of names"
printf 'talks/b.wav\ntalks/a\0.wav\n' >nul
IN=nul expect 4 "a NUL byte in a list on standard input exits 4" -q -m "$MODEL" -l zh @-
err_has "steno: standard input: line 2 has a NUL byte"

ln -s .. talks/old/back # a link to a folder above it
expect 0 "each folder is read once" -m "$MODEL" -l zh -o round --recursive --output-template "{n}.{format}" talks/old
is "the files in the folder and behind the link have results" "$(ls round | wc -l)" 5
rm talks/old/back
# deep N: sound in the N-th folder below deep
deep() {
    rm -rf deep out
    local path=deep$(printf '/d%.0s' $(seq "$1"))
    mkdir -p "$path"
    cp "$DIGITS" "$path/a.wav"
}
deep 30
inputs "files 30 folders deep are read" "$(find deep -name a.wav)|" --recursive deep
deep 31
inputs "files 31 folders deep are read" "$(find deep -name a.wav)|" --recursive deep
deep 32
expect 4 "files 32 folders deep exit 4" -q -m "$MODEL" -l zh --recursive deep
err_has "$(find deep -type d | tail -1): it lies more than 31 folders deep in deep; give it by itself"
deep 200
expect 4 "files 200 folders deep exit 4" -q -m "$MODEL" -l zh --recursive deep
err_has "it lies more than 31 folders deep in deep"
expect 2 "two results of one name are refused" -q -m "$MODEL" -l zh -o out talks talks/b.wav
err_has "two inputs would be written as"
finish
