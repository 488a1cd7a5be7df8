/* steno: the intended form of a mistyped word. SPDX-License-Identifier: MIT */
#include "word_near.h"
#include <string.h>

enum { WORD_MAX = 48 };

static int least(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

int word_distance(const char *a, const char *b)
{
    const int na = (int)strnlen(a, WORD_MAX + 1), nb = (int)strnlen(b, WORD_MAX + 1);
    int row[3][WORD_MAX + 1]; /* rows i-2, i-1, i of the table, in rotation */
    if (na > WORD_MAX || nb > WORD_MAX) return WORD_MAX;
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *cur = row[i % 3], *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];
        cur[0] = i;
        for (int j = 1; j <= nb; j++) {
            cur[j] = least(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) cur[j] = least(cur[j], prev2[j - 2] + 1, cur[j]);
        }
    }
    return row[na % 3][nb];
}

int word_near(const char *word, const char *name)
{
    const size_t n = strlen(word);
    if (n >= 2 && strncmp(word, name, n) == 0) return 0;
    const int d = word_distance(word, name);
    return d <= (n < 5 ? 1 : 1 + (int)(n / 4)) && d < (int)strlen(name) ? d : -1;
}
