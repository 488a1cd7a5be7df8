# steno: figures of the documents come from doc/*.tsv, and are the same everywhere. SPDX-License-Identifier: MIT
. "$(dirname "$0")/lib.sh"

flat() { tr -s '\n*' '  ' <"$1" | sed 's/\\f[BRI]//g; s/ \.[BI]R* / /g; s/\\-/-/g; s/  */ /g'; } # a text on one line, without marks
has_text() { # has_text FILE TEXT...
    local file=$1 text
    shift
    for text; do
        needle "$text"
        flat "$SRC/$file" | grep -qF -- "$text" || bad "$file has \"$text\"" "it does not"
    done
}
figures() # figures ROW [LEVEL]
{
    awk -F '\t' -v row="$1" -v level="${2:-other}" '$1 == row && $2 == level { print $3, $4, $5, $6 }' "$SRC/doc/accuracy.tsv"
}

echo "what fast arithmetic changes"
read -r all bf16 int16 int8 <<<"$(figures "texts under many sets of options")"
read -r usual ubf16 uint16 uint8 <<<"$(figures "texts with the usual options")"
read -r amx_all amx_bf16 amx_int16 amx_int8 <<<"$(figures "texts under many sets of options" amx)"
read -r amx_usual amx_ubf16 amx_uint16 amx_uint8 <<<"$(figures "texts with the usual options" amx)"
read -r _ vbf16 vint16 vint8 <<<"$(figures "texts with --verify")"
is "bf16 and int16 change no text with the usual options" "$ubf16 $uint16" "0 0"
is "the level amx has the figures of the others for the same texts, except in int8" \
    "$amx_all $amx_bf16 $amx_int16 $amx_usual $amx_ubf16 $amx_uint16" \
    "$all $bf16 $int16 $usual $ubf16 $uint16"
is "--verify changes no text in bf16, int16 and int8" "$vbf16 $vint16 $vint8" "0 0 0"
is "int16, the arithmetic of levels with products of integers, changes no text with any option" "$int16" 0
has_text README.md "in all $all test cases" "changes $int16 of them" \
    "\`--compute bf16\` changes $bf16, \`--compute int8\` $int8 (with AMX $amx_int8)."
has_text doc/performance.md \
    "of $all under many sets of options | $bf16 | $int16 | $int8 | | the same at level \`amx\` | $amx_bf16 | $amx_int16 | $amx_int8 |" \
    "of $usual with the reference's usual options | $ubf16 | $uint16 | $uint8 | | the same" \
    "| $uint8 | | the same at level \`amx\` | $amx_ubf16 | $amx_uint16 | $amx_uint8 |" \
    "texts that change, of $all | $vbf16 | $vint16 | $vint8 |"
has_text doc/steno.1 "Of the $all texts" "bf16 changes $bf16, int16 $int16 and int8 $int8 (at level amx $amx_int8), all"
read -r words wbf16 wint16 wint8 <<<"$(figures "words of 117 recordings")"
has_text doc/performance.md "words that change, of $words in 117 recordings | $wbf16 | $wint16 | $wint8 |"
has_text include/steno/steno.h "Measured with $all texts" "bf16 changes $bf16, int16 $int16 and int8 $int8 (level amx: $amx_int8), all" \
    "$uint8 of $usual (level amx: $amx_uint8)"
read -r sv sbf16 sint16 sint8 <<<"$(figures "SenseVoice texts")"
read -r pf pbf16 pint16 pint8 <<<"$(figures "Paraformer texts")"
is "auto's arithmetic changes no text of FunASR's recognisers" "$sbf16 $sint16 $pbf16 $pint16" "0 0 0 0"
has_text doc/performance.md "of $sv under all settings | $sbf16 | $sint16 | $sint8 |" \
    "Paraformer: texts that change, of $pf | $pbf16 | $pint16 | $pint8 |"
has_text doc/steno.1 "of $((sv + pf)) texts" "changes $((sint8 + pint8)), the others none"
has_text include/steno/steno.h "Of their $((sv + pf)) texts int8 changes two"
STENO_MODEL=$MODEL expect 0 "doctor names the arithmetic" doctor
compute=$(sed -n 's/^compute used: \([a-z0-9]*\) .*/\1/p' "$T/out")
case $compute in
int16)
    case $(sed -n 's/^level used: \([a-z0-9]*\).*/\1/p' "$T/out") in amx) int8=$amx_int8 ;; esac
    out_has "changes $int16 of the $all texts of the project's collection" && out_has "changes $bf16, --compute int8 $int8"
    ;;
f32) out_has "compute used: f32" ;;
*) bad "doctor names the arithmetic of the level" "$compute" ;;
esac

echo "formats"
formats=$("$STENO" transcribe --help-all | tr -s '\n ' '  ' | sed 's,| ,|,g' | grep -oE 'txt\|[a-z_|]*' | tr '|' '\n')
is "there are four formats of JSON" "$(grep -c json <<<"$formats")" 4
has_text NEWS.md "four kinds of JSON"
for f in $formats; do flat "$SRC/doc/steno.1" | grep -qwF -- "$f" || bad "the manual explains the format $f" "it does not"; done

