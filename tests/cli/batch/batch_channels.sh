# steno: a batch's channels with a result each, and all words in the names of its files. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
. "$SRC/tests/cli/batch/lib_batch.sh"

names() { (cd "$1" && find . -type f | sort | sed 's,^\./,,' | tr '\n' ' '); }
results() { grep '^{"type": "transcript"' "$1"; }
joined() { "$STENO" batch --merge -i m.jsonl "$@" 2>/dev/null; }
channels() { # channels FILE: id, channel and number of channels of each line
    sed 's/.*"id": "\([^"]*\)", "class".*"channel": \([a-z0-9]*\), "channels": \([a-z0-9]*\), "manifest.*/\1 \2 \3/' "$1" | tr '\n' ';'
}

stereo 40000 >two.wav
head -c 60044 "$DIGITS" >one.wav
cat >m.jsonl <<'M'
two.wav
one.wav
{"path": "two.wav", "id": "right", "channel": 1}
{"path": "two.wav", "id": "cut", "offset": 0.5, "duration": 3}
M
b 0 "each channel of an input has a result" -o split.jsonl --channels split -f txt,json --output-dir split
joined --ordered split.jsonl >all
is "a result has its channel and their number" "$(channels all)" \
    "two.wav 0 2;two.wav 1 2;one.wav 0 1;right 1 null;cut 0 2;cut 1 2;"
is "names have the channel, unless the manifest chooses it" "$(names split)" \
    "cut.ch0.json cut.ch0.txt cut.ch1.json cut.ch1.txt one.ch0.json one.ch0.txt right.json right.txt $(
    echo two.ch{0,1}.{json,txt}) "
expect 0 "transcribe writes the files of each channel" -q -t 1 -m "$MODEL" -l zh --channels split -f txt,json -o alone two.wav one.wav
for file in alone/*; do same "$file" "split/${file#*/}"; done
cmp -s split/two.ch0.txt split/two.ch1.txt && bad "the channels have texts of their own" "$(cat split/two.ch0.txt)"
same split/two.ch1.txt split/right.txt
is "the sums count inputs, and the audio of all channels" "$(tail -1 split.jsonl | grep -o '"inputs.*failed": 0')" \
    '"inputs": 4, "ok": 4, "empty": 0, "failed": 0'
expect 0 "transcribe gives the audio of both channels" -q -t 1 -m "$MODEL" -l zh -f jsonl two.wav
duration() { sed -n 's/.*"duration": \([0-9.]*\).*/\1/p'; }
awk -v all="$(tail -1 split.jsonl | duration)" -v two="$(duration <"$T/out")" \
    'BEGIN { exit !(all > 3 * two + 6 && all < 3 * two + 8.5) }' || bad "the sums count each channel" "$(tail -1 split.jsonl)"

b 0 "without split, the channel of a result is known where one was chosen" -o mix.jsonl
joined --ordered mix.jsonl >mix
is "the mix has no number" "$(channels mix)" "two.wav null null;one.wav null null;right 1 null;cut null null;"
cp mix.jsonl other.jsonl
b 2 "a journal of mixes is not continued with channels" -o other.jsonl --resume --channels split
err_has "options of another run"

# a result of several lines is whole or not there
for ordered in "" --ordered; do
    for b in 1 3; do
        rm -f part.jsonl
        b 0 "channels are equal with -b $b $ordered" -o part.jsonl --channels split -b $b $ordered
        joined --ordered part.jsonl >part
        same part all
    done
