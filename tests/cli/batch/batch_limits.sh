# steno: limits of a batch: ids, lines, parts, manifests without inputs, and files that are no journals. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
head -c 20044 "$DIGITS" >f.wav
b() { # b CODE CLAIM MANIFEST ARGUMENT...: a batch into out.jsonl
    rm -rf out.jsonl
    expect "$1" "$2" batch -q -t 1 -m "$MODEL" -l zh -o out.jsonl -i "${@:3}"
}
many() { printf "%$1s" | tr ' ' x; }
lines() { grep -c "^{\"type\": \"$1\"" out.jsonl; } # lines TYPE
ids() { grep -o '"type": "transcript", [^{]*"id": "[^"]*' out.jsonl | sed 's/.*"id": "//'; }
again() { expect 0 "$1 by --resume" batch -q -t 1 -m "$MODEL" -l zh -o out.jsonl -i "$2" --resume; }

echo "{\"path\": \"f.wav\", \"id\": \"$(many 4096)\"}" >m
b 0 "an id of 4096 bytes is accepted" m
again "the id of 4096 bytes is found" m
is "the id of the result has 4096 bytes" "$(ids)" "$(many 4096)"
is "the input with a long id was transcribed once" "$(lines begin)" 1
expect 0 "--merge finds the id of 4096 bytes" batch --merge -i m out.jsonl
echo "{\"path\": \"f.wav\", \"id\": \"$(many 4097)\"}" >m
b 2 "an id of 4097 bytes is refused" m
err_has "m: line 1 has an id of 0 or of more than 4096 bytes"

line='{"path": "f.wav", "more": ""}'
echo "${line%??}$(many $(((1 << 20) - ${#line})))\"}" >m
b 0 "a line of 1 MiB is accepted" m
is "the members of a line of 1 MiB are copied" "$(($(grep '"transcript"' out.jsonl | wc -c) > 1 << 20))" 1
again "the result of a line of 1 MiB is read" m
is "the input with a long line was transcribed once" "$(lines begin)" 1
expect 0 "--merge copies the result of a line of 1 MiB" batch --merge -i m out.jsonl
echo "${line%??}$(many $(((1 << 20) - ${#line} + 1)))\"}" >m
b 2 "a line longer than 1 MiB is refused" m
err_has "m: line 1 is longer than 1048576 bytes"

: >m
b 0 "an empty manifest is accepted" m
is "the journal of an empty manifest has a header" "$(wc -l <out.jsonl)" 1
again "the journal of an empty manifest is accepted" m
is "the journal of an empty manifest has its header alone" "$(wc -l <out.jsonl)" 1
expect 0 "--merge of an empty manifest prints nothing" batch --merge -i m out.jsonl
out_empty
printf '\n\r\n \t\n\n' >m
b 0 "a manifest of blank lines is accepted" m
is "the journal of blank lines has a header" "$(wc -l <out.jsonl)" 1
printf '\xef\xbb\xbff.wav\r\n{"path": "f.wav", "id": "b"}\r\n\r\nf.wav#' >m
b 1 "a byte order mark, CRLF and a last line without end are accepted" m --retries 0
is "a byte order mark and CRLF are in no id" "$(ids | tr '\n' ' ')" "f.wav b f.wav# "
printf 'f.wav\nf\0.wav\n' >m
b 2 "a NUL byte in a manifest is refused" m
err_has "m: line 2 has a NUL byte"
printf '\xff\xfef\0.\0' >m
b 2 "a manifest in UTF-16 is refused" m
err_has "it seems to be UTF-16"
[ ! -e out.jsonl ] || bad "a refused manifest writes no journal" "$(head -c 100 out.jsonl)"
mkdir folder
b 4 "a folder is refused as the manifest" folder

# The largest number of parts: SHA-256 of "b" begins with 3e23e8160039594a, which is 4477677635727087946.
echo '{"path": "f.wav", "id": "b"}' >m
b 0 "part 87946 of 1000000 is transcribed" m --shard 87946/1000000
is "part 87946 has the input" "$(lines transcript)" 1
for shard in 87945 87947 0 999999; do
    b 0 "part $shard is empty" m --shard $shard/1000000
    is "part $shard has a header and no input" "$(lines begin) $(lines job)" "0 1"
done

expect 6 "a folder is refused as the journal" batch -q -m "$MODEL" -i m -o folder
err_has "folder: cannot write"
expect 4 "--merge refuses a folder as a journal" batch --merge -i m folder
err_has "folder: Is a directory"
expect 4 "--merge reports a missing journal" batch --merge -i m none.jsonl
for endless in /dev/zero /dev/stdin; do
    IN=/dev/zero expect 4 "--merge refuses $endless, which has no end, as a journal" batch --merge -i m $endless
    err_has "$endless: is not a regular file"
done
mkfifo pipe
head -c 1000000 /dev/zero | tr '\0' a >pipe &
expect 4 "--merge refuses a pipe as a journal" batch --merge -i m pipe
err_has "pipe: is not a regular file"
wait
finish
