# steno: --resume behind runs without it: results say themselves what made them. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"
type -P python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
python3 -c 'import os; open("try", "w"); os.setxattr("try", "user.steno.try", b"x")' 2>/dev/null ||
    { echo "skipped: the file system has no extended attributes"; exit 77; }
rm -f try
head -c 80044 "$DIGITS" >one.wav
cp one.wav two.wav
R=(-m "$MODEL" -l zh -o out)
plain() { # plain CLAIM ARGUMENT...: a new run without --resume, and nothing lies beside its results
    local claim=$1
    shift
    rm -rf out
    expect 0 "$claim" -q "${R[@]}" "$@"
    none "$claim: nothing lies beside" "$(find out -name '.*' | head -3)"
}
again() { # again N CLAIM ARGUMENT...: of two inputs N were finished before
    local n=$1 claim=$2
    shift 2
    expect 0 "$claim" "${R[@]}" --resume "$@"
    if [ "$n" -gt 0 ]; then err_has "$n of 2 inputs were finished before"; else err_lacks "finished before"; fi
}
redone() { # redone CLAIM WHY ARGUMENT...: none were, for that reason
    local claim=$1 why=$2
    shift 2
    again 0 "$claim" "$@"
    err_has "$why"
}

for f in txt srt,vtt jsonl,json,tsv,csv,lrc,wts,ass,score,json_full,funasr,verbose_json; do
    plain "$f" -f $f one.wav two.wav
    again 2 "$f: both are left out" -f $f one.wav two.wav
    err_lines 1
done
for template in '{n}/{stem}.{format}' 'x {model} {ext} {stem}.{format}' '{dir}/{stem}.{format}'; do
    plain "named $template" -f txt,json --output-template "$template" one.wav two.wav
    again 2 "so named, both are left out" -f txt,json --output-template "$template" one.wav two.wav
done
plain "in a batch" -b 2 -f json one.wav two.wav
again 2 "threads and batches count as they do elsewhere" -b 2 -t 1 -f json one.wav two.wav

# ---- some are not
plain "both" -f txt,json one.wav two.wav
rm out/one.txt
again 1 "a result that is not there" -f txt,json one.wav two.wav
[ -s out/one.txt ] || bad "it is made" "$(ls out)"
rm -rf out/.steno_resume
cp out/one.json good
head -c 20 good >out/one.json
again 1 "a result that is cut" -f txt,json one.wav two.wav
err_has "1 of 2 inputs have results that were changed or damaged since: they are written again"
same out/one.json good
rm -rf out/.steno_resume
: >out/two.txt
again 1 "a result that is empty" -f txt,json one.wav two.wav
head -c 20 good >out/one.json
again 1 "a result that is cut, beside a journal" -f txt,json one.wav two.wav
err_has "changed or damaged"
rm -rf out/.steno_resume
cp out/one.json out/copy
mv out/copy out/one.json
again 1 "a copy" -f txt,json one.wav two.wav
err_has "1 of 2 inputs have results without a record of their origin"
again 2 "then both" -f txt,json one.wav two.wav

plain "both again" -f txt one.wav two.wav
again 0 "another format, too" -f txt,srt one.wav two.wav
plain "both again" -f txt one.wav two.wav
redone "another option" "have results of another run (of the first it was with other options): they are written again" \
    -f txt --beam-size 2 one.wav two.wav
again 2 "it is known now" -f txt --beam-size 2 one.wav two.wav
plain "both again" -f txt one.wav two.wav
touch -d "1 hour ago" two.wav
again 1 "another input" -f txt one.wav two.wav
err_has "1 of 2 inputs have results of another run (the file has changed): they are written again"
plain "both again" -f txt one.wav two.wav
cp "$MODEL" other.bin
redone "another model" "(of the first it was another model)" -m other.bin -f txt one.wav two.wav
plain "both again" -f txt one.wav two.wav
redone "other arithmetic" "(of the first it was another processor, or --compute)" -f txt --compute f32 one.wav two.wav
plain "names of the run" -f txt --output-template '{stem}-{language}.{format}' one.wav two.wav
again 0 "names that only the run knows are not found" -f txt --output-template '{stem}-{language}.{format}' one.wav two.wav
rm -rf out
expect 0 "a first run" "${R[@]}" --resume -f txt --output-template '{stem}-{language}.{format}' one.wav two.wav
err_lacks "written again"
finish
