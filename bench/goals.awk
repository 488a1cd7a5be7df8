# steno: a run beside the goals. SPDX-License-Identifier: MIT
#
# awk -f goals.awk goals.tsv RUN.tsv [PEER.tsv]: a line per goal: met, missed, or not measured on this machine.
BEGIN { FS = "\t" }
/^#/ || NF == 0 { next }
FILENAME == ARGV[1] { n++; what[n] = $1; relation[n] = $2; bound[n] = $3; why[n] = $4; next }
NF >= 5 { best[$1] = $3 }

# Rows and numbers between " * " and " / "; sets missing where a row is not there.
function value(expression, star,    part, k, i, v, x, at)
{
    k = split(expression, part, " ")
    v = 1
    for (i = 1; i <= k; i += 2) {
        x = part[i]
        at = index(x, "$")
        if (at) x = substr(x, 1, at - 1) star substr(x, at + 1)
        if (x !~ /^[0-9.]+$/) {
            if (!(x in best)) { missing = 1; return 0 }
            x = best[x]
        }
        if (i > 1 && part[i - 1] == "/") { if (x == 0) { missing = 1; return 0 } v /= x }
        else v *= x
    }
    return v
}

# How far the goal is met: 1 is just met. Sets nearest, the bound that is met best; 0: no bound has a value.
function margin(measured, g, star,    part, k, i, w, m, most)
{
    k = split(bound[g], part, " or ")
    most = 0
    for (i = 1; i <= k; i++) {
        missing = 0
        w = value(part[i], star)
        if (missing || w <= 0) continue
        m = relation[g] == ">=" ? measured / w : (measured > 0 ? w / measured : 1e9)
        if (m > most) { most = m; nearest = w }
    }
    return most
}

# Counts the row that is measured, and keeps the worst one.
function judge(g, name, measured, star,    m)
{
    m = margin(measured, g, star)
    if (m <= 0) return
    rows++
    met += m >= 1
    if (rows == 1 || m < worst) { worst = m; worst_name = name; worst_measured = measured; worst_goal = nearest }
}

END {
    printf "%-66s %10s    %10s\n", "goal (the row that is farthest from it)", "measured", "goal"
    for (g = 1; g <= n; g++) {
        rows = met = 0
        star = what[g] ~ / / ? 0 : index(what[g], "*")
        if (star) {
            head = substr(what[g], 1, star - 1); tail = substr(what[g], star + 1)
            for (name in best) {
                middle = substr(name, length(head) + 1, length(name) - length(head) - length(tail))
                if (length(name) < length(head) + length(tail) || head middle tail != name || middle ~ /@/) continue
                judge(g, name, best[name], middle)
            }
        } else {
            missing = 0
            v = value(what[g], "")
            if (!missing) judge(g, what[g], v, "")
        }
        if (!rows) { printf "%-66s %10s %2s %10s  not measured on this machine\n", what[g], "-", relation[g], "-"; n_none++ }
        else {
            printf "%-66s %10.4g %2s %10.4g  %s%s\n", worst_name, worst_measured, relation[g], worst_goal,
                met == rows ? "met" : "MISSED", star ? " (" met " of " rows " rows)" : ""
            if (met == rows) n_met++
            else n_missed++
        }
        printf "    %s\n", why[g]
    }
    printf "%d goals met, %d missed, %d not measured\n", n_met, n_missed, n_none
}
