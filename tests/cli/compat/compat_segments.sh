# steno: what FunASR's command lines print where a voice-activity model cuts. SPDX-License-Identifier: MIT
#
# They transcribe the samples of each span by themselves, however long it is, and write texts one behind the other without anything between
# them and a newline, or a subtitle with the times of each span that has text.
. "$(dirname "$0")/../lib.sh"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
V=$F/fsmn-vad/gguf/fsmn-vad.gguf
stamp() { printf '%02d:%02d:%02d,%03d' $(($1 / 3600000)) $(($1 / 60000 % 60)) $(($1 / 1000 % 60)) $(($1 % 1000)); }

# Sounds without spans are cut at 30 s, so spans are shorter here.
# by_hand MODEL SOUND OPTION...: each span as a sound of its own. Into text, ids and srt
by_hand() {
    local model=$1 sound=$2 n=0 from to
    shift 2
    "$STENO" vad -q -m "$V" --vad-max-speech-s 25 "$sound" >spans
    : >text
    : >ids
    : >srt
    while read -r from to; do
        tail -c +$((45 + from * 32)) "$sound" | head -c $(((to - from) * 32)) >pcm
        wav <pcm >span.wav
        "$STENO" --compat funasr -m "$model" "$@" -a span.wav | tr -d '\n' >part
        cat part >>text
        "$STENO" --compat funasr -m "$model" --ids -a span.wav | tr -d '\n' >>ids
        [ -s part ] || continue
        n=$((n + 1))
        printf '%d\n%s --> %s\n%s\n\n' $n "$(stamp "$from")" "$(stamp "$to")" "$(cat part)" >>srt
    done <spans
    echo >>text
    echo >>ids
}

for model in sensevoice/gguf/sensevoice-mini-q8.gguf paraformer/gguf/paraformer-mini-f16.gguf; do
    m=$F/models/$model
    for sound in pauses speech_in_noise vad_example silence5s; do
        a=$F/audio/vad/$sound.wav
        by_hand "$m" "$a"
        [ $sound != pauses ] || is "$sound has two spans" "$(wc -l <spans)" 2
        expect 0 "$model prints the texts of spans of $sound" --compat funasr -m "$m" --vad "$V" --vad-maxseg 25000 -a "$a"
        same "$T/out" text
        expect 0 "$model prints the ids of spans of $sound" --compat funasr -m "$m" --vad "$V" --vad-maxseg 25000 -a "$a" --ids
        same "$T/out" ids
        expect 0 "$model prints subtitles of spans of $sound" --compat funasr -m "$m" --vad "$V" --vad-maxseg 25000 -a "$a" --srt
        cmp -s "$T/out" srt || bad "the subtitles of $sound have the times of the spans" "$(diff "$T/out" srt | head -4)"
    done
done
m=$F/models/sensevoice/gguf/sensevoice-mini-q8.gguf
by_hand "$m" "$F/audio/vad/pauses.wav" --keep-tags
expect 0 "--keep-tags prints the tags of each span" \
    --compat funasr -m "$m" --vad "$V" --vad-maxseg 25000 -a "$F/audio/vad/pauses.wav" --keep-tags
same "$T/out" text
"$STENO" vad -q -m "$V" --vad-max-speech-s 30 "$F/audio/vad/vad_example.wav" >spans
expect 0 "spans of 30 s are the default" --compat funasr -m "$m" --vad "$V" -a "$F/audio/vad/vad_example.wav" --srt
is "each span of at most 30 s has a subtitle" \
    "$(grep -e '-->' "$T/out")" "$(while read -r from to; do echo "$(stamp "$from") --> $(stamp "$to")"; done <spans)"
expect 0 "--vad-maxseg 4000 is accepted" --compat funasr -m "$m" --vad "$V" --vad-maxseg 4000 -a "$F/audio/vad/pauses.wav" --srt
is "no span is longer than 4 s" "$("$STENO" vad -q -m "$V" --vad-max-speech-s 4 "$F/audio/vad/pauses.wav" | awk '$2 - $1 > 4010' | wc -l)" 0
[ "$(grep -c -e '-->' "$T/out")" -gt 3 ] || bad "spans of at most 4 s make more subtitles" "$(cat "$T/out")"
finish
