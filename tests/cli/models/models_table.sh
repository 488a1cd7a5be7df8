# steno: the table of speed and memory of known shapes is made in one run. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

STENO=$STENO "$SRC/script/models" -o rows.tsv \
    --rounds 1 --runs 1 --shapes "tiny/q5_0 silero" --compute auto --threads "1 1" >table 2>"$T/err"
is "script/models exits 0" "$?" 0
is "each shape has a row" "$(grep -cE '^\| (tiny|silero) ' table)" 2
figures='[0-9.]+ \| [0-9.]*[1-9][0-9]* \| [1-9][0-9]+'
grep -qE "^\| tiny \| q5_0 \| auto \| 1 \| 30 s, 100 tokens \| $figures \|\$" table || bad "the row of tiny has its figures" "$(cat table)"
grep -qE '^\| silero \| f32 \| auto \| 1 \| 60 s \| ' table || bad "the row of silero has its figures" "$(cat table)"
grep -qP '^tiny\tq5_0\tauto\t1\tencode\tms\t[0-9.]+$' rows.tsv || bad "the file of rows has each measurement" "$(head -3 rows.tsv)"
for wrong in "--rounds 0" "--rounds" "--what 3"; do
    # shellcheck disable=SC2086
    STENO=$STENO "$SRC/script/models" $wrong >"$T/out" 2>"$T/err"
    is "$wrong is refused" "$?" 2
    err_has "script/models: "
done
finish