done
b 0 "isolated processes give the same channels" -o isolated.jsonl --channels split -f txt,json --output-dir isolated --isolate --jobs 2
joined --ordered isolated.jsonl >part
same part all
same_tree "isolated processes write the same files of channels" split isolated
for i in 0 1 2; do b 0 "part $i of 3 has its channels" -o "s$i.jsonl" --channels split --shard $i/3; done
joined --ordered s0.jsonl s1.jsonl s2.jsonl >part
same part all
joined s0.jsonl s1.jsonl s2.jsonl | sort >part
sort all >sorted
same part sorted
for lines in 3 4 5 6 7 8; do # the journal is cut at each line, also between the channels of an input
    head -n $lines split.jsonl >cut.jsonl
    [ $((lines % 2)) = 0 ] && printf '{"type": "transc' >>cut.jsonl
    b 0 "a journal cut after $lines lines is continued" -o cut.jsonl --channels split --resume -f txt,json --output-dir split
    joined --ordered cut.jsonl >part
    same part all
    is "no channel is written twice, $lines lines" "$(results cut.jsonl | wc -l)" "$(wc -l <all)"
done
n=$(grep -n '"channel": 0, "channels": 2' split.jsonl | head -1 | cut -d: -f1)
head -n "$n" split.jsonl >half.jsonl
expect 1 "--merge does not count a part of the channels" batch --merge -i m.jsonl half.jsonl
err_has "two.wav: no result"
out_empty

cp one.wav gone.wav
printf 'two.wav\ngone.wav\n' >m.jsonl
mkdir -p files/two.ch1.srt
b 1 "an input fails if one of its channels does" -o failed.jsonl --channels split -f srt --output-dir files --retries 0
joined --ordered failed.jsonl >part
is "a failure is the one result of its input" "$(channels part)" "two.wav null null;gone.wav 0 1;"
results failed.jsonl | grep -q '"id": "two.wav".*"class": "io"' || bad "the failure has its class" "$(results failed.jsonl | cut -c1-200)"
rmdir files/two.ch1.srt
b 0 "--retry-failed gives all channels" -o failed.jsonl --channels split -f srt --output-dir files --retries 0 --resume --retry-failed
joined --ordered failed.jsonl >part
is "each channel has a result" "$(channels part)" "two.wav 0 2;two.wav 1 2;gone.wav 0 1;"

# names are compared without knowing the number of channels
mkdir -p a b
cp two.wav a/x.wav
cp two.wav a/x.ch1.txt
printf 'a/x.ch1.txt\na/x.wav\n' >m.jsonl
refused "a name of any channel is not that of an input" "line 2 of the manifest: its result would be a/x.chN.txt, which this run reads" \
    --channels split -f txt --output-dir a
printf 'a/x.wav\na/x.ch1.txt\n' >m.jsonl
refused "a name of an input is not that of any channel" "line 2 of the manifest: its result would be a/x.ch1.txt, which is also" \
    --channels split -f txt --output-dir a
cp two.wav b/x.wav
printf 'a/x.wav\nb/x.wav\n' >m.jsonl
refused "channels of two inputs with the same names are refused" "line 2 of the manifest: its result would be d/x.chN.txt, as that" \
    --channels split -f txt --output-dir d
printf '%s\n' a/x.wav '{"path": "b/x.wav", "id": "x.ch1", "channel": 0}' >m.jsonl
refused "a channel and a single result with the same name are refused" "d/x.ch1.txt, as that of an earlier line" \
    --channels split -f txt --output-dir d
printf '%s\n' '{"path": "b/x.wav", "id": "x.ch0", "channel": 0}' '{"path": "b/x.wav", "id": "x.ch1", "channel": 1}' b/x.wav >m.jsonl
refused "the order of such lines does not matter" "line 3 of the manifest: its result would be d/x.chN.txt, as that of an earlier" \
    --channels split -f txt --output-dir d
printf '%s\n' '{"path": "b/x.wav", "id": "x.ch0", "channel": 0}' '{"path": "b/x.wav", "id": "x.ch1", "channel": 1}' a/x.ch1.txt >m.jsonl
b 0 "names that only look like channels are not mixed up" -o looks.jsonl --channels split -f srt --output-dir looks
is "each has its own" "$(names looks)" "x.ch0.srt x.ch1.ch0.srt x.ch1.ch1.srt x.ch1.srt "
for template in 'all.{format}' '{stem}/x.{format}' '{stem}{stem}.{format}'; do
    refused "channels need {stem} in the last part, once: $template" "put {stem} once into the last part" \
        --channels split -f txt --output-dir d --output-template "$template"
