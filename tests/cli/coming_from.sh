# steno: the commands of README's tables for those who come from another program. SPDX-License-Identifier: MIT
#
# What stands in the right column is run as it stands, and of the programs whose command lines are known here what stands in the left one.
# Models of FunASR's are those of the collection; where it is not, a missing model shows that the options were taken.
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr
cp "$DIGITS" talk.wav
echo "一二三四五" >words.txt
cp "$MODEL" ggml-base.bin
mkdir -p "$HOME/.cache/steno" bin
cp "$MODEL" "$HOME/.cache/steno/ggml-base.bin"
if [ -d "$F" ]; then
    ln -s "$F/models/sensevoice/pt" SenseVoiceSmall
    ln -s "$F/models/paraformer/pt" paraformer-zh
    ln -s "$F/models/punc/pt" ct-punc
    ln -s "$F/fsmn-vad/pt" fsmn-vad
    cp "$F"/silero/*v6*.bin "$HOME/.cache/steno/ggml-silero-v6.2.0.bin"
fi
export HF_HUB_OFFLINE=1
"$STENO" install-dialects bin whisper whisper-cli >/dev/null 2>&1
steno() { "$STENO" "$@"; }

sed -n '/^## Coming from/,/^## Limits/p' "$SRC/README.md" | grep -E '^\| `' >rows
n=0
while IFS= read -r row; do
    left=$(cut -d'`' -f2 <<<"$row") right=$(cut -d'`' -f4 <<<"$row")
    case $right in steno\ *) ;; *) bad "$row" "a command of steno stands at the right" ;; esac
    eval "$right" </dev/null >"$T/out" 2>"$T/err"
    code=$?
    n=$((n + 1))
    echo "$right: $code"
    case $right in
    *"models pull"*) [ $code -eq 3 ] || [ $code -eq 7 ] || bad "$right" "exit code $code: all that it lacks is a network" ;;
    *silero*) [ $code -eq 0 ] || grep -q "steno models pull silero" "$T/err" || bad "$right" "exit code $code" ;;
    *SenseVoice* | *paraformer* | *fsmn* | *ct-punc*)
        [ $code -eq 0 ] || { [ $code -eq 3 ] && [ ! -d "$F" ]; } || bad "$right" "exit code $code" ;;
    *) [ $code -eq 0 ] || bad "$right" "exit code $code" ;;
    esac
    case $left in
    whisper\ * | whisper-cli\ *)
        PATH=$PWD/bin:$PATH eval "$left" </dev/null >"$T/out" 2>"$T/err"
        code=$?
        [ $code -eq 0 ] || bad "$left" "exit code $code"
        [ -s "$T/out" ] || [ -s talk.json ] || bad "$left" "it writes nothing"
        ;;
    funasr\ * | whisper-ctranslate2\ *)
        eval "steno ${left#* }" </dev/null >"$T/out" 2>"$T/err"
        is "$left: foreign words are answered" "$?" 2
        err_has "; here: steno "
        ;;
    esac
done <rows
[ $n -gt 20 ] || bad "the tables are read" "$n rows"
for f in talk.txt talk.srt talk.vtt talk.tsv talk.json talk.wav.srt talk.wav.vtt notes.srt ggml-base-q8_0.bin; do
    [ -s "$f" ] || bad "$f is written" "it is not"
done
finish
