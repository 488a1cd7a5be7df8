# steno: --resume after runs without it: each result has a stamp of its origin. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"
type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
python3 -c 'import os; open("try", "w"); os.setxattr("try", "user.steno.try", b"x")' 2>/dev/null ||
    { echo "skipped: the file system has no extended attributes"; exit 77; }
rm -f try
head -c 80044 "$DIGITS" >one.wav
cp one.wav two.wav
R=(-m "$MODEL" -l zh -o out)
plain() { # plain CLAIM ARGUMENT...: a new run without --resume, and no file lies beside its results
    local claim=$1
    shift
    rm -rf out
    expect 0 "$claim" -q "${R[@]}" "$@"
    none "$claim: no file lies beside the results" "$(find out -name '.*' | head -3)"
}
again() { # again N CLAIM ARGUMENT...: --resume skips N of two inputs
    local n=$1 claim=$2
    shift 2
    expect 0 "$claim" "${R[@]}" --resume "$@"
    if [ "$n" -gt 0 ]; then err_has "$n of 2 inputs were finished before"; else err_lacks "finished before"; fi
}
redone() { # redone CLAIM WHY ARGUMENT...: --resume skips no input, for the reason WHY
    local claim=$1 why=$2
    shift 2
    again 0 "$claim" "$@"
    err_has "$why"
}

for f in txt srt,vtt jsonl,json,tsv,csv,lrc,wts,ass,score,json_full,funasr,verbose_json; do
    plain "$f is written" -f $f one.wav two.wav
    again 2 "both inputs are skipped with $f" -f $f one.wav two.wav
    err_lines 1
done
for template in '{n}/{stem}.{format}' 'x {model} {ext} {stem}.{format}' '{dir}/{stem}.{format}'; do
    plain "results named $template are written" -f txt,json --output-template "$template" one.wav two.wav
    again 2 "both inputs are skipped with results named $template" \
        -f txt,json --output-template "$template" one.wav two.wav
done
plain "results are written in a batch" -b 2 -f json one.wav two.wav
again 2 "both inputs are skipped with other threads" -b 2 -t 1 -f json one.wav two.wav

# ---- some inputs are not skipped
plain "text and json are written" -f txt,json one.wav two.wav
rm out/one.txt
again 1 "an input without one result is transcribed" -f txt,json one.wav two.wav
[ -s out/one.txt ] || bad "the missing result is written" "$(ls out)"
rm -rf out/.steno_resume
cp out/one.json good
head -c 20 good >out/one.json
again 1 "an input with a result that was cut is transcribed" -f txt,json one.wav two.wav
err_has "1 of 2 inputs have results that were changed or damaged since: they are written again"
same out/one.json good
rm -rf out/.steno_resume
: >out/two.txt
again 1 "an input with an empty result is transcribed" -f txt,json one.wav two.wav
head -c 20 good >out/one.json
again 1 "a result that was cut is found beside a journal" -f txt,json one.wav two.wav
err_has "changed or damaged"
rm -rf out/.steno_resume
cp out/one.json out/copy
mv out/copy out/one.json
again 1 "an input with a copy of its result is transcribed" -f txt,json one.wav two.wav
err_has "1 of 2 inputs have results without a record of their origin"
again 2 "both inputs are skipped after that" -f txt,json one.wav two.wav

plain "text is written for another format" -f txt one.wav two.wav
again 0 "both inputs are transcribed for another format" -f txt,srt one.wav two.wav
plain "text is written for another option" -f txt one.wav two.wav
redone "both inputs are transcribed with another option" \
    "have results of another run (of the first it was with other options): they are written again" \
    -f txt --beam-size 2 one.wav two.wav
again 2 "both inputs are skipped with the same option" -f txt --beam-size 2 one.wav two.wav
plain "text is written for another input" -f txt one.wav two.wav
touch -d "1 hour ago" two.wav
again 1 "an input that changed is transcribed" -f txt one.wav two.wav
err_has "1 of 2 inputs have results of another run (the file has changed): they are written again"
plain "text is written for another model" -f txt one.wav two.wav
cp "$MODEL" other.bin
redone "both inputs are transcribed with another model" "(of the first it was another model)" -m other.bin -f txt one.wav two.wav
plain "text is written for other arithmetic" -f txt one.wav two.wav
redone "both inputs are transcribed with other arithmetic" \
    "(of the first it was another processor, or --compute)" -f txt --compute f32 one.wav two.wav

# ---- names and numbers of results that depend on the run: the stamp assigns each file to its input
for template in '{stem}-{language}.{format}' '{language}{stem}{format}' '{date}/{language}/{n}-{time}.{format}'; do
    TZ=UTC-14 plain "results named $template are written with stamps" -f txt,json --output-template "$template" one.wav two.wav
    TZ=UTC+10 again 2 "both inputs are skipped on another day with results named $template" \
        -f txt,json --output-template "$template" one.wav two.wav
    err_lines 1
    find out -name '*txt' | sort | head -1 | xargs -d '\n' rm
    TZ=UTC+10 again 1 "an input without one result named $template is transcribed" -f txt,json --output-template "$template" one.wav two.wav
    err_lacks "written again"
    rm -rf out/.steno_resume
    again 2 "both inputs are skipped with results of two runs named $template" -f txt,json --output-template "$template" one.wav two.wav
done
T1=(-f txt --output-template '{stem}-{language}.{format}')
plain "results with stamps are written for another option" "${T1[@]}" one.wav two.wav
redone "both inputs with stamps are transcribed with another option" \
    "have results of another run (of the first it was with other options)" "${T1[@]}" --beam-size 2 one.wav two.wav
