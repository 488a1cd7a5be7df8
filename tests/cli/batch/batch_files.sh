# steno: files of a batch's results, beside its JSON lines. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
. "$SRC/tests/cli/batch/lib_batch.sh"

results() { grep -c '^{"type": "transcript"' "$1"; }

mkdir a b
head -c 60044 "$DIGITS" >a/one.wav
head -c 40044 "$DIGITS" >b/one.wav
long_speech 3 >a/two.wav
cat >m.jsonl <<'M'
a/one.wav
{"path": "b/one.wav", "id": "calls/7"}
{"path": "a/two.wav", "offset": 1, "duration": 2.5}
M
names="calls-7 a-two.wav#t=1.0 one"
b 0 "files are written beside the JSON lines" -o one.jsonl -f srt,json --output-dir files --max-line-width 12
is "each input has a line" "$(results one.jsonl)" 3
is "each input has a file of each format" "$(find files -type f | wc -l)" 6
for name in $names; do [ -s "files/$name.srt" ] || bad "an input without a stem of its own is named by its id: $name" "$(ls files)"; done
expect 0 "transcribe writes the file of a single input" -q -t 1 -m "$MODEL" -l zh -f srt,json --max-line-width 12 -o alone a/one.wav
same alone/one.srt files/one.srt
same alone/one.json files/one.json
b 0 "the input's own folder takes the files" -o beside.jsonl -f txt --output-dir @ --output-template '{stem}-text.{format}'
[ -s a/one-text.txt ] && [ -s b/calls-7-text.txt ] || bad "files are beside their inputs" "$(ls a b)"

# names are compared before work begins
cp m.jsonl m.keep
printf 'a/one.wav\na/two.wav\nb/one.wav\n' >m.jsonl
refused "two results with the same name are refused" "line 3 of the manifest: its result would be d/one.srt, as that of an earlier line" \
    -f srt --output-dir d
refused "a name in another shard counts, too" "line 3 of the manifest" -f srt --output-dir d --shard 0/64
b 0 "folders of the inputs keep names apart" -o apart.jsonl -f srt --output-dir apart --output-template '{dir}/{stem}.{format}'
is "files are in folders like the inputs'" "$(cd apart && find . -type f | sort | tr '\n' ' ')" "./a/one.srt ./a/two.srt ./b/one.srt "
cp m.keep m.jsonl
refused "a name of an input is refused" "a/one.wav, which this run reads or writes itself" -f srt --output-dir @ \
    --output-template '{stem}.{ext}'
ln -s a linked
refused "a name of an input is found through a link" "which this run reads or writes itself" -f srt --output-dir linked \
    --output-template '{stem}.{ext}'
refused "the journal's name is refused" "./refused.jsonl, which this run reads or writes itself" -f jsonl --output-dir . \
    --output-template 'refused.jsonl'
refused "two formats with the same names are refused" "put {format} into --output-template" -f srt,vtt --output-dir d \
    --output-template '{stem}'
refused "a name of unknown words is refused" "{hour} is unknown; it takes {stem}, {ext}, {format}" -f srt --output-dir d \
    --output-template '{stem}-{hour}.srt'
refused "formats without a folder are refused" "--output-dir DIR" -f srt
refused "a folder without formats is refused" "needs the formats" --output-dir d
refused "subtitle options without subtitles are refused" "add -f srt" -f txt --output-dir d --max-line-width 12
"$STENO" batch -q -t 1 -m "$MODEL" -l zh -i - -o pipe.jsonl -f srt --output-dir pipe 2>"$T/err" < <(printf 'a/one.wav\nb/one.wav\n')
is "a manifest on a pipe ends where a name occurs twice" $? 2
err_has "line 2 of the manifest"

# a file that cannot be written
mkdir -p full/calls-7.srt
b 1 "an input whose file cannot be written has failed" -o full.jsonl -f srt --output-dir full --retries 0
err_has "calls/7: cannot write full/calls-7.srt"
grep -q '"id": "calls/7", "class": "io", "retryable": true' full.jsonl ||
    bad "it has the class io" "$(grep '"id": "calls' full.jsonl | cut -c1-300)"
is "the other inputs have their files" "$(find full -type f | wc -l)" 2
rmdir full/calls-7.srt
b 0 "--retry-failed writes the file" -o full.jsonl -f srt --output-dir full --retries 0 --resume --retry-failed
is "all inputs have their files" "$(find full -type f | wc -l)" 3
b 2 "a journal is continued with the same formats only" -o full.jsonl -f vtt --output-dir full --resume

# two processes share the folder, and are killed at random
n_files=40
RANDOM=${SEED-$(date +%N | sed 's/^0*//')}
echo "seed $RANDOM"
for k in 1 2 3 4; do head -c $((44 + 8000 * k)) "$DIGITS" >"$k.wav"; done
for ((i = 0; i < n_files; i++)); do echo "{\"path\": \"$((i % 4 + 1)).wav\", \"id\": \"file $i\"}"; done >m.jsonl
b 0 "a batch in one process writes all files" -o whole.jsonl -f srt,json --output-dir whole -b 2
is "each input has its files" "$(find whole -type f | wc -l)" $((2 * n_files))
shard() { # shard I: a part of two, killed until it ends by itself
    local pid tries=0
    while :; do
        "$STENO" batch -q -t 1 -m "$MODEL" -l zh -i m.jsonl -o "s$1.jsonl" --shard "$1/2" -f srt,json --output-dir shared -b 2 --resume \
            --retries 100 2>/dev/null &
        pid=$!
        if [ $((tries++)) -lt 4 ]; then
            sleep "0.$((RANDOM % 90 + 10))"
            kill -9 $pid 2>/dev/null
        fi
        wait $pid 2>/dev/null && break
    done
}
shard 0 &
shard 1
wait
same_tree "processes that were killed leave the files of an uninterrupted run" whole shared
is "each input has one line" "$(cat s0.jsonl s1.jsonl | grep -c '^{"type": "transcript"')" $n_files
b 0 "workers of --isolate write the same files" -o isolated.jsonl -f srt,json --output-dir isolated --isolate --jobs 2
same_tree "workers of --isolate write the same files" whole isolated
finish
