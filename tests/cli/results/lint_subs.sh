# steno: subtitles by rules, and the report of faults. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

# ---- faults are reported, with their place

cat >bad.srt <<'END'
1
00:00:01,000 --> 00:00:01,500
This is a line that is certainly longer than any style allows

3
00:00:01,400 --> 00:00:09,000
...
END
expect 1 "faults end with 1" lint-subs bad.srt
is "faults without a style are reported" "$(cat "$T/out")" "$(printf '%s\n' "bad.srt:6: cue 2: number out of sequence: 3, allowed 2" \
    "bad.srt:6: cue 2: overlap: 100 ms, allowed 0" "bad.srt:7: cue 2: lone punctuation")"
expect 1 "faults of a style are reported" lint-subs --style netflix bad.srt
out_has "bad.srt:2: cue 1: too short: 500 ms, allowed 833"
out_has "bad.srt:2: cue 1: too fast: 122 characters per second, allowed 20"
out_has "bad.srt:3: cue 1: line too long: 61 characters, allowed 42"
out_has "bad.srt:6: cue 2: too long: 7600 ms, allowed 7000"
expect 1 "options replace limits of a style" lint-subs --style netflix --max-line-width 61 --max-cps 0 --min-cue-ms 0 bad.srt
! grep -q "cue 1" "$T/out" || bad "the first cue has no fault with other limits" "$(cat "$T/out")"
expect 1 "--json prints an object" lint-subs --json --max-line-width 60 bad.srt
out_has '{"file": "bad.srt", "cues": 2, "faults": ['
out_has '{"line": 3, "cue": 1, "rule": "line too long", "measured": 61.0, "allowed": 60.0, "unit": "characters"}'
printf '1\n00:00:01,000 --> 00:00:02,000\nfine\n' >good.srt
expect 0 "a file without faults exits 0" lint-subs --style bbc good.srt
out_empty
IN=good.srt expect 0 "standard input is read" lint-subs -
printf '1\n00:00:01,000 --> 00:00:02,000\n\346\227\245\346\234\254\350\252\236\343\202\222\350\252\255\343\202\200\n' >ja.srt
expect 1 "Japanese is known by its writing" lint-subs --style netflix ja.srt
out_has "too fast: 6 characters per second, allowed 4"
expect 0 "-l en overrides the language of the text" lint-subs --style netflix -l en ja.srt
expect 1 "one of two missing files exits 1" lint-subs none.srt good.srt
expect 4 "a missing file exits 4" lint-subs none.srt
err_has "none.srt"
expect 2 "a command line without a file is refused" lint-subs

# ---- formats that are not read are named, by each verb that reads subtitles
BERT=${STENO_SHARED:-/none}/material/llm/models/bert/hf
printf 'one two\n' >ref.txt
unread() { # unread FILE NAME
    expect 4 "lint-subs names $2" lint-subs "$1"
    err_has "it is $2"
    expect 4 "compare names $2" compare ref.txt "$1"
    err_has "it is $2"
    IN=$1 expect 4 "compare names $2 on standard input" compare ref.txt -
    err_has "standard input: it is $2"
    [ -d "$BERT" ] || return
    expect 4 "search names $2" search -m "$BERT" one "$1"
    err_has "it is $2"
}
tt='<tt xmlns="http://www.w3.org/ns/ttml"><body><p begin="1s" end="2s">one two</p></body></tt>'
printf '\357\273\277<?xml version="1.0"?>\n%s' "$tt" >a.ttml
printf '\r\n%s' "$tt" >a.dfxp
printf '<?xml version="1.0"?><tt:tt xmlns:tt="x"></tt:tt>' >a.xml
for f in a.ttml a.dfxp a.xml; do unread $f "TTML subtitles"; done
printf '<?xml version="1.0"?><timedtext><body>' >b.xml && unread b.xml "an XML document"
printf '<sami><body><sync start=0><p>one' >a.smi && unread a.smi "SAMI subtitles"
printf '{1}{25}one two\n' >a.sub && unread a.sub "MicroDVD subtitles"
printf 'Scenarist_SCC V1.0\n\n00:00:00:00 9420' >a.scc && unread a.scc "Scenarist closed captions"
printf '{\\rtf1 one}' >a.rtf && unread a.rtf "an RTF document"
printf '850STL25.01 one' >a.stl && unread a.stl "EBU subtitles"
printf '<!doctype HTML>one' >a.html && unread a.html "a page of HTML"
# real ones are not UTF-8, or have zeros
printf '%%PDF-1.4\n%%\342\343\317\323\n1 0 obj\n<< /Length 2 >>\nstream\n\000\001' >a.pdf && unread a.pdf "a PDF document"
printf 'PK\3\4\24\0\6\0\10\0\0\0!\0\337\244[Content_Types].xml' >a.docx && unread a.docx "a ZIP archive"
{ printf '850STL25.01\060\060\060\011' && head -c 1008 /dev/zero | tr '\0' ' ' && printf '\0\0\0\377\0\1\212one\217\217'; } >b.stl
unread b.stl "EBU subtitles"
printf '<SAMI><BODY><SYNC Start=0><P Class=KRCC>\260\241\263\252' >euckr.smi && unread euckr.smi "SAMI subtitles"
for code in UTF-16LE UTF-16BE; do
    printf '\357\273\277<?xml version="1.0" encoding="UTF-16"?>\n%s' "$tt" | iconv -f UTF-8 -t $code >wide.ttml
    unread wide.ttml "TTML subtitles"
    printf '%s' "$tt" | iconv -f UTF-8 -t $code >bare.ttml
    unread bare.ttml "TTML subtitles"
    printf '\357\273\2771\n00:00:01,000 --> 00:00:02,000\none \344\272\214\n' | iconv -f UTF-8 -t $code >wide.srt
    for verb in "compare ref.txt" lint-subs; do
        # shellcheck disable=SC2086
        expect 4 "subtitles in $code are named: $verb" $verb wide.srt
        err_has "it seems to be UTF-16; save it as UTF-8"
    done
