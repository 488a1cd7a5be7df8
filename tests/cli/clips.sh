# steno: clips that overlap, and audio past the end. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

args="-q -m $MODEL -l zh" # the three phrases last 7.2 s

# As in the reference each clip is decoded as if the others were not: audio where clips overlap is decoded twice.
expect 0 "one clip is transcribed" $args --clip-timestamps 0,3 --no-condition-on-previous-text "$DIGITS"
cp "$T/out" first
expect 0 "another clip is transcribed" $args --clip-timestamps 2,7 --no-condition-on-previous-text "$DIGITS"
cp "$T/out" second
expect 0 "clips that overlap are transcribed apart" $args --clip-timestamps 0,3,2,7 --no-condition-on-previous-text "$DIGITS"
cat first second >both
same "$T/out" both
expect 0 "clips that go back are transcribed in their order" $args --clip-timestamps 2,7,0,3 --no-condition-on-previous-text "$DIGITS"
cat second first >back
same "$T/out" back
expect 0 "a clip that is given twice is transcribed twice" $args --clip-timestamps 0,3,0,3 --no-condition-on-previous-text "$DIGITS"
cat first first >twice
same "$T/out" twice

args="-m $MODEL -l zh"
expect 0 "a clip past the end has no text" $args --clip-timestamps 100,110 "$DIGITS"
none "a clip past the end prints no text" "$(tr -d '\n' <"$T/out")"
err_has "zh_phrases.wav: 1 of 1 clip of --clip-timestamps begins past the end of the audio, at 7.2"
for sound in "$DIGITS" "$SRC/tests/data/audio/de_8k.wav"; do
    expect 0 "an offset past the end does not make ${sound##*/} a file that is cut short" $args --strict --offset-ms 30:00 "$sound"
    err_has "--offset-ms 1800000 is past the end of the audio"
    err_lacks "cut short"
    head -c $(($(stat -c %s "$sound") / 2)) "$sound" >half.wav
    for ms in 500 30:00; do
        expect 1 "half of ${sound##*/} is cut short from $ms on, too" $args --strict --offset-ms $ms half.wav
        err_has "half.wav: is cut short"
    done
done
expect 0 "one clip of three past the end is reported" $args --clip-timestamps 0,3,50,60,70 "$DIGITS"
err_has "2 of 3 clips of --clip-timestamps begin past the end of the audio"
expect 0 "a clip that reaches past the end is reported" $args --clip-timestamps 4,100 "$DIGITS"
err_has "1 of 1 clip of --clip-timestamps reaches past the end of the audio: cut at 7.2"
[ -s "$T/out" ] || bad "a clip that reaches past the end has text" "none"
expect 0 "clips within the audio are not reported" $args --clip-timestamps 0,3,4 "$DIGITS"
err_lacks "past the end"
expect 0 "an offset past the end has no text" $args --offset-ms 100000 "$DIGITS"
none "an offset past the end prints no text" "$(tr -d '\n' <"$T/out")"
err_has "--offset-ms 100000 is past the end of the audio, which is 72"
for range in "--offset-ms 100000" "--offset-ms 100000 --duration-ms 5" "--clip-timestamps 100,110,90,95"; do
    # shellcheck disable=SC2086
    expect 0 "JSON has the reason for no text of $range" -q $args $range "$DIGITS" -f json
    out_has '"notes": [{"kind": "no-speech", "text": "no speech was found: the audio ends at 7.218 s, before the part that is transcribed"'