done
printf 'a/x.ch3\n' >m.jsonl
cp two.wav a/x.ch3
refused "a name with another number of a channel behind is refused" "where a second .ch would be taken for the channel" \
    --channels split -f txt --output-dir d --output-template '{stem}.{ext}.{format}'

# all words of names
printf '%s\n' a/x.wav '' b/x.wav '{"path": "one.wav", "id": "third"}' >m.jsonl
b 0 "names have the number in the manifest" -o n.jsonl -f txt --output-dir n --output-template '{n}.{format}'
is "numbers count inputs" "$(names n)" "1.txt 2.txt 3.txt "
for i in 0 1; do
    b 0 "part $i has the numbers of the manifest" -o "n$i.jsonl" --shard $i/2 -f txt --output-dir ns --output-template '{n}.{format}'
done
same_tree "parts write the files of one run" n ns
b 0 "isolated processes have the numbers of the manifest" -o ni.jsonl -f txt --output-dir ni --isolate --jobs 2 \
    --output-template '{n}.{format}'
same_tree "isolated processes write the files of one run" n ni
echo two.wav >>m.jsonl
b 0 "a manifest that grew keeps its numbers" -o n.jsonl --resume -f txt --output-dir n --output-template '{n}.{format}'
is "the new input has the next number" "$(names n)" "1.txt 2.txt 3.txt 4.txt "
"$STENO" batch -q -t 1 -m "$MODEL" -l zh -i - -o refused.jsonl -f txt --output-dir d --output-template '{n}.txt' <m.jsonl 2>"$T/err"
is "{n} is refused for a pipe" $? 2
err_has "{n} needs a manifest that is a file"
rm -f refused.jsonl
b 0 "names have the model" -o model.jsonl -f txt --output-dir model --output-template '{model}-{n}.{format}'
expect 0 "transcribe has the same name of the model" -q -t 1 -m "$MODEL" -l zh -f txt -o model1 --output-template '{model}.{format}' one.wav
is "the name of the model is that of transcribe" "$(ls model | sed 's/-[0-9].*//' | sort -u)" "$(basename model1/* .txt)"
cp "$MODEL" other.bin
expect 2 "a journal with the name of another model is refused" batch -q -t 1 -m other.bin -l zh -i m.jsonl -o model.jsonl --resume -f txt \
    --output-dir model --output-template '{model}-{n}.{format}'
err_has "options of another run"

template='{date}_{time}/{stem}-{n}.{format}'
b 0 "names have the time when the journal was begun" -o time.jsonl -f txt --output-dir time --output-template "$template"
begun=$(head -1 time.jsonl | sed 's/.*"begun": "\([^"]*\)".*/\1/')
is "it is in the header" "$(ls time)" "$(echo "$begun" | tr T: _-)"
sed -i 's/"begun": "[^"]*"/"begun": "2026-03-01T14:05:59"/' time.jsonl
head -n 5 time.jsonl >resumed.jsonl
b 0 "a resumed batch keeps the time of its journal" -o resumed.jsonl --resume -f txt --output-dir time --output-template "$template"
[ "$(ls time | head -1)" = 2026-03-01_14-05-59 ] || bad "later files have the first time" "$(ls time)"
sed 's/"begun": "[^"]*"/"begun": "..\/..\/..\/..\/..\/..\/a"/' time.jsonl | head -n 5 >foreign.jsonl
b 2 "a time that is none is not used" -o foreign.jsonl --resume -f txt --output-dir time --output-template "$template"
err_has "it began at the time of another run"
: >empty.jsonl
b 0 "an empty journal begins now" -o empty.jsonl --resume -f txt --output-dir empty --output-template "$template"
[ "$(ls empty)" \> 2026-03-01_14-05-59 ] || bad "the time is that of the new journal" "$(ls empty)"
finish
