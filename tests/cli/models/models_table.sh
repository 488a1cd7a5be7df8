# steno: the table of speed and memory of known shapes is made in one run. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

STENO=$STENO "$SRC/script/models" -o rows.tsv \
    --rounds 1 --runs 1 --shapes "tiny/q5_0 silero" --compute auto --threads "1 1" >table 2>"$T/err"
is "it ends well" "$?" 0
is "a row for each" "$(grep -cE '^\| (tiny|silero) ' table)" 2
figures='[0-9.]+ \| [0-9.]*[1-9][0-9]* \| [1-9][0-9]+'
grep -qE "^\| tiny \| q5_0 \| auto \| 1 \| 30 s, 100 tokens \| $figures \|\$" table || bad "figures of tiny" "$(cat table)"
grep -qE '^\| silero \| f32 \| auto \| 1 \| 60 s \| ' table || bad "figures of silero" "$(cat table)"
grep -qP '^tiny\tq5_0\tauto\t1\tencode\tms\t[0-9.]+$' rows.tsv || bad "what was measured is kept" "$(head -3 rows.tsv)"
for wrong in "--rounds 0" "--rounds" "--what 3"; do
    # shellcheck disable=SC2086
    STENO=$STENO "$SRC/script/models" $wrong >"$T/out" 2>"$T/err"
    is "$wrong is refused" "$?" 2
    err_has "script/models: "
done
finish
