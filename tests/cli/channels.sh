# steno: channels apart, and who speaks on which. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -m "$MODEL" -l zh "$@"
}

t 0 "the phrases of the mix are transcribed" "$DIGITS" -f tsv
is "the mix has three phrases" "$(wc -l <"$T/out")" 4
cut -f3 "$T/out" | tail -n +2 >phrases
middle=$(($(awk 'NR == 2 { end = $2 } NR == 3 { print int((end + $1) / 2) }' "$T/out") * 16)) # between the first and the second
stereo $middle >two.wav
is "the stereo file has the phrases' length" "$(stat -c %s two.wav)" $((($(stat -c %s "$DIGITS") - 44) * 2 + 44))

t 0 "--channels 0 is transcribed" --channels 0 two.wav
cp "$T/out" left
is "the first channel has the first phrase" "$(cat left)" "$(sed -n 1p phrases)"
err_lines 0
t 0 "--channels 1 is transcribed" --channels 1 two.wav
cp "$T/out" right
is "the second channel has the other phrases" "$(cat right)" "$(sed 1d phrases)"
t 0 "--channels mix is transcribed" --channels mix two.wav -f json
cp "$T/out" mix
t 0 "the mix is the default" two.wav -f json
same "$T/out" mix

t 0 "--channels split prints both channels, one after the other" --channels split two.wav
cat left right >both
same "$T/out" both
is "--channels split prints a line for each channel" "$(cat "$T/err")" "steno: two.wav: channel 0, the last is 1
steno: two.wav: channel 1, the last is 1"
t 0 "-q prints no line for channels" -q --channels split two.wav
same "$T/out" both
err_lines 0
IN=two.wav t 0 "--channels split reads a file on standard input" -q --channels split -
same "$T/out" both
cat two.wav | "$STENO" -q -m "$MODEL" -l zh --channels split - >piped 2>"$T/err"
is "--channels split reads a pipe" $? 0
same piped both
t 0 "--channels split writes files of each channel" --channels split two.wav -f txt,srt -o split
is "the names of files have the channel" "$(cd split && echo *)" "two.ch0.srt two.ch0.txt two.ch1.srt two.ch1.txt"
same split/two.ch0.txt left
same split/two.ch1.txt right
out_empty
is "the files of each channel are reported" "$(cat "$T/err")" "steno: two.wav: wrote split/two.ch0.txt, split/two.ch0.srt
steno: two.wav: wrote split/two.ch1.txt, split/two.ch1.srt"
t 0 "a template's stem has the channel" --channels split two.wav -o named --output-template "{language}/{stem}-x.{format}"
is "the template's names have the channel" "$(cd named && echo */*)" "zh/two.ch0-x.txt zh/two.ch1-x.txt"
t 2 "a template without a stem cannot keep channels apart" --channels split two.wav -o none --output-template all.{format}
err_has "put {stem} into --output-template"
mkdir inputs
cp two.wav inputs/a.wav
cp "$DIGITS" inputs/a.ch1.txt
t 2 "a channel's result never replaces an input" --channels split inputs/a.wav inputs/a.ch1.txt -o inputs
err_has "inputs/a.ch1.txt is an input and would be overwritten"
same inputs/a.ch1.txt "$DIGITS"
t 0 "--channels split writes one file for a file with one channel" --channels split "$DIGITS" -o split
is "the name of its file has channel 0" "$(cd split && echo zh*)" zh_phrases.ch0.txt
same split/zh_phrases.ch0.txt phrases
t 0 "jsonl has a line for each channel" -q --channels split two.wav -f jsonl
is "jsonl has the job and two lines" "$(wc -l <"$T/out")" 3

t 2 "a channel that no file has is refused" --channels 2 two.wav
err_has "two.wav: --channels 2: the last channel is 1"
out_empty
t 1 "files without the channel fail, and the others are written" --channels 1 "$DIGITS" two.wav -f jsonl
err_has "zh_phrases.wav: --channels 1: the last channel is 0"
is "each input has a line of jsonl" "$(grep -o '"status": "[a-z]*"' "$T/out" | tr '\n' ' ')" '"status": "error" "status": "ok" '
t 4 "a missing channel and a missing file exit 4" --channels 1 "$DIGITS" none.wav
for c in -1 x 1x " 1" 99999999999 splits; do
    expect 2 "--channels '$c' is refused" a.wav --channels "$c"
    err_has "--channels"
    err_lines 1
done

t 0 "--diarize prints the speaker of each phrase" -q --diarize two.wav
is "the first phrase is speaker 0's, the others are speaker 1's" "$(cut -d')' -f1 "$T/out" | tr '\n' ';')" \
    "(speaker 0;(speaker 1;(speaker 1;"
