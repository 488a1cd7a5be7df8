# steno: a run without enough memory is not reported as an output that cannot be written. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

sanitized && { echo "skipped: a sanitizer takes more address space than there is here"; exit 77; }
short=0
for ((kb = 16000; kb <= 56000; kb += 2500)); do
    for out in folder/ file.pt file.bin; do
        rm -rf folder file.*
        (ulimit -v $kb; exec "$STENO" convert -q -t 1 "$MODEL" $out) >"$T/out" 2>"$T/err"
        code=$?
        [ $code = 0 ] && continue
        grep -qE "out of memory|Cannot allocate memory" "$T/err" || continue # the program itself was not loaded
        grep -q "error while loading" "$T/err" && continue
        short=$((short + 1))
        is "$kb KiB, $out: the exit code is that of memory" $code 5
        [ ! -e "$out" ] || bad "$kb KiB, $out: no output is left" "$(find $out)"
        none "$kb KiB, $out: no temporary file is left" "$(find . -name '.steno-*')"
    done
done
[ $short -gt 0 ] || { echo "skipped: no limit of the address space was too low for it"; exit 77; }
finish
