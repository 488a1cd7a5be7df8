# steno: what a network makes of a clip, and how far it is from the reference's. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

npy() { # npy SHAPE NUMBERS...: f32 as bytes in octal, written by printf; BY_COLUMNS=True: column after column
    local head="{'descr': '<f4', 'fortran_order': ${BY_COLUMNS-False}, 'shape': ($1), }"
    printf '\223NUMPY\1\0'; le 2 ${#head}; printf %s "$head"
    shift
    printf '%b' "$@"
}
ONE='\0000\0000\0200\0077' TWO='\0000\0000\0000\0100'
npy "2," "$ONE" "$TWO" >a.npy
npy "2," "$ONE" "$ONE" >b.npy
npy "1, 2" "$ONE" "$TWO" >c.npy
npy "3," "$ONE" "$TWO" >cut.npy
BY_COLUMNS=True npy "2," "$ONE" "$TWO" >line.npy
BY_COLUMNS=True npy "1, 2, 1" "$ONE" "$TWO" >row.npy
BY_COLUMNS=True npy "2, 2" "$ONE" "$TWO" "$ONE" "$TWO" >square.npy
expect 0 "columns of one dimension are rows" compare a.npy line.npy
out_has "line.npy: 2, cosine 1.000000000"
expect 0 "so they are where the others are 1" compare row.npy row.npy
expect 4 "other columns are refused" compare square.npy square.npy
err_has "it is stored by columns"
rm line.npy row.npy square.npy
expect 0 "compare finds a file equal to itself" compare a.npy a.npy
is "compare prints no difference for equal files" "$(cat "$T/out")" \
    "a.npy: 2, cosine 1.000000000, relative error 0, maximum difference 0 at 0: 1, 1"
expect 0 "compare finds different files different" compare a.npy b.npy
is "compare prints the difference and its place" "$(cat "$T/out")" \
    "b.npy: 2, cosine 0.948683298, relative error 0.447, maximum difference 1 at 1: 2, 1"
expect 4 "compare refuses files of different shapes" compare a.npy c.npy
out_has "c.npy: 2 and 1 x 2 cannot be compared"
expect 4 "compare refuses a file that is cut" compare a.npy cut.npy
err_has "cut.npy: its numbers are truncated"
expect 4 "compare reports a missing file" compare a.npy none.npy
err_has "none.npy: No such file"
expect 4 "compare refuses another kind of file" compare a.npy "$DIGITS"
err_has "it is not a .npy file"
mkdir one two
cp a.npy b.npy one
cp a.npy two
expect 1 "compare reports a file that one folder lacks" compare one two
out_has "a.npy: 2, cosine 1"
err_has "two/b.npy: No such file"
expect 4 "compare refuses folders without .npy files" compare "$SRC/cmake" "$SRC/doc"
err_has "has no .npy files"
expect 2 "compare needs two operands" compare a.npy

# ---- texts: characters and words that are inserted, deleted and substituted
echo 'The quick brown fox, jumps!' >reference.txt
echo 'the quick brow fox jumps over' >decoded.txt
expect 0 "compare reads a text beside its reference" compare reference.txt decoded.txt
is "compare ignores case and punctuation" "$(cat "$T/out")" \
    "decoded.txt: CER 23.81 % (4 more, 1 less, 0 others of 21), WER 40.00 % (1 more, 0 less, 1 others of 5)"
echo '我想问,我在滨海新区有房。' >zh.txt
printf '1\n00:00:00,000 --> 00:00:01,000\n<|zh|>我想我在滨海新区有方\n\n' >zh.srt
expect 0 "compare reads a text and subtitles" compare zh.txt zh.srt
is "compare ignores tags and takes each Chinese character as a word" "$(cat "$T/out")" \
    "zh.srt: CER 18.18 % (0 more, 1 less, 1 others of 11), WER 18.18 % (0 more, 1 less, 1 others of 11)"
mkdir references decoded
cp reference.txt zh.txt references
cp decoded.txt decoded/reference.txt
cp zh.txt decoded
expect 0 "compare reads folders of texts" compare references decoded
is "compare sums up the texts of folders" "$(tail -1 "$T/out")" \
    "all: CER 15.62 % (4 more, 1 less, 0 others of 32), WER 12.50 % (1 more, 0 less, 1 others of 16)"
: >empty.txt
expect 0 "compare accepts an empty text" compare reference.txt empty.txt
out_has "CER 100.00 % (0 more, 21 less"
printf 'a\377' >bytes.txt
expect 4 "compare refuses bytes that are not text" compare reference.txt bytes.txt
err_has "bytes.txt: "
printf '{"segments": [' >cut.json
expect 4 "compare refuses a transcript that is cut" compare reference.txt cut.json
err_has "cut.json: it is not a transcript"
head -c 60000 /dev/zero | tr '\0' a >long.txt
{ cat long.txt; echo b; } >longer.txt
expect 0 "compare accepts long texts" compare long.txt longer.txt
out_has "CER 0.00 % (1 more, 0 less, 0 others of 60000)"
expect 0 "compare reads standard input" compare - longer.txt <long.txt
expect 2 "compare refuses two files on standard input" compare - -
printf '1\r\n00:00:00,000 --> 00:00:01,000\r\n<i>The quick</i> brown fox\r\n2\r\n00:00:01,000 --> 00:00:02,000\r\njumps!\r\n' >up.SRT
expect 0 "compare reads subtitles with tags and CR LF" compare reference.txt up.SRT
out_has "up.SRT: CER 0.00 %"
expect 4 "compare refuses a text beside numbers and names the text" compare reference.txt a.npy
err_has "reference.txt: it is not a .npy file"
expect 2 "--dump is refused for detect" detect -m "$MODEL" --dump x "$DIGITS"
err_has "unknown option --dump"
[ ! -e x ] || bad "a refused --dump makes no folder" "$(ls x)"

# ---- Whisper: each window once, with openai-whisper's log-mel and encoder rows
names() { (cd "$1" && echo *.npy); }
WINDOW="zh_phrases.encoder.npy zh_phrases.fbank.npy zh_phrases.features.npy"
w() { # w CLAIM FOLDER OPTION...
    expect 0 "$1" -q -m "$MODEL" --dump "${@:2}" "$DIGITS"
}
w "--dump writes rows of a window" whisper --compute f32
cp "$T/out" rows.txt
expect 0 "the text without --dump is the same" -q -m "$MODEL" --compute f32 "$DIGITS"
same "$T/out" rows.txt
is "--dump writes three files for a window" "$(names whisper)" "$WINDOW"
w "--dump writes windows that are decoded again" again --compute f32 --logprob-threshold 0 --no-speech-threshold 1
w "--dump writes windows of two tasks" tasks --compute f32 --task both
w "--dump writes windows of a detected language" detected --compute f32 -l auto
w "--dump writes windows beside a draft model" drafted --compute f32 --draft "$MODEL" --draft-max 4
for f in again tasks detected drafted; do
    is "$f has the files of one window" "$(names $f)" "$WINDOW"
    for name in $WINDOW; do same $f/"$name" whisper/"$name"; done
done
expect 0 "--dump writes windows of translate" translate -q -m "$MODEL" --compute f32 --dump translated "$DIGITS"
is "translate writes the files of one window" "$(names translated)" "$WINDOW"
w "--dump writes windows of int8 with --verify" verified --compute int8 --verify --verify-margin 1e9
w "--dump writes windows of int8" fast --compute int8
for name in $WINDOW; do same verified/"$name" fast/"$name"; done
! cmp -s fast/zh_phrases.encoder.npy whisper/zh_phrases.encoder.npy || bad "rows of int8 differ from those of f32" "they are those of f32"
w "--dump writes short windows" short --compute f32 --audio-ctx 40
[ "$(names short | wc -w)" -gt 10 ] && [ -s short/zh_phrases.800.encoder.npy ] ||
    bad "the name of a short window's file has its start" "$(names short)"
if type -P python3 >/dev/null; then
    python3 - "$SRC/tests/data" >"$T/out" 2>"$T/err" <<'END' || bad "rows equal openai-whisper's" "$(tail -1 "$T/err")"
import array, ast, struct, sys

def read(name):
    data = open(name, "rb").read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return ast.literal_eval(data[10:end].decode())["shape"], array.array("f", data[end:])

def near(got, want, limit):
    d = sum((a - b) ** 2 for a, b in zip(got, want)) ** 0.5 / sum(b * b for b in want) ** 0.5
    assert len(got) == len(want) and d < limit, (len(got), len(want), d)

mel = array.array("f", open(sys.argv[1] + "/zh_phrases.mel.f32", "rb").read())           # every 6th frame
encoder = array.array("f", open(sys.argv[1] + "/zh_phrases.encoder.f32", "rb").read())   # every 50th row
shape, rows = read("whisper/zh_phrases.encoder.npy")
assert shape == (1500, 128), shape
near([x for i in range(0, 1500, 50) for x in rows[i * 128:i * 128 + 128]], encoder, 1e-4)
shape, all_frames = read("whisper/zh_phrases.fbank.npy")
assert shape == (721, 80), shape
near([x for i in range(0, 721, 6) for x in all_frames[i * 80:i * 80 + 80]], mel, 1e-4)
shape, window = read("whisper/zh_phrases.features.npy")
assert shape == (3000, 80), shape
near(window[:721 * 80], all_frames, 1e-6)
assert not any(window[721 * 80:])
shape, window = read("short/zh_phrases.800.features.npy")
assert shape == (80, 80), shape
near(window, all_frames[80 * 80:160 * 80], 1e-6)
assert read("short/zh_phrases.800.encoder.npy")[0] == (40, 128)
END
else
    echo "(not tried: openai-whisper's rows; python3 is missing)"
fi

# ---- clips that begin at the same place
for clip in 0,2 0,4; do w "--dump writes the clip $clip" clip$clip --compute f32 --clip-timestamps $clip; done
for clips in 0,2,0,4 0,2,0,4,0,2; do
    w "--dump writes the clips $clips" clips$clips --compute f32 --clip-timestamps $clips
    is "the second clip of one place has its own files: $clips" "$(names clips$clips)" \
        "$(echo zh_phrases.0.2.{encoder,features}.npy) zh_phrases.encoder.npy zh_phrases.fbank.npy zh_phrases.features.npy"
    for kind in encoder features; do
        same clips$clips/zh_phrases.$kind.npy clip0,2/zh_phrases.$kind.npy
        same clips$clips/zh_phrases.0.2.$kind.npy clip0,4/zh_phrases.$kind.npy
    done
done
cmp -s clip0,2/zh_phrases.features.npy clip0,4/zh_phrases.features.npy && bad "the clips differ" "they are equal"

# ---- memory does not grow with the rows, and no temporary file stays
long_speech 40 >long.wav # five minutes: 26 MB of rows
if ! sanitized && type -P python3 >/dev/null; then
    python3 - "$STENO" -q -t 1 -m "$MODEL" --compute f32 --no-vad -f txt long.wav >"$T/out" 2>"$T/err" <<'END' ||
import os, subprocess, sys
def peak(*more):
    p = subprocess.Popen([*sys.argv[1:], *more], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    assert status == 0, status
    return usage.ru_maxrss
plain, dumped = peak(), peak("--dump", "rows")
assert sum(os.path.getsize("rows/" + f) for f in os.listdir("rows")) > 2e7
assert dumped < plain + 12000, (plain, dumped)  # KB
END
        bad "memory does not grow" "$(tail -1 "$T/err")"
fi
"$STENO" -q -m "$MODEL" --compute f32 --dump ended long.wav >"$T/out" 2>"$T/err" &
while kill -0 $! 2>/dev/null && [ -z "$(find ended -name '.steno-*' -size +0 2>/dev/null)" ]; do sleep 0.05; done
kill -TERM $! 2>/dev/null
wait $!
is "a run with --dump ends by a signal" $? 143
is "an ended run leaves no file" "$(ls -A ended rows 2>/dev/null | grep -c '^\.')" 0
is "an ended input has no rows" "$(names ended)" "*.npy"

# ---- files that are there stay, and two inputs do not write one
P=$SRC/tests/data/contextual
mkdir in in/b dumped
cp "$SRC/tests/data/demo.wav" in/x.wav
cp "$DIGITS" in/b/x.wav
echo MINE >dumped/x.features.npy
echo other >dumped/y.features.npy
d() { expect "$1" "$2" -q -m "$P" --no-vad --no-punctuation --dump "${@:3}"; }
d 6 "--dump does not replace a file" dumped in/x.wav
err_has "dumped/x.features.npy: cannot write: it exists, and --dump replaces nothing; name another folder"
out_empty
is "a refused --dump leaves the file" "$(cat dumped/x.features.npy)" MINE
d 2 "--dump refuses two inputs of one name" both in/x.wav in/b/x.wav
err_has "both/x...: in/x.wav and in/b/x.wav"
[ ! -e both ] || bad "a refused --dump of two inputs makes no folder" "$(ls both)"
mv in/x.wav in/z.wav
d 0 "--dump ignores files of other inputs" dumped in/z.wav
[ -s dumped/z.features.npy ] || bad "--dump writes rows beside files of other inputs" "$(ls dumped)"
stereo 50000 >in/two.wav
d 0 "--dump writes channels apart" dumped --channels split in/two.wav
[ -s dumped/two.ch0.features.npy ] && [ -s dumped/two.ch1.features.npy ] || bad "--dump writes a file for each channel" "$(ls dumped)"

# ---- inputs that are decoded together
cp "$DIGITS" one.wav
cp "$SRC/tests/data/demo.wav" two.wav
cp "$SRC/models/parakeet-digits/three.wav" three.wav
for m in "$MODEL" "$SRC/tests/data/qwen3_asr"; do
    for b in 1 3; do
        expect 0 "--dump with -b $b of ${m##*/}" -q -m "$m" --compute f32 --dump "${m##*/}.$b" -b $b one.wav two.wav three.wav
    done
    diff -r "${m##*/}.1" "${m##*/}.3" >"$T/differ" || bad "rows of a batch are those of each input alone" "$(head -3 "$T/differ")"
    [ -s "${m##*/}.3/two.encoder.npy" ] || bad "a batch writes rows" "$(ls "${m##*/}.3")"
done

F=${STENO_SHARED:-/none}/material/funasr
if [ ! -d "$F" ]; then
    [ $failures -eq 0 ] || finish
    echo "skipped: STENO_SHARED does not name the FunASR collection"
    exit 77
fi
near() { # near GOLDEN OURS LEAST MOST: the cosine, and the largest difference
    expect 0 "$(basename "$1") is compared" compare "$F/golden/$1" "$2"
    sed -E 's/.*cosine ([^,]*),.*maximum difference ([^ ]*) at.*/\1 \2/' "$T/out" >figures
    awk -v least="$3" -v most="$4" 'NF != 2 || !($1 >= least && $2 <= most) { exit 1 }' figures ||
        bad "$2 is near the reference's" "$(cat "$T/out")"
}
files=("$F/audio/en_george.wav" "$F/audio/zh_synth.wav")
expect 0 "--dump writes rows of SenseVoice" -q -m "$F/models/sensevoice/pt" --compute f32 --itn --dump sense "${files[@]}"
cp "$T/out" want
expect 0 "the text of SenseVoice without --dump is the same" -q -m "$F/models/sensevoice/pt" --compute f32 --itn "${files[@]}"
same "$T/out" want
expect 0 "--dump writes rows of Paraformer" -q -m "$F/models/paraformer/pt" --compute f32 --dump para "${files[@]}"
expect 0 "--dump writes rows of Fun-ASR-Nano" -q -m "$F/models/nano/pt" --compute f32 --dump nano "${files[@]}"
for name in en_george zh_synth; do
    same para/$name.fbank.npy sense/$name.fbank.npy # one front end for all
    same nano/$name.fbank.npy sense/$name.fbank.npy
    near nano/$name.encoder.npy nano/$name.encoder.npy 0.99999999 1e-3
    near nano/$name.adaptor.npy nano/$name.adaptor.npy 0.99999999 1e-3
    near sensevoice/$name.fbank.npy sense/$name.fbank.npy 0.99999999 2e-3
    near sensevoice/$name.encoder.npy sense/$name.encoder.npy 0.99999999 1e-3
    near paraformer/$name.fbank.npy para/$name.fbank.npy 0.99999999 2e-3
    near paraformer/$name.cmvn.npy para/$name.features.npy 0.99999999 1e-3
    near paraformer/$name.encoder.npy para/$name.encoder.npy 0.99999999 1e-3
    near paraformer/$name.cif_alphas.npy para/$name.cif_alphas.npy 0.99999999 1e-4
    near paraformer/$name.decoder_logits.npy para/$name.logits.npy 0.99999999 1e-3
    [ -s sense/$name.logits.npy ] || bad "--dump writes logits of SenseVoice's CTC head for $name" "$(ls sense)"
done
# ---- weights of fewer bits stay near: cosine, and ids of frames
for m in sensevoice paraformer nano; do
    for type in f16 q8_0; do
        least=$([ $type = f16 ] && echo 0.999999 || echo 0.9995)
        expect 0 "$m is written as $type" quantize -q "$F/models/$m/pt" $m.gguf $type
        expect 0 "--dump writes rows of $m as $type" \
            -q -m $m.gguf --compute f32 $([ $m = sensevoice ] && echo --itn) --dump $m.$type "${files[@]}"
        whole=$([ $m = sensevoice ] && echo sense || echo ${m:0:4})
        for name in en_george zh_synth; do
            expect 0 "the rows of $m as $type are compared for $name" compare $whole/$name.encoder.npy $m.$type/$name.encoder.npy
            awk -v least=$least '{ sub(/.*cosine /, ""); if ($1 + 0 < least) exit 1 }' "$T/out" ||
                bad "the encoder of $m as $type stays near f32 for $name" "$(cat "$T/out")"
        done
    done
done
expect 0 "clips that begin later have their time in the name" -q -m "$F/models/sensevoice/pt" --dump long "$F/audio/vad/vad_example.wav"
is "two of three files of clips have a time in the name" \
    "$(find long -name 'vad_example.[0-9]*.encoder.npy' | wc -l) $(find long -name '*.encoder.npy' | wc -l)" "2 3"
"$STENO" transcribe --help-all | tr -s '\n ' '  ' >help
tr -s '\n' ' ' <"$SRC/doc/steno.1" >manual
grep -qF "NAME.KIND.npy (Whisper, SenseVoice, Paraformer, Fun-ASR-Nano)" help || bad "help names the models" "it does not"
for f in sense/*.npy para/*.npy nano/*.npy; do
    f=${f%.npy} f=${f##*.}
    for text in help manual; do grep -qw -- "$f" $text || bad "the $text names what models give" "$f is not in it"; done
done
is "--dump writes four files for Fun-ASR-Nano" "$(cd nano && echo en_george.*)" \
    "en_george.adaptor.npy en_george.encoder.npy en_george.fbank.npy en_george.features.npy"
expect 0 "--dump writes the same rows of a batch" \
    -q -m "$F/models/sensevoice/pt" --compute f32 --itn --dump together -b 3 "${files[@]}"
diff -r sense together >"$T/differ" || bad "rows of a batch are those of each input alone" "$(head -3 "$T/differ")"
expect 6 "--dump reports a folder that cannot be made" -q -m "$F/models/sensevoice/pt" --dump /dev/null "${files[@]}"
err_has "/dev/null: cannot write there"
finish