cp "$T/out" spoken
cut -d')' -f2- spoken | sed 's/^ //' >text
t 0 "the text is that of the mix" -q two.wav
same "$T/out" text
t 0 "-v --diarize writes the speakers beside the times" -q -v --diarize two.wav -o diarized
grep -q '\] (speaker 0) ' "$T/err" || bad "times are followed by the speaker" "$(cat "$T/err")"
t 0 "every format has the speakers" -q --diarize two.wav -f txt,srt,vtt,tsv,json,verbose_json,jsonl,csv,lrc,ass -o who
for f in txt srt tsv csv lrc ass; do # by label, column or both
    tr '\t' ',' <who/two.$f >line
    grep -qE '\(speaker 0\) |^[0-9]+,[0-9]+,0,' line && grep -qE '\(speaker 1\) |^[0-9]+,[0-9]+,1,' line ||
        bad "$f has the speakers" "$(cat who/two.$f)"
done
grep -q '<v Speaker0>' who/two.vtt && grep -q '<v Speaker1>' who/two.vtt || bad "vtt has the speakers" "$(cat who/two.vtt)"
for f in json verbose_json jsonl; do
    grep -q '"speaker": 0.*"speaker": 1' who/two.$f || bad "$f has the speakers" "$(cat who/two.$f)"
done

# The second speaker begins in the middle of the first phrase.
t 0 "the phrases have times of words" -q --word-timestamps -f json "$DIGITS"
within=$(grep -oE '"words": \[[^]]*' "$T/out" | head -n 1 | grep -oE '"start": [0-9.]+' | awk 'NR == 3 { print int($2 * 16000) }')
stereo "$within" >within.wav
for times in --word-timestamps --no-word-timestamps; do
    t 0 "a segment of both speakers becomes two, $times" -q --diarize $times within.wav
    is "the first speaker ends in the middle of the phrase, $times" "$(cut -d')' -f1 "$T/out" | tr '\n' ';')" \
        "(speaker 0;(speaker 1;(speaker 1;(speaker 1;"
    cut -d')' -f2- "$T/out" | tr -d ' \n' >joined
    is "no text is lost where the speaker changes, $times" "$(cat joined)" "$(tr -d ' \n' <text)"
done

t 2 "speakers need two channels" --diarize "$DIGITS"
err_has "zh_phrases.wav: --diarize needs two channels, with a speaker on each, and this has 1"
out_empty
t 1 "files with two channels are written where another has one" -q --diarize "$DIGITS" two.wav
same "$T/out" spoken
expect 2 "speakers and channels exclude each other" a.wav --diarize --channels split
err_has "--diarize transcribes the mix"
# ---- tracks
t 2 "a track is counted from 1" --audio-track 0 "$DIGITS"
err_has '--audio-track: "0" is not auto, all or the number of a track, from 1'
t 4 "a missing track is reported" --audio-track 2 "$DIGITS"
err_has "has no audio track 2; the only one is 1"
t 0 "--audio-track 1 reads the only track" --audio-track 1 "$DIGITS" -f tsv
cut -f3 "$T/out" | tail -n +2 >first
same first phrases
t 0 "--audio-track all reads the only track" --audio-track all "$DIGITS" -o one-track
is "the name of its file has track 1" "$(ls one-track)" zh_phrases.track1.txt
if have_ffmpeg "a film in two languages"; then
    FILM=$SRC/tests/data/audio/two_tracks.mkv
    t 0 "a film's default track is transcribed" -l auto "$FILM"
    cp "$T/out" played
    t 0 "the second track is the default one" -l auto --audio-track 2 "$FILM"
    same "$T/out" played
    is "the second track is Chinese" "$(cat played)" "六零七八。"
    t 0 "--audio-track 1 reads the first track" -l auto --audio-track 1 "$FILM"
    cp "$T/out" other
    is "the first track is German" "$(cat other)" "null eins."
    t 0 "--audio-track all prints both tracks" -l auto --audio-track all "$FILM"
    cat other played >each
    same "$T/out" each
    is "--audio-track all prints a line for each track" "$(cat "$T/err")" "steno: $FILM: audio track 1, the last is 2
steno: $FILM: audio track 2, the last is 2"
    cat "$FILM" | "$STENO" -q -m "$MODEL" --audio-track all - >piped 2>"$T/err"
    is "--audio-track all reads a pipe" $? 0
    same piped each
    t 0 "--audio-track all writes files in a batch" -l auto -b 2 --audio-track all "$FILM" "$DIGITS" -o tracks
    is "the names of files have the track" "$(cd tracks && echo *)" "two_tracks.track1.txt two_tracks.track2.txt zh_phrases.track1.txt"
    same tracks/two_tracks.track1.txt other
    same tracks/two_tracks.track2.txt played
    t 0 "each channel of each track is written" -q -l auto --audio-track all --channels split "$FILM" -o channels
    is "the names of files have the track and the channel" "$(cd channels && echo *)" \
        "two_tracks.track1.ch0.txt two_tracks.track2.ch0.txt two_tracks.track2.ch1.txt"
    t 1 "a channel that one track lacks fails" -l auto --audio-track all --channels 1 "$FILM" two.wav
    err_has "$FILM: --channels 1: the last channel is 0"
    t 4 "a track that the film lacks is reported" --audio-track 3 "$FILM"
    err_has "$FILM: has no audio track 3; the last one is 2"
fi
t 2 "a template without a stem cannot keep tracks apart" --audio-track all "$DIGITS" -o none --output-template all.{format}
err_has "put {stem} into --output-template"
finish
