# steno: texts, names and titles that hold commands and control sequences. SPDX-License-Identifier: MIT
#
# A model whose token " zero" is another text prints that text. Files of the whisper-cli dialect keep their form, a script runs no command
# of the text, and a terminal receives no control sequences, from any verb. unit.out_hostile holds the writers to the same.
. "$(dirname "$0")/lib.sh"

type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
cat >rename.py <<'END'
import struct, sys
b = open(sys.argv[1], 'rb').read()
at = 48
m, k = struct.unpack_from('<2i', b, at)
at += 8 + 4 * m * k
n, = struct.unpack_from('<i', b, at)
head, at, words = b[:at], at + 4, []
for _ in range(n):
    size, = struct.unpack_from('<I', b, at)
    words.append(b[at + 4:at + 4 + size])
    at += 4 + size
words[words.index(b' zero')] = sys.argv[3].encode().decode('unicode_escape').encode('latin-1')
with open(sys.argv[2], 'wb') as f:
    f.write(head + struct.pack('<i', n) + b''.join(struct.pack('<I', len(w)) + w for w in words) + b[at:])
END
model_prints() { python3 rename.py "$MODEL" evil.bin "$1"; } # the escapes of Python

cat >forms.py <<'END'
import csv, json, sys
cues = int(sys.argv[1])
rows = list(csv.reader(open('a.wav.csv', newline='')))
assert len(rows) == cues + 1 and all(len(r) == 3 for r in rows), rows
j = json.load(open('a.wav.json'))
assert len(j['transcription']) == cues
assert j['params']['model'] == 'evil.bin'
for name, lines in (('txt', cues), ('lrc', cues + 1)):
    text = open('a.wav.' + name, newline='').read()
    assert text.count('\n') == lines, (name, text)
for name in ('txt', 'srt', 'vtt', 'csv', 'lrc', 'json', 'wts'):
    text = open('a.wav.' + name, newline='').read()
    assert not any(ord(c) < 32 and c not in '\n\t' or 127 <= ord(c) < 160 for c in text), (name, text)
for line in open('a.wav.score.txt', newline=''):
    float(line.split('\t')[1])
END

# ---- files of the whisper-cli dialect
cp "$SRC/tests/data/demo.wav" a.wav
W="--compat whisper-cli -np -m evil.bin"
mkdir bin
printf '#!/bin/sh\nexit 0\n' >bin/ffmpeg
chmod +x bin/ffmpeg
runs() { # runs CLAIM SCRIPT: a shell runs SCRIPT, and no command that its texts hold
    rm -f canary
    PATH=$PWD/bin:$PATH CANARY=$PWD/canary bash "$2" >messages 2>&1 </dev/null || bad "$1: it is a script" "$(cat messages)"
    ! [ -e canary ] || bad "$1: it runs no command" "one ran"
}
i=0
while IFS= read -r text; do
    i=$((i + 1))
    model_prints "$text"
    # shellcheck disable=SC2086
    expect 0 "text $i is written into every file" $W -owts -fp "$SRC/LICENSE" -oj -ojf -ocsv -olrc -osrt -ovtt -otxt -ls -f a.wav
    python3 forms.py 2 >messages 2>&1 || bad "files of \"$text\" keep their form" "$(tail -n 1 messages)"
    runs "$text" a.wav.wts
    expect 0 "lint-subs reads the subtitles of text $i" lint-subs a.wav.srt a.wav.vtt
    grep -qF '\u001b' a.wav.json || [ "${text#*x1b}" = "$text" ] ||
        bad "JSON has a number for a control character" "$(grep text a.wav.json)"
done <<'END'
 ze\n\n7\n00:00:00,000 --> 00:00:09,000\nhidden
 ze\r\nNOTE x\x0b\x0c\t"ro"
 `touch "$CANARY"` $(touch "$CANARY")
 \\`touch "$CANARY"\\` "; touch "$CANARY"; "
 '; touch "$CANARY"; ' \\" & <b> %{eif} a:b
 \x1b]0;title\x07\xc2\x9b31m\xc2\x85x\x7f
 \xe2\x80\xa8x\xe2\x80\xaey --> z
 [00:05.00]x <00:06.00>y ","
END

# ---- names of files
model_prints ' zero'
for name in 'a$(touch "$CANARY").wav' 'a`touch "$CANARY"`.wav' "a'; touch \"\$CANARY\"; '.wav" '-y;touch $CANARY.wav' \
    $'a\ntouch "$CANARY"\n.wav' $'a\e]0;t\a.wav' 'a b & c.wav'; do
    cp a.wav "./$name"
    # shellcheck disable=SC2086
    expect 0 "whisper-cli's files of the name $(printf %q "$name") are written" $W -owts -fp "$SRC/LICENSE" -f "./$name"
    runs "$name" "./$name.wts"
    cat "./$name.wts" | grep -q "$(printf '\033')" && bad "a script has no escape sequence" "it has"
    expect 0 "steno's script of the name $(printf %q "$name") is written" -q -m evil.bin -f wts "./$name"
    cp "$T/out" own.wts
    printf '#!/bin/sh\nexit 0\n' >bin/ffprobe
    chmod +x bin/ffprobe
    runs "$name" own.wts
