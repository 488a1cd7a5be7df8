# steno: a run beside the goals. SPDX-License-Identifier: MIT
#
# awk -f goals.awk goals.tsv RUN.tsv [PEER.tsv]: a line per goal: met, missed, or not measured on this machine. A goal whose line has a
# fifth field gets a line per row, and a line that names the levels without a row.
BEGIN { FS = "\t" }
/^#/ || NF == 0 { next }
FILENAME == ARGV[1] { n++; what[n] = $1; relation[n] = $2; bound[n] = $3; why[n] = $4; each[n] = NF > 4; next }
NF >= 5 && !($1 in best) { names[++n_names] = $1 }
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

# The name behind a head, without the tail; several tails are separated by "|". Sets fits.
function between(name, head, tails,    tail, k, i, n)
{
    k = split(tails, tail, "|")
    if (!k) k = 1
    for (i = 1; i <= k; i++) {
        n = length(name) - length(head) - length(tail[i])
        fits = n >= 0 && head substr(name, length(head) + 1, n) tail[i] == name
        if (fits) return substr(name, length(head) + 1, n)
    }
}

function print_line(name, measured, g, goal, verdict)
{
    printf "%-66s %10.4g %2s %10.4g  %s\n", name, measured, relation[g], goal, verdict
}

# Rows of a goal with a line each, in the order of the file.
function print_each(g,    i, m)
{
    for (i = 1; i <= n_names; i++)
        if (names[i] in found) {
            m = margin(best[names[i]], g, found[names[i]])
            print_line(names[i], best[names[i]], g, nearest, m >= 1 ? "met" : "MISSED")
        }
}

# Levels of a goal, "@avx2|@avx512vnni" at its end, none of whose rows was measured.
function print_levels_without(g,    tail, k, i, name, is, names)
{
    k = split(substr(what[g], index(what[g], "*") + 1), tail, "|")
    for (i = 1; i <= k; i++) {
        is = 0
        for (name in found) is = is || substr(name, length(name) - length(tail[i]) + 1) == tail[i]
        if (!is) names = names (names ? ", " : "") substr(tail[i], 2)
    }
    if (names) printf "%-66s not measured at %s\n", substr(what[g], 1, index(what[g], "*")), names
}

# Counts the row that is measured, and keeps the worst one.
function judge(g, name, measured, star,    m)
{
    m = margin(measured, g, star)
    if (m <= 0) return
    found[name] = star
    rows++
    met += m >= 1
    if (rows == 1 || m < worst) { worst = m; worst_name = name; worst_measured = measured; worst_goal = nearest }
}

END {
    printf "%-66s %10s    %10s\n", "goal (the row that is farthest from it)", "measured", "goal"
    for (g = 1; g <= n; g++) {
        rows = met = 0
        split("", found)
        star = what[g] ~ / / ? 0 : index(what[g], "*")
        if (star) {
            head = substr(what[g], 1, star - 1); tail = substr(what[g], star + 1)
            for (name in best) {
                middle = between(name, head, tail)
                if (fits && middle !~ /@/) judge(g, name, best[name], middle)
            }
        } else {
            missing = 0
            v = value(what[g], "")
            if (!missing) judge(g, what[g], v, "")
        }
        if (!rows && each[g]) print_levels_without(g)
        else if (!rows) { printf "%-66s %10s %2s %10s  not measured on this machine\n", what[g], "-", relation[g], "-"; n_none++ }
        else {
            if (each[g]) { print_each(g); print_levels_without(g) }
            else print_line(worst_name, worst_measured, g, worst_goal,
                            (met == rows ? "met" : "MISSED") (star ? " (" met " of " rows " rows)" : ""))
            if (met == rows) n_met++
            else n_missed++
        }
        printf "    %s\n", why[g]
    }
    printf "%d goals met, %d missed, %d not measured\n", n_met, n_missed, n_none
}
