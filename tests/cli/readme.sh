# steno: the commands of README, doc/tasks.md and doc/compat.md. SPDX-License-Identifier: MIT
#
# Each line of the quick start, each task and each command in the tables of other programs is run as it stands there. Where a personality
# accepts the other program's command, that is run, too. Models other than Whisper's come from the collections; without these, the message
# about a missing model shows that the options were accepted.
. "$(dirname "$0")/lib.sh"

F=${STENO_SHARED:-/none}/material/funasr L=${STENO_SHARED:-/none}/material/llm/models
cp "$DIGITS" talk.wav
echo "一二三四五" >words.txt
echo "one two three" >talk.txt
echo talk.wav >all.jsonl
mkdir recordings
cp "$DIGITS" recordings/a.wav
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
ln -s "$SRC/tests/data/qwen3_asr" qwen3-asr-0.6b
ln -s "$SRC/tests/data/qwen3_aligner" qwen3-forced-aligner-0.6b
[ ! -d "$L" ] || { ln -s "$L/qwen3/hf" qwen3-0.6b && ln -s "$L/bert/hf" bge-small; }
export HF_HUB_OFFLINE=1
"$STENO" install-dialects bin whisper whisper-cli >/dev/null 2>&1
steno() { "$STENO" "$@"; }

# A command of steno: it succeeds, or lacks what this machine does not have.
try() {
    local code
    case $1 in
    "steno serve"*) timeout --foreground --preserve-status -s TERM 3 "$STENO" ${1#steno } --port 0 </dev/null >"$T/out" 2>"$T/err" ;;
    *) eval "$1" </dev/null >"$T/out" 2>"$T/err" ;;
    esac
    code=$?
    n=$((n + 1))
    echo "$1: $code"
    case $1 in
    *https:*) [ $code -eq 4 ] || [ $code -eq 0 ] || bad "$1" "exit code $code: it may fail without a network only" ;;
    *"models pull"*) [ $code -eq 3 ] || [ $code -eq 7 ] || bad "$1" "exit code $code: it may fail without a network only" ;;
    *--mic*)
        [ $code -eq 3 ] || [ $code -eq 4 ] || grep -q "steno models pull silero" "$T/err" ||
            bad "$1" "exit code $code: it may fail without a microphone or a Silero model only"
        ;;
    *silero*) [ $code -eq 0 ] || grep -q "steno models pull silero" "$T/err" || bad "$1" "exit code $code" ;;
    *SenseVoice* | *paraformer* | *fsmn* | *ct-punc*)
        [ $code -eq 0 ] || { [ $code -eq 3 ] && [ ! -d "$F" ]; } || bad "$1" "exit code $code" ;;
    *qwen3* | *bge*) [ $code -eq 0 ] || { [ $code -eq 3 ] && [ ! -d "$L" ]; } || bad "$1" "exit code $code" ;;
    *) [ $code -eq 0 ] || bad "$1" "exit code $code" ;;
    esac
}

n=0
while IFS= read -r line; do
    try "${line%%  *#*}"
done < <(sed -n '/^## Quick start/,/^## Common/p' "$SRC/README.md" | grep -E '^steno ')
[ $n -ge 5 ] || bad "the quick start has at least five commands" "$n lines"
tasks() { grep -E '^\|.*`steno ' "$1"; }
for page in README.md doc/tasks.md; do
    n=0
    while IFS= read -r row; do
        try "$(cut -d'`' -f2 <<<"$row")"
    done < <(tasks "$SRC/$page")
    case $page in README.md) least=8 ;; *) least=23 ;; esac
    [ $n -ge $least ] || bad "$page has at least $least tasks" "$n rows"
done

sed -n '/^## Commands side by side/,/^## openai-whisper/p' "$SRC/doc/compat.md" | grep -E '^\| `' >rows
n=0
while IFS= read -r row; do
    left=$(cut -d'`' -f2 <<<"$row") right=$(cut -d'`' -f4 <<<"$row")
    case $right in steno\ *) ;; *) bad "$row" "a command of steno stands at the right" ;; esac
    try "$right"
    case $left in
    whisper\ * | whisper-cli\ *)
        PATH=$PWD/bin:$PATH eval "$left" </dev/null >"$T/out" 2>"$T/err"
        code=$?
        [ $code -eq 0 ] || bad "$left" "exit code $code"
        [ -s "$T/out" ] || [ -s talk.json ] || bad "$left" "it writes nothing"
        ;;
    funasr\ * | whisper-ctranslate2\ *)
        eval "steno ${left#* }" </dev/null >"$T/out" 2>"$T/err"
        is "$left: options of another program are refused" "$?" 2
        err_has "; here: steno "
        ;;
    esac
done <rows
[ $n -gt 20 ] || bad "the tables have more than 20 rows" "$n rows"
for f in talk.txt talk.srt talk.vtt talk.tsv talk.json talk.wav.srt talk.wav.vtt notes.srt ggml-base-q8_0.bin; do
    [ -s "$f" ] || bad "$f is written" "it is not"
done
finish