done
expect 0 "a clip before the end has no such reason" -q $args --clip-timestamps 100,110,0,3 "$DIGITS" -f json
! grep -q '"notes"' "$T/out" || bad "a clip before the end has no note" "$(cat "$T/out")"
printf '{"path": "%s", "offset": 100}\n' "$DIGITS" >past.jsonl
expect 0 "a batch has the reason, too" batch -q -m "$MODEL" -l zh -i past.jsonl -o -
out_has 'before the part that is transcribed'
expect 0 "an offset within the audio is not reported" $args --offset-ms 2000 --duration-ms 100000 "$DIGITS"
err_lacks "past the end"
expect 0 "-q prints no line about an offset past the end" -q $args --offset-ms 100000 "$DIGITS"
err_lines 0
expect 0 "the line about an offset names the input" $args -b 2 --offset-ms 5000 "$DIGITS" "$SRC/tests/data/demo.wav"
err_has "demo.wav: --offset-ms 5000 is past the end"
err_lacks "zh_phrases.wav: --offset-ms"

# Ids may stand with blanks, as in the reference.
expect 0 "a list of tokens is suppressed" -q $args --suppress-tokens=-1,50,60 "$DIGITS"
cp "$T/out" plain
expect 0 "a list of tokens may have blanks" -q $args --suppress-tokens " -1 , 50 ,60 " "$DIGITS"
same "$T/out" plain
refused() { # refused LIST MESSAGE ARGUMENT...
    local list=$1 message=$2
    shift 2
    expect 2 "'$list' is refused as a list of tokens" -q $args --suppress-tokens="$list" "$@" "$DIGITS"
    err_has "$message"
}
refused "-1, x" "' x' at place 2 is not a token id"
refused "1,,2" "'' at place 2 is not a token id"
refused "1,2," "'' at place 3 is not a token id"
refused "1 2" "'1 2' at place 1 is not a token id"
refused "1,99999999" "'99999999' at place 2"
refused "1,99999999999999999999" "at place 2"
refused "-2" "'-2' at place 1"
refused "-1x" "'-1x' at place 1" --no-suppress-non-speech

# ---- times with colons
expect 0 "an offset and a duration are in milliseconds" -q -m "$MODEL" -l zh -f json --offset-ms 3000 --duration-ms 2500 "$DIGITS"
cp "$T/out" ms
expect 0 "an offset and a duration may be times with colons" \
    -q -m "$MODEL" -l zh -f json --offset-ms 0:03 --duration-ms 00:00:02.500 "$DIGITS"
same "$T/out" ms
expect 0 "clips are in seconds" -q -m "$MODEL" -l zh -f json --clip-timestamps 0.5,3,3.25,6 "$DIGITS"
cp "$T/out" seconds
expect 0 "clips may be times with colons" -q -m "$MODEL" -l zh -f json --clip-timestamps 0:00.5,0:03,0:00:03.250,6 "$DIGITS"
same "$T/out" seconds
expect 0 "a duration in milliseconds beside an offset with colons is reported" -m "$MODEL" -l zh --offset-ms 0:03 --duration-ms 90 "$DIGITS"
err_has "note: --duration-ms 90 is 90 milliseconds; 90 s is 1:30"
expect 0 "an offset in milliseconds beside a duration with colons is reported" -m "$MODEL" -l zh --offset-ms 3 --duration-ms 0:02 "$DIGITS"
err_has "note: --offset-ms 3 is 3 milliseconds; 3 s is 0:03"
for other in "--offset-ms 0:03 --duration-ms 1000" "--offset-ms 3000 --duration-ms 999" "--offset-ms 0:03 --duration-ms 0" \
    "-q --offset-ms 0:03 --duration-ms 30" "--offset-ms 0:03" "--duration-ms 30"; do
    # shellcheck disable=SC2086
    expect 0 "$other is not reported" -m "$MODEL" -l zh $other "$DIGITS"
    err_lacks "milliseconds"
done
for time in 0:61 1:2:3:4 :30 1: 1:2x 1::2 1:02:3.x; do
    expect 2 "$time is refused as an offset" -q -m "$MODEL" -l zh --offset-ms $time "$DIGITS"
    err_has "--offset-ms: \"$time\" is not a time; write 1:30, 1:02:03 or 1:02:03.500"
    expect 2 "$time is refused as the start of a clip" -q -m "$MODEL" -l zh --clip-timestamps "$time,70" "$DIGITS"
done
finish