echo "speed"
while IFS=$'\t' read -r chart engine value _; do
    [ -n "$value" ] && [ "${chart#\#}" = "$chart" ] || continue
    grep -qE "(^|[^0-9.])${value//./\\.}([^0-9.]|$)" "$SRC/doc/performance.md" || bad "performance.md has $chart, $engine" "no $value"
done <"$SRC/doc/speed.tsv"
ten() { awk -F '\t' -v engine="$1" '$1 ~ /^Ten minutes/ && $2 == engine { print $3 }' "$SRC/doc/speed.tsv"; }
has_text README.md "takes $(ten steno) s for ten minutes of audio where whisper.cpp takes $(ten "whisper.cpp f16")"
if command -v python3 >/dev/null; then
    python3 "$SRC/script/pictures" --check || bad "the picture of the README shows these figures" "it does not"
fi

echo "output is valid UTF-8, whatever a file is called and where tokens are cut"
cp "$DIGITS" $'\xe9\xff.wav'
all=txt,srt,vtt,tsv,json,verbose_json,jsonl,csv,lrc,wts,ass,score,json_full,funasr
for cut in "--word-timestamps --max-line-width 1" --token-timestamps; do
    # shellcheck disable=SC2086
    expect 0 "all formats, $cut" -m "$MODEL" -l zh -v -f $all -o utf8 --max-len 1 $cut $'\xe9\xff.wav'
    is "each format wrote its file" "$(find utf8 -type f | wc -l)" 14
    for f in utf8/* "$T/err"; do
        iconv -f UTF-8 -t UTF-16 "$f" >/dev/null 2>&1 || bad "$(basename "$f") is valid UTF-8" "it is not"
    done
    rm -r utf8
done

echo "the same seed gives the same text, whatever the threads and the batch"
hot() { "$STENO" -q -m "$MODEL" -l zh --temperature 1 --best-of 1 "$@" "$DIGITS" 2>"$T/err"; }
hot --seed 5 -t 1 >first
for how in "-t 1" "-t 2" "-t 1 -b 2"; do
    # shellcheck disable=SC2086
    hot --seed 5 $how >again
    same first again
done
for seed in 6 7 8 9 10; do hot --seed $seed -t 1; done >others
[ "$(sort -u others | wc -l)" -gt "$(sort -u first | wc -l)" ] || bad "other seeds give other texts" "$(cat others)"

# defaults VERB ARGUMENT...: what is printed is the same with each default in the help, given by name. What another option or
# model must be there for may be refused.
defaults() {
    local verb=$1 option value code n=0
    shift
    "$STENO" "$verb" "$@" >plain 2>"$T/err" || bad "steno $verb" "$(cat "$T/err")"
    while read -r option value; do
        n=$((n + 1))
        ! on_wine || [ $((n % 4)) = 0 ] || continue
        case $option in
        *'[no-]'*)
            [ "$value" = on ] && option=${option/\[no-\]/} || option=${option/\[no-\]/no-}
            value=
            ;;
        esac
        # shellcheck disable=SC2086
        "$STENO" "$verb" $option $value "$@" >given 2>"$T/err"
        code=$?
        if [ $code -eq 2 ]; then
            grep -qE 'needs|is for ((audio )?language models|models|the output)' "$T/err" ||
                bad "steno $verb $option $value is taken" "$(cat "$T/err")"
        else
            cmp -s plain given || bad "the default of $option is $value" "steno $verb prints something else"
        fi
    done < <("$STENO" "$verb" --help-all | awk '
        { text = text " " $0 }
        /^ ? ? ? ? ? ?(-., )?--/ { match($0, /--[^ ]*/); option = substr($0, RSTART, RLENGTH); text = $0 }
        match(text, /\(default: +[-a-z0-9_.]+\)/) {
            value = substr(text, RSTART + 9, RLENGTH - 10); sub(/^ +/, "", value); print option, value; text = ""
        }')
    [ $n -ge "$least" ] || bad "steno $verb --help-all prints defaults" "$n are found"
}

echo "help: each printed default is the default; lines have 80 columns"
least=60 defaults transcribe -q -m "$MODEL" -f json "$DIGITS"
least=4 defaults detect -q -m "$MODEL" --json "$DIGITS"
least=4 defaults align -q -m "$MODEL" "$DIGITS" "zero nine one eight"
for verb in transcribe translate align detect vad info bench convert quantize doctor; do
    long=$("$STENO" "$verb" --help-all | awk 'length > 80')
    [ -z "$long" ] || bad "steno $verb --help has lines of 80 columns" "$long"
done

V=${STENO_SHARED:-/none}/material/funasr
if [ -d "$V/fsmn-vad/pt" ]; then
    echo "help: the threshold of voice activity without the option"
    spans() { "$STENO" vad -q -m "$V/fsmn-vad/pt" "$@" "$V/audio/yue_synth.wav"; }
    is "the default threshold is 0.5 where silences grow shorter" "$(spans)" "$(spans --vad-threshold 0.5)"
    is "the default threshold is 0.6 where silences do not grow shorter" \
        "$(spans --vad-min-silence-ms 500)" "$(spans --vad-min-silence-ms 500 --vad-threshold 0.6)"
    [ "$(spans --vad-min-silence-ms 500)" != "$(spans --vad-min-silence-ms 500 --vad-threshold 0.5)" ] ||
        bad "a threshold of 0.5 gives other spans than 0.6" "it is"
fi
finish
