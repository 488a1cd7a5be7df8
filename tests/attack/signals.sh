# steno: signals at random moments against all that writes. SPDX-License-Identifier: MIT
#
# A run that is ended has the exit code of its signal, leaves no temporary file, and what it leaves under a final name is whole.
# signals.sh [SECONDS [SEED]]: the short form ends each command once or twice, the long one goes on.
STENO=${STENO:-build/steno}
. "$(dirname "$0")/../cli/lib.sh"
sanitized && { echo "skipped: cli.signals has the cases that a sanitizer needs"; exit 77; }

RANDOM=${2:-1}
long_speech 4 >long.wav
mkdir want
"$STENO" -q -m "$MODEL" -l zh -f json,srt,txt -o want/transcribe long.wav || bad "a run that nothing ends" "exit code $?"
"$STENO" quantize -q "$MODEL" want/quantize.bin q5_0 || bad "a run that nothing ends" "exit code $?"
"$STENO" convert -q "$MODEL" want/convert.pt || bad "a run that nothing ends" "exit code $?"
"$STENO" convert -q "$MODEL" want/folder/ || bad "a run that nothing ends" "exit code $?"
commands=("-m $MODEL -l zh -f json,srt,txt -o out/transcribe long.wav"
    "quantize $MODEL out/quantize.bin q5_0"
    "convert $MODEL out/convert.pt"
    "convert $MODEL out/folder/"
    "-m $MODEL -l zh -f json,srt,txt -o out/transcribe --progress lines -b 2 long.wav"
    "--compat whisper-cli -m $MODEL -l zh -f long.wav -otxt -osrt -oj -of out/cli"
    "stream -m $MODEL -l zh long.wav")
n=0 ends=0
attack() {
    local words code sig=$((RANDOM % 2)) left file
    read -ra words <<<"${commands[n % ${#commands[@]}]}"
    rm -rf out
    mkdir out
    [ $sig = 0 ] && sig=INT || sig=TERM
    env --default-signal=INT,TERM timeout -s $sig "$(printf '0.%03d' $((RANDOM % 400 + 1)))" "$STENO" "${words[@]}" >"$T/out" 2>"$T/err"
    code=$?
    case $code in
    124) ends=$((ends + 1)) ;; # timeout's own, where it has sent the signal; code_of looks at the program's
    0) ;;
    *) bad "run $n ends by its signal" "exit code $code (${words[*]})" ;;
    esac
    left=$(find . "$T/home" \( -name '.steno-??????' -o -name '*.steno.*' \) -print)
    none "run $n (${words[*]}): no temporary file is left" "$left"
    while read -r file; do # a folder is put in place as a whole, files one by one
        case $file in
        out/.steno_resume* | out/*/.steno_resume* | out/cli*) ;;
        *) cmp -s "$file" "want/${file#out/}" || bad "run $n (${words[*]}): $file is whole" "it differs" ;;
        esac
    done < <(find out -type f)
    n=$((n + 1))
}

# The exit code of a signal, which timeout hides.
code_of() {
    local sig=$1 want=$2
    shift 2
    env --default-signal=INT,TERM timeout --preserve-status -s "$sig" 0.15 "$STENO" "$@" >"$T/out" 2>"$T/err"
    local code=$?
    [ $code = "$want" ] || [ $code = 0 ] || bad "the exit code of SIG$sig" "$code, not $want ($*)"
}

SECONDS=0
for ((i = 0; i < 2 * ${#commands[@]}; i++)); do attack; done
for c in "${commands[@]}"; do
    read -ra words <<<"$c"
    rm -rf out
    mkdir out
    code_of INT 130 "${words[@]}"
    rm -rf out
    mkdir out
    code_of TERM 143 "${words[@]}"
done
while [ $SECONDS -lt "${1:-0}" ]; do attack; done
echo "$n runs, ended $ends times"
finish