done
printf '{one} <tt> {1}{x} <?xml' >fine.txt
expect 0 "marks inside a text are text" compare fine.txt fine.txt
printf 'WEBVTT\n\n00:01.000 --> 00:02.000\n<ruby>one<rt>ichi</rt></ruby> <ruby>two<rt>ni</ruby> <rt>x' >ruby.vtt
printf 'one two' >ruby.txt
expect 0 "the reading of ruby is no text" compare ruby.txt ruby.vtt
out_has "CER 0.00 %"
srt() { # srt TEXT WANT: the text of a cue of SubRip
    printf '1\n00:00:01,000 --> 00:00:02,000\n%s\n' "$1" >ruby.srt
    printf '%s' "$2" >ruby.txt
    expect 0 "the text of: $1" compare ruby.txt ruby.srt
    out_has "CER 0.00 %"
}
srt '<ruby>one<rt>ichi</rt></ruby> <ruby>two<RT class=x>ni</ruby>' 'one two'
srt 'the tag <rt> marks the reading of a word' 'the tag  marks the reading of a word'
srt '<rt>one</rt> the tag <rt> marks a word' ' the tag  marks a word'
{ printf '1\n00:00:01,000 --> 00:00:02,000\n' && yes '<rt>' | head -n 1000000 | tr -d '\n'; } >many.srt
printf x >one.txt
begin=$SECONDS
expect 0 "a million tags without an end" compare one.txt many.srt
[ $((SECONDS - begin)) -lt 60 ] || bad "a million tags are read in less than a minute" "$((SECONDS - begin))"
rm many.srt
expect 2 "limits that exclude each other are refused" lint-subs --min-cue-ms 2000 --max-cue-ms 1000 good.srt
err_has "--min-cue-ms is more than --max-cue-ms"

# ---- every style, and none, in every format: steno's subtitles have no faults

judge() { # judge FOLDER OPTION...
    local folder=$1
    shift
    for f in srt vtt ass; do
        expect 0 "$folder has no faults as $f" lint-subs "$@" "$folder"/*.$f
        out_empty
    done
}
sounds=("$DIGITS")
golden=${STENO_SHARED:-/none}/material/whisper-digits/golden/audio
long=$golden/long95_en.flac
if [ -r "$long" ] && have_ffmpeg "a long recording"; then sounds+=("$long" "$golden/de_phrases.wav" "$golden/en_phrases.wav")
else echo "(not tried: a long recording; it is not here)"; fi
for sound in "${sounds[@]}"; do
    expect 0 "subtitles without a style are written" -q -m "$MODEL" -f srt,vtt,ass -o none "$sound"
    for style in plain netflix bbc broadcast; do
        expect 0 "subtitles in the style $style are written" -q -m "$MODEL" -f srt,vtt,ass -o $style --style $style "$sound"
    done
done
judge none
for style in plain netflix bbc broadcast; do judge $style --style $style; done
limits="--max-line-width 20 --max-line-count 1 --max-cps 40 --min-cue-ms 400 --min-gap-ms 40"
expect 0 "subtitles with limits by options are written" -q -m "$MODEL" -f srt -o own $limits "${sounds[@]}"
expect 0 "the subtitles keep the limits" lint-subs $limits own/*.srt

# ---- options without an effect are refused

for option in "--style bbc" "--max-cps 10" "--min-cue-ms 1" "--max-cue-ms 1000" "--min-gap-ms 1" "--close-gap-ms 1"; do
    expect 2 "$option is refused without cues" -m none $option -f txt x.wav
    err_has "is for the output formats srt, vtt, ass and wts"
done
expect 2 "--frame-rate is refused without a style" -m none --frame-rate 25 -f srt x.wav
err_has "--frame-rate needs --style netflix"
expect 2 "--style is refused with --highlight-words" -m none --style bbc --highlight-words -f srt x.wav
err_has "excludes --style"
expect 2 "--max-cue-ms below 100 is refused" -m none --max-cue-ms 50 -f srt x.wav
err_has "less than 100"
finish
