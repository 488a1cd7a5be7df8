# steno: progress, notes, timings. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

long_speech 12 >long.wav # 86 s: three windows
off='--guards off' # text that is left out would be one line more

expect 0 "--progress json writes an object per five percent" -q -m "$MODEL" -l zh --progress json long.wav
whole='^\{"file": "long.wav", "done_ms": [0-9]+, "total_ms": [0-9]+, "percent": [0-9]+, "elapsed_ms": [0-9]+, "speed": [0-9.]+\}$'
grep -vqE "$whole" "$T/err" && bad "every line is such an object" "$(head -3 "$T/err")"
sed -E 's/.*"done_ms": ([0-9]+), "total_ms": ([0-9]+).*/\1 \2/' "$T/err" >steps
awk '$1 < last || $1 > $2 { bad = 1 } { last = $1; end = $2 } END { exit bad || NR < 3 || last != end }' steps ||
    bad "progress rises to the end" "$(cat steps)"

sed -E 's/.*"percent": ([0-9]+).*/\1/' "$T/err" >percent
awk '$1 % 5 || (NR > 1 && $1 <= last) { bad = 1 } { last = $1 } END { exit bad || last != 100 }' percent ||
    bad "percents are rising multiples of five" "$(cat percent)"
expect 0 "--progress lines writes the same as text" -q -m "$MODEL" -l zh --progress lines long.wav
sed -nE 's/^steno: long.wav: ([0-9]+) %$/\1/p' "$T/err" >lines
same lines percent

expect 0 "no bar is shown without a terminal" -m "$MODEL" -l zh --guards off long.wav
err_lines 0
expect 0 "-v prints language, model and segments" -v -m "$MODEL" "$DIGITS"
err_has "language zh"
err_has "weights "
err_has "[00:00.280 --> 00:02.400]"
expect 0 "--print-timings prints the time of each part" -q -m "$MODEL" --print-timings "$DIGITS"
for part in load mel encode decode wall; do err_has "time $part"; done
awk '$3 == "wall" { wall = $4; next } $2 == "time" { sum += $4 } END { exit !(sum > 0 && sum <= wall) }' "$T/err" ||
    bad "the times of the parts are at most the whole" "$(cat "$T/err")"

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$STENO' -m '$MODEL' -l zh --guards off long.wav >/dev/null" /dev/null </dev/null >bar 2>&1
    grep -q $'\r\\[[#-]*\\] [0-9:]* / 01:2[0-9]  [0-9.]*x  [0-9:-]* left' bar || bad "a terminal shows a bar" "$(od -c bar | head -5)"
    is "the bar is wiped at the end" "$(tail -c 4 bar | od -An -c | tr -d ' ')" '\r033[K'
    grep -q $'\r\\[[#-]*\] listening [0-9:]* / 01:2[0-9]' bar ||
        bad "a terminal shows the bar of the audio level" "$(od -c bar | head -5)"
    TERM=xterm script -qec "stty cols 40; '$STENO' -m '$MODEL' -l zh --guards off long.wav >/dev/null" /dev/null </dev/null >bar 2>&1
    tr '\r' '\n' <bar | sed $'s/\e\\[K//' | awk 'length > 39 { print }' >wide
    [ -s bar ] && [ ! -s wide ] || bad "the bar fits 40 columns" "$(head -3 wide)"
    for i in 1 2 3; do cp long.wav part$i.wav; done
    TERM=xterm script -qec "'$STENO' -m '$MODEL' -l zh $off -b 3 part1.wav part2.wav part3.wav >/dev/null" /dev/null </dev/null >bar 2>&1
    grep -q $'\r\\[[#-]*\] [0-2]/3 files  [0-9.]*x' bar || bad "several inputs share a bar" "$(od -c bar | head -5)"
    grep -q '01:2' bar && bad "the bar of several inputs shows no input's length" "$(od -c bar | head -5)"
    is "the bar of several inputs is wiped before the sums" "$(tail -n 1 bar | grep -c $'\r\e\\[Ksteno: 3 inputs: 3 done; ')" 1
    F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
    if [ -d "$F" ]; then
        TERM=xterm script -qec "'$STENO' -m '$MODEL' -l zh --vad fsmn --vad-model '$F' long.wav >/dev/null" /dev/null </dev/null >bar 2>&1
        grep -q $'\r\\[[#-]*\] finding speech [0-9:]* / 01:2[0-9]' bar ||
            bad "a terminal shows the bar of voice activity" "$(od -c bar | head -5)"
    fi
    TERM=dumb script -qec "'$STENO' -m '$MODEL' -l zh --guards off long.wav >/dev/null" /dev/null </dev/null >bar 2>&1
    none "a dumb terminal shows no bar" "$(cat bar)"
    TERM=xterm script -qec "'$STENO' -q -m '$MODEL' -l zh --guards off long.wav >/dev/null" /dev/null </dev/null >bar 2>&1
    none "-q shows no bar" "$(cat bar)"
else
    echo "(not tried: no terminal can be made here with the program script)"
fi
finish
