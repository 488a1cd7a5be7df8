# steno: no output replaces a file that the run reads, and a file in an output's place is treated as by cp. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

t() {
    local want=$1 claim=$2
    shift 2
    expect "$want" "$claim" -q -l zh "$@"
}
cp "$DIGITS" talk.wav
t 0 "the text is printed" -m "$MODEL" talk.wav
cp "$T/out" text

# refused WHAT FILE ARGUMENT...: exit 2 that names what FILE is, and FILE is as it was
refused() {
    local what=$1 file=$2
    shift 2
    cp "$file" kept
    t 2 "$what is not replaced" "$@"
    err_has "is $what and would be overwritten"
    err_lines 1
    same "$file" kept
}

# ---- every file that is read, by its name and through links
cp "$DIGITS" in.txt
refused "an input" in.txt -m "$MODEL" in.txt -o .
mkdir soft hard
ln -s ../in.txt soft/talk.txt
refused "an input" in.txt -m "$MODEL" in.txt talk.wav -o soft
ln in.txt hard/talk.txt
refused "an input" in.txt -m "$MODEL" talk.wav in.txt -o hard
cp "$DIGITS" stdin.txt
IN=stdin.txt refused "an input" stdin.txt -m "$MODEL" - -o .

cp "$MODEL" m.txt
refused "the model" m.txt -m m.txt talk.wav -o . --output-template m.txt
ln -s m.txt talk.srt
refused "the model" m.txt -m m.txt talk.wav -o . -f srt
rm talk.srt
STENO_MODEL=m.txt refused "a file of the model" m.txt talk.wav -o . --output-template m.txt
mkdir -p "$HOME/.cache/steno"
found=ggml-digits.bin
cp "$MODEL" "$HOME/.cache/steno/$found"
refused "a file of the model" "$HOME/.cache/steno/$found" -m digits talk.wav -o "$HOME/.cache/steno" --output-template $found
refused "a file of the model" "$HOME/.cache/steno/$found" talk.wav -o "$HOME/.cache/steno" --output-template $found
F=${STENO_SHARED:-/none}/material/funasr/fsmn-vad/pt
if [ -d "$F" ]; then
    cp -r "$F" vad
    chmod -R u+w vad
    for f in model.pt config.yaml am.mvn; do
        refused "a file of the voice-activity model" vad/$f -m "$MODEL" --vad fsmn --vad-model vad talk.wav -o vad --output-template $f
    done
else
    echo "(not tried: files of a folder; STENO_SHARED does not name the FunASR collection)"
fi

printf 'one\ntwo\n' >talk.txt
refused "the file of --hotwords" talk.txt -m "$MODEL" --hotwords @talk.txt talk.wav -o .
ln -s talk.txt words
refused "the file of --hotwords" talk.txt -m "$MODEL" --hotwords @words talk.wav -o .
echo 'root ::= " " [^a]*' >talk.txt
refused "the file of --grammar" talk.txt -m "$MODEL" --grammar talk.txt talk.wav -o .
if [ -d "${STENO_SHARED:-/none}/material/repro" ]; then
    cp "${STENO_SHARED:-/none}/material/repro/tiny.tiktoken" talk.txt
    refused "the vocabulary" talk.txt -m "$MODEL" --vocab talk.txt talk.wav -o .
fi
font=$(find /usr/share/fonts -name '*.ttf' 2>/dev/null | head -n 1)
if [ -n "$font" ]; then
    cp "$font" talk.ttf
    refused "the file of --font" talk.ttf -m "$MODEL" -f ass --font talk.ttf talk.wav -o . --output-template talk.ttf
else
    echo "(not tried: no font is installed)"
fi
cp text talk.txt
refused "a file of the voice-activity model" m.txt -m "$MODEL" --vad fsmn --vad-model m.txt talk.wav -o . --output-template m.txt

# ---- standard output may be a file that is read
cp "$DIGITS" in.wav
"$STENO" -q -m "$MODEL" in.wav >>in.wav 2>"$T/err"
is "standard output that is an input is refused" $? 2
err_has "standard output is an input"
same in.wav "$DIGITS"
"$STENO" -q -m m.txt talk.wav >>m.txt 2>"$T/err"
is "standard output that is the model is refused" $? 2
same m.txt "$MODEL"
for v in align detect; do
    cp "$DIGITS" in.wav
    "$STENO" $v -q -m "$MODEL" in.wav $([ $v = align ] && echo "六") >>in.wav 2>"$T/err"
    is "$v: standard output that is an input is refused" $? 2
    same in.wav "$DIGITS"
done

for v in info doctor bench; do
    "$STENO" $v $([ $v = bench ] && echo "-q --runs 1 -m") m.txt >>m.txt 2>"$T/err"
    is "$v: standard output that is the model is refused" $? 2
    err_has "standard output is"
    same m.txt "$MODEL"
