# steno: --resume beside every format, templates, tracks, channels, and inputs of one name. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
mkdir one two
long_speech 4 >one/talk.wav
cp "$DIGITS" two/talk.wav
stereo 60000 >two.wav

# product CLAIM N ARGUMENT...: N inputs; the run is killed at the first, ended by Ctrl-C, and resumed. Then all inputs are finished, and a
# result that is removed is written again
product() {
    local claim=$1 n=$2 i f
    shift 2
    rm -rf want out
    expect 0 "$claim: a run without interruption is written" -q -m "$MODEL" -l zh -o want "$@"
    for sig in KILL INT; do
        env --default-signal=INT "$STENO" -q -m "$MODEL" -l zh -o out --resume "$@" >"$T/out" 2>"$T/err" &
        local pid=$!
        for ((i = 0; i < 300; i++)); do
            [ "$(cat out/.steno_resume/* 2>/dev/null | wc -c)" -gt 1200 ] && break
            kill -0 $pid 2>/dev/null || break
            sleep 0.01
        done
        kill -$sig $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    expect 0 "$claim: the run is resumed" -m "$MODEL" -l zh -o out --resume "$@"
    while IFS= read -r f; do # whole: the run was killed between setting its mode and its name
        (cd want && find . -type f -size "$(stat -c %s "../$f")c") | grep -q . && [ "$(stat -c %a "$f")" != 1200 ] && rm "$f"
    done < <(find out -name '.steno-*')
    is "$claim: the names are those of a run without interruption" \
        "$(cd out && find . -type f | grep -v steno_resume | sort | tr '\n' ' ')" \
        "$(cd want && find . -type f | sort | tr '\n' ' ')"
    (cd want && find . -type f) | while IFS= read -r f; do
        cmp -s <(sed "$differs" "out/$f") <(sed "$differs" "want/$f") || bad "$claim: $f is that of a run without interruption" "it differs"
    done
    expect 0 "$claim: finished inputs are skipped" -m "$MODEL" -l zh -o out --resume "$@"
    err_has "$n of $n inputs were finished before"
    err_lines 1
    local gone
    gone=$(cd out && find . -type f | grep -v steno_resume | sort | tail -1)
    rm "out/$gone"
    expect 0 "$claim: an input without $gone is transcribed" -m "$MODEL" -l zh -o out --resume "$@"
    [ -s "out/$gone" ] || bad "$claim: the removed result is written again" "$(cat "$T/err")"
    none "$claim: no temporary file is left" "$(find out -name '.steno-*')"
}
differs='s/"seconds": [^,]*, "speed": [^,]*, //'

product "every format" 1 one/talk.wav -f txt,srt,vtt,tsv,json,verbose_json,jsonl,csv,lrc,wts,ass,score,json_full,funasr
sanitized && finish
product "two inputs of one name, by folders" 2 one/talk.wav two/talk.wav -f json,jsonl --output-template '{dir}/{stem}.{format}'
product "one input twice" 2 one/talk.wav one/talk.wav -f json --output-template '{n}.{format}'
product "the language in the name" 2 one/talk.wav two/talk.wav -f json --output-template '{n}.{language}.{format}'
product "channels" 1 two.wav --channels split -f json,txt
product "both texts" 2 one/talk.wav two.wav --task both -f json,srt
product "in a batch" 2 one/talk.wav two/talk.wav -b 2 -f jsonl,vtt --output-template '{n}/{stem}.{format}'
product "speakers" 1 two.wav --diarize -f srt,json
if in_full; then
    product "by numbers" 2 one/talk.wav two/talk.wav -f srt --output-template '{n}-{stem}.{format}'
    product "the model in the name" 2 one/talk.wav two/talk.wav -f txt,json --output-template '{model}/{n}.{format}'
    product "a channel" 1 two.wav --channels 1 -f json
    product "cues by words" 1 one/talk.wav --style bbc -f srt,vtt,ass
fi
if have_ffmpeg "tracks"; then
    if in_full; then
        product "a track" 1 "$SRC/tests/data/audio/de_video.mkv" --audio-track 1 -f json
        product "all tracks" 1 "$SRC/tests/data/audio/two_tracks.mkv" --audio-track all -f json,txt
    fi
    product "tracks of two inputs" 2 "$SRC/tests/data/audio/two_tracks.mkv" one/talk.wav --audio-track all -f json
    product "all tracks and channels" 1 "$SRC/tests/data/audio/de_stereo.ogg" --audio-track all --channels split -f json
fi

# ---- after a run without --resume
if have_ffmpeg "tracks" && python3 -c 'import os; open("try", "w"); os.setxattr("try", "user.steno.try", b"x")' 2>/dev/null; then
    cp "$SRC/tests/data/audio/two_tracks.mkv" tracks.mkv
    for channels in mix split; do
        A=(-m "$MODEL" -l zh -o tracks -f txt,json --audio-track all --channels $channels tracks.mkv two.wav)
        rm -rf tracks
        expect 0 "tracks are written, $channels" -q "${A[@]}"
        expect 0 "inputs with all tracks are skipped, $channels" --resume "${A[@]}"
        err_has "2 of 2 inputs were finished before"
        rm tracks/tracks.track2*.json
        rm -rf tracks/.steno_resume
        expect 0 "an input without one track is transcribed, $channels" --resume "${A[@]}"
        err_has "1 of 2 inputs were finished before"
        [ -n "$(ls tracks/tracks.track2*.json)" ] || bad "the missing track is written, $channels" "$(ls tracks)"
    done
fi

# ---- beside the inputs
expect 0 "results are written beside the inputs" -m "$MODEL" -l zh -f json -o @ --resume one/talk.wav two/talk.wav
expect 0 "inputs with results beside them are skipped" -m "$MODEL" -l zh -f json -o @ --resume two/talk.wav one/talk.wav
err_has "2 of 2 inputs were finished before"
mv one three
expect 0 "inputs of a folder that was moved are skipped" -m "$MODEL" -l zh -f json -o @ --resume two/talk.wav three/talk.wav
err_has "2 of 2 inputs were finished before"

# ---- inputs that cannot be resumed
IN=$DIGITS expect 2 "--resume is refused for standard input" -m "$MODEL" --resume -o out -
err_has "--resume is for files: standard input and URLs start again each time"
finish
