# steno: a batch's tracks with a result each. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
. "$SRC/tests/cli/batch/lib_batch.sh"

names() { (cd "$1" && find . -type f | sort | sed 's,^\./,,' | tr '\n' ' '); }
results() { grep '^{"type": "transcript"' "$1"; }
joined() { "$STENO" batch --merge -i m.jsonl "$@" 2>/dev/null; }
audio() { # audio FILE: id, track, number of tracks, channel and number of channels of each line
    local n='\([a-z0-9]*\)'
    sed "s/.*\"id\": \"\([^\"]*\)\", \"class\".*\"track\": $n, \"tracks\": $n, \"channel\": $n, \"channels\": $n, .*/\1 \2 \3 \4 \5/" \
        "$1" | tr '\n' ';'
}

# names, for which no track is read
stereo 40000 >two.wav
head -c 60044 "$DIGITS" >one.wav
mkdir -p a b
cp two.wav a/x.wav
cp two.wav b/x.wav
cp two.wav a/x.track1.txt
cp two.wav a/x.track2.ch1.txt
printf 'a/x.track1.txt\na/x.wav\n' >m.jsonl
refused "a name of any track is not that of an input" "line 2 of the manifest: its result would be a/x.trackN.txt, which this run reads" \
    --audio-track all -f txt --output-dir a
printf 'a/x.wav\na/x.track1.txt\n' >m.jsonl
refused "a name of an input is not that of any track" "line 2 of the manifest: its result would be a/x.track1.txt, which is also" \
    --audio-track all -f txt --output-dir a
printf 'a/x.wav\na/x.track2.ch1.txt\n' >m.jsonl
refused "a name of an input is not that of a channel of any track" "its result would be a/x.track2.ch1.txt, which is also" \
    --audio-track all --channels split -f txt --output-dir a
printf 'a/x.wav\nb/x.wav\n' >m.jsonl
refused "tracks of two inputs with the same names are refused" "line 2 of the manifest: its result would be d/x.trackN.txt, as that" \
    --audio-track all -f txt --output-dir d
refused "and so are channels of tracks" "line 2 of the manifest: its result would be d/x.trackN.chN.txt, as that" \
    --audio-track all --channels split -f txt --output-dir d
printf 'a/x.track3\n' >m.jsonl
cp two.wav a/x.track3
refused "a name with another number of a track behind is refused" "where a second .track would be taken for the track" \
    --audio-track all -f txt --output-dir d --output-template '{stem}.{ext}.{format}'
for template in 'all.{format}' '{stem}/x.{format}' '{stem}{stem}.{format}'; do
    refused "tracks need {stem} in the last part, once: $template" "--audio-track all: put {stem} once into the last part" \
        --audio-track all -f txt --output-dir d --output-template "$template"
done
printf 'a/x.track1.txt\na/x.track2.ch1.txt\n' >m.jsonl
b 0 "names that only look like tracks are not mixed up" -o looks.jsonl --audio-track all -f srt --output-dir looks
is "each has its own" "$(names looks)" "x.track1.track1.srt x.track2.ch1.track1.srt "

# results
have_ffmpeg "a film with two tracks" || finish
FILM=$SRC/tests/data/audio/two_tracks.mkv # its first track has one channel, its second has two
cp "$FILM" film.mkv
cat >m.jsonl <<'M'
film.mkv
one.wav
{"path": "film.mkv", "id": "cut", "offset": 0.5, "duration": 1}
two.wav
M
both="--audio-track all --channels split"
b 0 "each track of an input has a result" -o tracks.jsonl --audio-track all -f txt,json --output-dir tracks
joined --ordered tracks.jsonl >all
is "a result has its track and their number" "$(audio all)" \
    "film.mkv 1 2 null null;film.mkv 2 2 null null;one.wav 1 1 null null;cut 1 2 null null;cut 2 2 null null;two.wav 1 1 null null;"
is "names have the track" "$(names tracks)" "$(echo cut.track{1,2}.{json,txt}) $(echo film.track{1,2}.{json,txt}) $(
    echo one.track1.{json,txt}) $(echo two.track1.{json,txt}) "
expect 0 "transcribe writes the files of each track" -q -t 1 -m "$MODEL" -l zh --audio-track all -f txt,json -o alone film.mkv one.wav
for file in alone/*; do same "$file" "tracks/${file#*/}"; done
cmp -s tracks/film.track1.txt tracks/film.track2.txt && bad "the tracks have texts of their own" "$(cat tracks/film.track1.txt)"
duration() { sed -n 's/.*"duration": \([0-9.]*\).*/\1/p'; }
sum=$(duration <all | awk '{ s += $1 } END { printf "%.2f", s }')
cut=$(grep '"id": "cut"' all | duration | awk '{ s += $1 - ($1 > 1 ? 1 : $1) } END { printf "%.2f", s }')
awk -v all="$(tail -1 tracks.jsonl | duration)" -v sum="$sum" -v cut="$cut" \
    'BEGIN { d = all - sum + cut; exit !(d > -0.05 && d < 0.05) }' || bad "the sums count each track" "$(tail -1 tracks.jsonl) $sum $cut"