plain "results with stamps are written for another name" "${T1[@]}" one.wav two.wav
again 0 "both inputs are transcribed for another name" -f txt --output-template '{stem}_{language}.{format}' one.wav two.wav
rm -rf out/.steno_resume
cp out/one-zh.txt out/copy && mv out/copy out/one-zh.txt
again 1 "an input with a copy of its stamped result is transcribed" "${T1[@]}" one.wav two.wav
err_has "1 of 2 inputs have results without a record of their origin"
plain "results with stamps are written for a change" "${T1[@]}" one.wav two.wav
printf x >>out/one-zh.txt
again 1 "an input whose result was changed is transcribed" "${T1[@]}" one.wav two.wav
err_has "changed or damaged"
expect 0 "--resume writes a journal of results" "${R[@]}" --resume "${T1[@]}" one.wav two.wav
again 0 "both inputs are transcribed for names that are not in the journal" -f txt --output-template '{stem}+{language}.{format}' one.wav \
    two.wav

cp -p one.wav one-zh.wav # the same input by another name, which could be a language
plain "an input with a name like a language is transcribed" "${T1[@]}" one-zh.wav
expect 0 "a result of a longer name is not taken for a shorter one" "${R[@]}" --resume "${T1[@]}" one.wav one-zh.wav
err_has "1 of 2 inputs were finished before"
[ -s out/one-zh.txt ] || bad "the shorter name has a result" "$(ls out)"

odd=('a [b]*?.wav' $'a\nb.wav' '{date}{language}.wav' '-.wav' '{stem}.ch0.wav')
for i in "${!odd[@]}"; do cp -p one.wav "./${odd[i]}"; done
for template in '{stem}.{format}' '{stem}-{language}.{format}' '{date}-{stem}-{language}.{format}'; do
    plain "inputs with odd names are written as $template" -f txt,srt --output-template "$template" -- "${odd[@]/#/./}"
    expect 0 "inputs with odd names are skipped with $template" \
        "${R[@]}" --resume -f txt,srt --output-template "$template" -- "${odd[@]/#/./}"
    err_has "${#odd[@]} of ${#odd[@]} inputs were finished before"
done

stereo 40000 >left.wav
stereo 50000 >right.wav
sets() { # sets FILE ARGUMENT...: several results of each input, FILE among them
    local file=$1
    shift
    plain "several results of each input are written" "$@" left.wav right.wav
    [ -s "$file" ] || bad "$file is there" "$(find out)"
    again 2 "inputs with all results are skipped" "$@" left.wav right.wav
    err_lines 1
    rm "$file"
    rm -rf out/.steno_resume
    again 1 "an input without one of its results is transcribed" "$@" left.wav right.wav
    [ -s "$file" ] || bad "$file is written again" "$(find out)"
    rm -rf out/.steno_resume
    printf x >>"$file"
    again 1 "an input with a changed result is transcribed" "$@" left.wav right.wav
    err_has "1 of 2 inputs have results that were changed or damaged since"
    again 0 "inputs with several results are transcribed with other options" "$@" --beam-size 2 left.wav right.wav
}
sets out/left.ch1.txt -f txt,json --channels split
sets out/zh/left.ch0.translation.txt -f txt,json --channels split --task both --output-template '{language}/{stem}.{format}'
sets out/right.transcript.srt -f srt --task both
plain "channels apart are written" -f txt --channels split left.wav right.wav
again 0 "the mix is transcribed after channels apart" -f txt left.wav right.wav
plain "the mix is written" -f txt left.wav right.wav
again 0 "channels apart are transcribed after the mix" -f txt --channels split left.wav right.wav
# a set that a killed run left incomplete has no stamps
plain "results of channels apart are written" -f txt,json --channels split left.wav right.wav
for file in out/left.ch0.*; do cp "$file" copy && rm "$file" && cp copy "$file"; done
again 1 "an input with results without a stamp is transcribed" -f txt,json --channels split left.wav right.wav

# ---- no result is read after it was written
cat >watch.py <<'EOF'
import ctypes, os, struct, subprocess, sys
libc, IN_ACCESS = ctypes.CDLL(None), 1
fd = libc.inotify_init1(os.O_NONBLOCK)
if fd < 0 or libc.inotify_add_watch(fd, b"out", IN_ACCESS) < 0: sys.exit(77)
def read_names():
    names, at = [], 0
    try: data = os.read(fd, 1 << 16)
    except BlockingIOError: return names
    while at < len(data):
        n = struct.unpack_from("iIII", data, at)[3]
        names.append(data[at + 16:at + 16 + n].rstrip(b"\0").decode())
        at += 16 + n
    return names
open("out/probe", "w").write("x")
open("out/probe").read()
if "probe" not in read_names(): sys.exit(77)
os.remove("out/probe")
code = subprocess.call(sys.argv[1:])
names = [name for name in read_names() if name.endswith((".txt", ".json", ".srt"))]
if names: print("read:", names)
sys.exit(code or bool(names))
EOF
for more in "" "--resume"; do
    rm -rf out && mkdir out
    code=0 # shellcheck disable=SC2086
    python3 watch.py "$STENO" -q "${R[@]}" $more -f txt,json,srt one.wav two.wav >"$T/out" 2>"$T/err" || code=$?
    if [ $code = 77 ]; then echo "skipped: file events"; else is "no result is read again" "$code $(cat "$T/out")" "0 "; fi
    again 2 "the results that were watched have stamps" -f txt,json,srt one.wav two.wav
done
rm -rf out
expect 0 "a first run with --resume is accepted" "${R[@]}" --resume -f txt --output-template '{stem}-{language}.{format}' one.wav two.wav
err_lacks "written again"
finish
