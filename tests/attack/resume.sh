# steno: runs that are ended anywhere go on. SPDX-License-Identifier: MIT
#
# At random moments, by SIGINT, SIGTERM and kill -9, and again while they go on: the results in the end are those of a run that was not
# ended. resume.sh [SECONDS [SEED]]: the short form ends a few, the long one goes on; twenty take about two minutes.
STENO=${STENO:-build/steno}
. "$(dirname "$0")/../cli/lib.sh"
sanitized && { echo "skipped: cli.resume has the cases that a sanitizer needs"; exit 77; }

RANDOM=${2:-1}
long_speech 10 >long.wav
sigs=(INT TERM KILL)
options=("-f json,srt" "-f json --word-timestamps" "-f json,vtt --task both" "-f tsv,txt --beam-size 2"
    "-f json --no-condition-on-previous-text")
n=0 ends=0
attack() { # end it up to three times, then let it come to its end
    local opts sig code
    read -ra opts <<<"${options[n % ${#options[@]}]}"
    [ -d "want$((n % ${#options[@]}))" ] || "$STENO" -q -m "$MODEL" -l zh "${opts[@]}" -o "want$((n % ${#options[@]}))" long.wav
    rm -rf out
    for ((k = 0; k <= RANDOM % 3; k++)); do
        sig=${sigs[RANDOM % 3]}
        env --default-signal=INT,TERM timeout -s $sig "0.$((RANDOM % 900 + 100))" "$STENO" -q -m "$MODEL" -l zh "${opts[@]}" -o out \
            --resume long.wav >"$T/out" 2>"$T/err"
        code=$?
        ends=$((ends + (code != 0)))
    done
    "$STENO" -q -m "$MODEL" -l zh "${opts[@]}" -o out --resume long.wav >"$T/out" 2>"$T/err" || bad "run $n comes to its end" "exit code $?"
    for file in "want$((n % ${#options[@]}))"/*; do
        cmp -s "$file" "out/${file##*/}" || bad "run $n (${opts[*]}): ${file##*/} is that of a run that was not ended" "it differs"
    done
    n=$((n + 1))
}

SECONDS=0
for ((i = 0; i < 3; i++)); do attack; done
while [ $SECONDS -lt "${1:-0}" ]; do attack; done
echo "$n runs, ended $ends times"
finish
