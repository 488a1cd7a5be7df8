# steno: segments where a voice-activity model finds speech, over several files and in runs that they share. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
A=$F/audio
vad=(--vad-model "$F/fsmn-vad/pt" --vad-min-silence-ms 500)
files=("$A/vad/pauses.wav" "$A/zh_synth.wav" "$A/silence.wav" "$A/vad/speech_in_noise.wav" "$A/en_bgm.wav")
time_of() { awk -v part="$1" '$3 == part { print ($4 > 0) " " $7 }' "$T/err"; }

for kind in sensevoice paraformer; do
    m=$F/models/$kind/pt
    rm -rf alone
    expect 0 "$kind reads one file after the other" -q -m "$m" "${vad[@]}" "${files[@]}" -f txt,json,srt -o alone
    for b in 1 2 3 8 64; do
        expect 0 "$kind reads files together, -b $b" -q -m "$m" "${vad[@]}" "${files[@]}" -b $b -f txt,json,srt -o together
        diff -r alone together >"$T/diff" || bad "$kind writes the same files, -b $b" "$(head -3 "$T/diff")"
        rm -rf together
    done
    for t in 2 3 8; do
        expect 0 "$kind reads files together, -t $t" -q -m "$m" "${vad[@]}" "${files[@]}" -t $t -f txt,json,srt -o together
        diff -r alone together >"$T/diff" || bad "$kind writes the same files, -t $t" "$(head -3 "$T/diff")"
        rm -rf together
    done
    cp "$A/silence.wav" broken.wav
    truncate -s 20 broken.wav
    expect 1 "$kind reports a file that cannot be read" -q -m "$m" "${vad[@]}" -b 3 "${files[0]}" broken.wav "${files[1]}" -o together
    err_has broken.wav
    cmp -s alone/pauses.txt together/pauses.txt || bad "$kind writes the others beside a file that cannot be read" "$(ls together)"
    rm -rf together
    "$STENO" -q -m "$m" "${vad[@]}" - <"${files[0]}" >"$T/out" 2>"$T/err"
    cmp -s "$T/out" alone/pauses.txt || bad "$kind gives the same text through a pipe" "$(diff "$T/out" alone/pauses.txt | head -3)"
    expect 0 "$kind prints the times of its parts" -q -m "$m" "${vad[@]}" --print-timings "${files[0]}"
    read -r n runs <<<"$(time_of vad)" # a second at a time, or less where the source is slow; the end; parameters are tried on no audio
    [ "$n" = 1 ] && [ "$runs" -ge 27 ] && [ "$runs" -le 51 ] || bad "the detector's time is printed for $kind, a run a second" "$n $runs"
    cp "${files[0]}" again.wav
    expect 0 "$kind prints the times of a batch" -q -m "$m" "${vad[@]}" --print-timings -b 2 "${files[0]}" again.wav -o together
    read -r n runs <<<"$(time_of vad)"
    [ "$n" = 1 ] && [ "$runs" -ge 52 ] && [ "$runs" -le 100 ] || bad "the detector's time is printed for $kind in a batch of two" "$n $runs"
    rm -rf together
done
expect 0 "--print-timings is accepted with --no-vad" -q -m "$F/models/sensevoice/pt" --no-vad --print-timings "${files[0]}"
is "a detector that is not loaded has no time" "$(time_of vad)" "0 0"
expect 0 "--print-timings is accepted for clips of Whisper" \
    -q -m "$MODEL" -l zh --vad fsmn --vad-model "$F/fsmn-vad/pt" --print-timings "${files[1]}"
is "the time of the detector is printed for clips of Whisper" "$(time_of vad | cut -d' ' -f1)" "1"

# Every option of voice activity does something or is refused: where there is no detector, where it is switched off, and one by one.
options=("--vad-threshold 0.3" "--vad-neg-threshold 0.1" "--vad-min-speech-ms 100" "--vad-min-silence-ms 100" "--vad-max-speech-s 5"
    "--vad-merge-s 5" "--vad-speech-pad-ms 10" "--vad-rules whisper-cpp" "--vad-join" "--vad-samples-overlap 0.2"
    "--vad-model $F/fsmn-vad/pt")
for m in "$F/models/sensevoice/pt" "$F/models/paraformer/pt" "$F/models/nano/pt" "$MODEL"; do
    echo "${m#"$F"/models/}"
    for o in "${options[@]}"; do
        for off in "" "--no-vad" "--vad off"; do
            case $o$off in --vad-model*/pt) continue ;; esac # which is one
            "$STENO" -q -m "$m" $o $off "${files[1]}" >"$T/out" 2>"$T/err"
            is "${m#"$F"/models/}: $o $off is refused" $? 2
            err_has "${o%% *}"
            out_empty
        done
    done
done
expect 2 "the message about a missing detector has the command that fetches it" \
    -m "$F/models/sensevoice/pt" --vad-threshold 0.3 "${files[1]}"
err_has "steno models pull fsmn-vad"
finish