done

# ---- one output and another
cp "$DIGITS" second.wav
mkdir out
ln -s talk.txt out/second.txt
t 2 "two outputs that are one file by a link are refused" -m "$MODEL" talk.wav second.wav -o out
err_has "would be one file"
[ ! -e out/talk.txt ] || bad "no output is written" "$(ls out)"
rm out/second.txt
echo old >out/talk.txt
ln out/talk.txt out/second.txt
t 0 "names of one file that are not links become two files" -m "$MODEL" talk.wav second.wav -o out
same out/talk.txt text
same out/second.txt text
mkdir -p late/zh
ln -s talk.txt late/zh/second.txt
t 2 "a name that depends on the language is refused when the language is known" -m "$MODEL" talk.wav second.wav -o late \
    --output-template "{language}/{stem}.txt"
err_has "was written for another input of this run"
same late/zh/talk.txt text

# ---- files in the output's place
echo old >out/talk.txt
chmod 604 out/talk.txt
t 0 "an output that exists keeps its mode" -m "$MODEL" talk.wav -o out
same out/talk.txt text
is "the output has the mode of the old one" "$(stat -c %a out/talk.txt)" 604
if [ "$(id -u)" -eq 0 ]; then
    chown 12:34 out/talk.txt
    chmod 640 out/talk.txt
    t 0 "an output that exists keeps its owner and group" -m "$MODEL" talk.wav -o out
    is "the output has the owner, group and mode of the old one" "$(stat -c '%u:%g %a' out/talk.txt)" "12:34 640"
else
    echo "(not tried without root: an owner who is another user)"
    chmod 444 out/talk.txt
    t 6 "an output that may not be written is not replaced" -m "$MODEL" talk.wav -o out
    err_has "out/talk.txt: cannot write: Permission denied"
fi
rm -f out/talk.txt
mkdir elsewhere
echo old >elsewhere/target
chmod 600 elsewhere/target
ln -s ../elsewhere/target out/talk.txt
t 0 "a link stays, and what it points at is replaced" -m "$MODEL" talk.wav -o out
is "the link points to its target" "$(readlink out/talk.txt)" ../elsewhere/target
same elsewhere/target text
is "the target has its old mode" "$(stat -c %a elsewhere/target)" 600
none "no temporary file is left" "$(find out elsewhere -name '.steno-*')"
rm elsewhere/target
t 0 "a link to nothing makes the file it names" -m "$MODEL" talk.wav -o out
same elsewhere/target text
ln -sf loop.txt out/loop.txt
cp talk.wav loop.wav
t 6 "a circle of links is reported" -m "$MODEL" loop.wav -o out
err_has "out/loop.txt: cannot write: Too many levels of symbolic links"
rm out/talk.txt
mkfifo out/talk.txt
cat out/talk.txt >piped &
t 0 "a FIFO is written, not replaced" -m "$MODEL" talk.wav -o out
wait $!
same piped text
[ -p out/talk.txt ] || bad "the FIFO stays" "$(ls -l out/talk.txt)"
ln -sf /dev/null out/talk.txt
ln -sf /dev/null out/second.txt
t 0 "a device is written by several outputs, not replaced" -m "$MODEL" talk.wav second.wav -o out
[ -c /dev/null ] || bad "the device stays" "$(ls -l /dev/null)"
ln -sf /dev/full out/talk.txt
t 6 "a full device is reported" -m "$MODEL" talk.wav -o out
err_has "out/talk.txt: cannot write: No space left on device"
rm out/talk.txt
mkdir out/talk.txt
t 6 "a folder is refused before anything is decoded" -m "$MODEL" second.wav talk.wav -o out
err_has "out/talk.txt: cannot write: it is a folder"
rmdir out/talk.txt
if type -P python3 >/dev/null; then
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("out/talk.txt")'
    t 6 "a socket is refused" -m "$MODEL" talk.wav -o out
    err_has "it is a socket"
    rm out/talk.txt
fi

# ---- files of the user with names like temporary ones
mkdir own
cp "$DIGITS" own/.steno-Audio1
echo mine >own/.steno-config
: >own/.steno-ignore
mkdir own/.steno-folder
ln -s ../talk.wav own/.steno-linked
before=$(ls -A own)
(cd own && expect 0 "a folder's own files stay, the input among them" -q -m "$MODEL" -l zh -o . .steno-Audio1)
is "files with names like temporary ones stay" "$(ls -A own | grep -v Audio1.txt)" "$before"
same own/.steno-Audio1 "$DIGITS"
is "a file with a name like a temporary one is not changed" "$(cat own/.steno-config)" mine
finish
