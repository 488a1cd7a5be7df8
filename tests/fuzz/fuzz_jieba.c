/* steno: fuzzing of dictionaries that text is cut by. SPDX-License-Identifier: MIT
 *
 * A dictionary, a NUL, words of a user's own, a NUL, and a text. Words are the text, one behind the other, and end between characters. */
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "text/jieba.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *take(const char **at, size_t *left, size_t *n)
{
    const char *s = *at, *nul = *left ? memchr(s, 0, *left) : NULL;
    *n = nul ? (size_t)(nul - s) : *left;
    *at += nul ? *n + 1 : *n;
    *left -= nul ? *n + 1 : *n;
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *at = (const char *)data;
    size_t n_text;
    struct jieba_lines all = { .where = "all" }, own = { .where = "own" };
    struct buf ends = { 0 };
    struct arena a;
    struct jieba d;
    steno_error e = { 0 };
    all.text = take(&at, &n, &all.n);
    own.text = take(&at, &n, &own.n);
    const char *text = take(&at, &n, &n_text);
    arena_init(&a);
    const int rc = jieba_init(&d, &a, &all, &own, &e);
    if (rc && (!e.status || !e.text[0])) abort();
    if (!rc && utf8_valid((const uint8_t *)text, n_text) == n_text) {
        if (jieba_cut(&d, text, n_text, &ends)) abort();
        const uint32_t *end = (const uint32_t *)(const void *)ends.p;
        size_t last = 0;
        for (size_t i = 0; i < ends.len / sizeof *end; i++) {
            if (end[i] <= last || end[i] > n_text || (end[i] < n_text && utf8_is_inside((uint8_t)text[end[i]]))) abort();
            last = end[i];
        }
        if (last != n_text) abort();
    }
    buf_free(&ends);
    arena_free(&a);
    return 0;
}
