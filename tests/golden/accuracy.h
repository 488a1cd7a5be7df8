/* steno tests: what fast arithmetic may change. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ACCURACY_H
#define STENO_TESTS_ACCURACY_H
#include "golden.h"

/* Numbers of a row of doc/accuracy.tsv for a level. @return whether it has one */
static inline int figures_of(FILE *f, const char *row, const char *level, int v[4])
{
    char line[256], start[128];
    snprintf(start, sizeof start, "%s\t%s\t", row, level);
    rewind(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, start, strlen(start))) return sscanf(line + strlen(start), "%d %d %d %d", v, v + 1, v + 2, v + 3) == 4;
    return 0;
}

/* The figure of a row of doc/accuracy.tsv for a level (NULL: the one that tests run at) and an arithmetic. For STENO_COMPUTE_AUTO it is the
 * number of texts or words that were compared. */
static inline int figure(const char *row, const char *level, enum steno_compute compute)
{
    static const int column[] = { [STENO_COMPUTE_AUTO] = 0, [STENO_COMPUTE_BF16] = 1, [STENO_COMPUTE_INT16] = 2, [STENO_COMPUTE_INT8] = 3 };
    const char *usable[LEVELS_MAX];
    int v[4] = { 0 };
    FILE *f = fopen("doc/accuracy.tsv", "r");
    assert_non_null(f);
    if (!level) level = level_tested();
    if (!level) level = usable[levels_usable(usable) - 1];
    const int found = figures_of(f, row, level, v) || figures_of(f, row, "other", v);
    fclose(f);
    if (!found) fail_msg("doc/accuracy.tsv has no %s", row);
    return v[column[compute]];
}
#endif