done
# shellcheck disable=SC2086
expect 0 "an ordinary name is accepted" $W -owts -fp "$SRC/LICENSE" -f a.wav
grep -qF 'ffmpeg -i a.wav -f lavfi' a.wav.wts &&
    grep -qxF 'echo "  ffplay a.wav.mp4"' a.wav.wts || bad "an ordinary name has no quotes, as in whisper-cli" "$(cut -c1-80 a.wav.wts)"

# ---- terminals
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "(not tried: no terminal can be made here with the program script)"
    finish
fi
controls=$'\033\\]|\007|\302\233|\302\205|\342\200\256|\033\\[2J|\033\\[8m'
clean() { # clean ARGUMENT...: a terminal receives some output, and none of these
    script -qec "$(printf '%q ' "$STENO" "$@")" /dev/null <"$IN" >shown 2>&1
    LC_ALL=C grep -qE "$controls" shown && bad "a terminal receives no control sequences of $*" "$(od -c shown | head -20)"
    [ -s shown ] || bad "a terminal receives output of $*" "nothing"
}
model_prints '\x1b]0;title\x07\xc2\x9b31m\xc2\x85\xe2\x80\xae\x1b[2J\x1b[8m zero'
id=$(python3 - <<'END'
import struct
b = open('evil.bin', 'rb').read()
m, k = struct.unpack_from('<2i', b, 48)
at = 56 + 4 * m * k
n, = struct.unpack_from('<i', b, at)
at += 4
for i in range(n):
    size, = struct.unpack_from('<I', b, at)
    if b[at + 4:at + 4 + size].startswith(b'\x1b'): print(i)
    at += 4 + size
END
)
for f in txt vtt csv ass wts score; do clean -q -m evil.bin -f $f a.wav; done
clean -v -m evil.bin a.wav
clean -v -m evil.bin -o out a.wav
clean -q -m evil.bin --print-colors --print-special a.wav
clean --compat whisper-cli -np -m evil.bin -pc -f a.wav
clean --compat whisper-cli -np -m evil.bin -f a.wav
clean --compat whisper --model evil.bin a.wav
clean tokenize -m evil.bin --decode "$id"
clean tokenize -m evil.bin --decode --json "$id"
clean align -m evil.bin a.wav "zero nine"
printf '1\n00:00:01,000 --> 00:00:02,000\n\033]0;t\007\302\233\302\205\342\200\256 hello\n' >"$(printf 'z\033]0;t\007.srt')"
cp z*.srt b.srt
clean lint-subs --max-line-width 2 z*.srt
clean compare z*.srt b.srt
clean compare b.srt z*.srt
BERT=${STENO_SHARED:-/none}/material/llm/models/bert/hf
if [ -d "$BERT" ]; then clean search -m "$BERT" hello z*.srt; fi
mkdir -p "$HOME/.cache/whisper.cpp"
echo x >"$HOME/.cache/whisper.cpp/ggml-$(printf '\033]0;t\007\302\233').bin"
clean models list
clean models rm "$(printf 'x\033]0;t\007')"
clean info "$(printf 'x\033]0;t\007')"
clean -m "$(printf 'x\033]0;t\007')" a.wav
clean -m evil.bin "$(printf 'x\033]0;t\007\302\233\342\200\256')"
clean "$(printf -- '--x\033]0;t\007\302\233\342\200\256')"
cp a.wav "$(printf 'y\033]0;t\007\302\233\342\200\256.wav')"
clean -m evil.bin y*.wav
clean vad "$(printf 'x\033]0;t\007')"
clean detect -m evil.bin y*.wav

# a terminal receives characters that are written in parts
cp "$DIGITS" zh.wav
"$STENO" -q -m "$MODEL" -l zh zh.wav >plain
script -qec "'$STENO' -q -m '$MODEL' -l zh zh.wav" /dev/null </dev/null 2>&1 | tr -d '\r' >shown
same shown plain
expect 0 "a pipe receives every byte of a decoded text" tokenize -m evil.bin --decode "$id"
LC_ALL=C grep -q "$(printf '\033')" "$T/out" || bad "a pipe receives the escape byte of a token" "$(od -c "$T/out" | head -3)"
expect 0 "a text with line breaks is transcribed" -q -m evil.bin a.wav
is "a segment with line breaks is one line" "$(wc -l <"$T/out")" 2
finish
