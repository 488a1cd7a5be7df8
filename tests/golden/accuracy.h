/* steno tests: what fast arithmetic may change. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ACCURACY_H
#define STENO_TESTS_ACCURACY_H
#include "golden.h"

/* The figure of a row of doc/accuracy.tsv for an arithmetic; of how many where it is STENO_COMPUTE_AUTO. */
static inline int figure(const char *row, enum steno_compute compute)
{
    static const int column[] = { [STENO_COMPUTE_AUTO] = 0, [STENO_COMPUTE_BF16] = 1, [STENO_COMPUTE_INT16] = 2, [STENO_COMPUTE_INT8] = 3 };
    char line[256], *tab;
    int v[4] = { 0 }, found = 0;
    FILE *f = fopen("doc/accuracy.tsv", "r");
    assert_non_null(f);
    while (!found && fgets(line, sizeof line, f))
        found = (tab = strchr(line, '\t')) && (size_t)(tab - line) == strlen(row) && strncmp(line, row, strlen(row)) == 0 &&
                sscanf(tab, "%d %d %d %d", v, v + 1, v + 2, v + 3) == 4;
    fclose(f);
    if (!found) fail_msg("doc/accuracy.tsv has no %s", row);
    return v[column[compute]];
}
#endif
