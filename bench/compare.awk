# steno: two runs beside each other. SPDX-License-Identifier: MIT
#
# awk -f compare.awk A.tsv B.tsv: lines to be sorted by their first field, which is cut off then: how far the best of a row has moved.
BEGIN { FS = "\t" }
FILENAME != file { file = FILENAME; files++; program = "all" }
/^# [a-z]+: / {
    key = $0; sub(/^# /, "", key); sub(/: .*/, "", key)
    text = $0; sub(/^# [a-z]+: /, "", text)
    if (key == "program") program = text
    if (key ~ /^(machine|level|threads|model)$/) { fact[files, program, key] = text; if (files == 1) facts[++n_facts] = program SUBSEP key }
    next
}
/^#/ || NF < 5 { next }
files == 1 { best[$1] = $3; median[$1] = $4; unit[$1] = $2; next }
$1 in best && best[$1] > 0 && median[$1] > 0 && $3 > 0 {
    r = $3 / best[$1]
    far = log(r) < 0 ? -log(r) : log(r)
    better = $2 ~ /\/(s|ns)$/ ? r > 1 : r < 1
    mark = far <= log(1.05) ? "" : $2 == "ops" || $2 ~ /^(MB|GFLOP|%)$/ ? "changed" : better ? "faster" : "SLOWER"
    printf "%.6f\t%-52s %-9s %10.5g %10.5g %8.3f %8.3f  %s\n", far, $1, $2, best[$1], $3, r, $4 / median[$1], mark
    both++
    changed += mark != ""
}
END {
    printf "1e9\t%-52s %-9s %10s %10s %8s %8s\n", "row", "unit", "A", "B", "B/A", "median"
    for (i = 1; i <= n_facts; i++) {
        split(facts[i], f, SUBSEP)
        a = fact[1, f[1], f[2]]; b = fact[2, f[1], f[2]]
        if (b != "" && a != b) printf "2e9\tWARNING: %s of %s differs: %s, %s\n", f[2], f[1], a, b
    }
    printf "-1\t%d rows in both, %d changed by more than 5 %%\n", both, changed
}