b 0 "without all, the track of a result is known where one was chosen" -o mix.jsonl --audio-track 1
joined --ordered mix.jsonl >mix
is "it has no number of tracks" "$(audio mix)" \
    "film.mkv 1 null null null;one.wav 1 null null null;cut 1 null null null;two.wav 1 null null null;"
cp mix.jsonl other.jsonl
b 2 "a journal of single tracks is not continued with all" -o other.jsonl --resume --audio-track all
err_has "options of another run"

b 0 "each channel of each track has a result" -o both.jsonl $both -f txt,json --output-dir both
joined --ordered both.jsonl >each
is "a result has its track and its channel" "$(audio each)" \
    "film.mkv 1 2 0 1;film.mkv 2 2 0 2;film.mkv 2 2 1 2;one.wav 1 1 0 1;cut 1 2 0 1;cut 2 2 0 2;cut 2 2 1 2;$(
    )two.wav 1 1 0 2;two.wav 1 1 1 2;"
expect 0 "transcribe writes the files of each channel" -q -t 1 -m "$MODEL" -l zh $both -f txt,json -o apart film.mkv two.wav
for file in apart/*; do same "$file" "both/${file#*/}"; done

# a result of several lines is whole or not there
for b in "-b 3" "-b 2 --ordered" "--isolate --jobs 2"; do
    rm -rf part.jsonl files
    b 0 "tracks and channels are equal with $b" -o part.jsonl $both $b -f txt,json --output-dir files
    joined --ordered part.jsonl >part
    same part each
    same_tree "files are equal with $b" both files
done
for i in 0 1 2; do b 0 "part $i of 3 has its tracks" -o "s$i.jsonl" $both --shard $i/3; done
joined --ordered s0.jsonl s1.jsonl s2.jsonl >part
same part each
for lines in $(seq 3 14); do # the journal is cut at each line, also between the tracks and channels of an input
    head -n $lines both.jsonl >cut.jsonl
    [ $((lines % 2)) = 0 ] && printf '{"type": "transc' >>cut.jsonl
    b 0 "a journal cut after $lines lines is continued" -o cut.jsonl $both --resume -f txt,json --output-dir both
    joined --ordered cut.jsonl >part
    same part each
    is "nothing is written twice, $lines lines" "$(results cut.jsonl | wc -l)" "$(wc -l <each)"
done
for last in '"track": 1, "tracks": 2, "channel": 0' '"track": 2, "tracks": 2, "channel": 0'; do
    n=$(grep -n "$last" both.jsonl | head -1 | cut -d: -f1)
    head -n "$n" both.jsonl >half.jsonl
    expect 1 "--merge does not count a part of the tracks" batch --merge -i m.jsonl half.jsonl
    err_has "film.mkv: no result"
done
for lost in '"track": 1, "tracks": 2, "channel": 0' '"track": 2, "tracks": 2, "channel": 0' '"track": 2, "tracks": 2, "channel": 1'; do
    n=$(grep -n "\"id\": \"film.mkv\".*$lost" both.jsonl | cut -d: -f1)
    sed "${n}d" both.jsonl >gap.jsonl
    expect 1 "--merge finds that a line is missing: $lost" batch --merge -i m.jsonl gap.jsonl
    err_has "film.mkv: no result"
done

mkdir -p files/film.track2.srt
printf 'film.mkv\none.wav\n' >m.jsonl
b 1 "an input fails if one of its tracks does" -o failed.jsonl --audio-track all -f srt --output-dir files --retries 0
joined --ordered failed.jsonl >part
is "a failure is the one result of its input" "$(audio part)" "film.mkv null null null null;one.wav 1 1 null null;"
rmdir files/film.track2.srt
b 0 "--retry-failed gives all tracks" -o failed.jsonl --audio-track all -f srt --output-dir files --retries 0 --resume --retry-failed
joined --ordered failed.jsonl >part
is "each track has a result" "$(audio part)" "film.mkv 1 2 null null;film.mkv 2 2 null null;one.wav 1 1 null null;"
b 1 "a channel that a track lacks fails its input" -o lacks.jsonl --audio-track all --channels 1
results lacks.jsonl | grep -q '"id": "film.mkv", "class": "input".*its last channel is 0' ||
    bad "the failure has its reason" "$(cat lacks.jsonl)"
finish
