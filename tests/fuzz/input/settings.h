/* steno: a fuzzer's input as settings. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FUZZ_SETTINGS_INPUT_H
#define STENO_TESTS_FUZZ_SETTINGS_INPUT_H
#include <stdlib.h>
#include <string.h>
#include "load/meta.h"

typedef int settings_reader(struct meta *m, const char *prefix, const struct file *f, steno_error *e);

/* Read it, ask for every key that came of it, and check what the table promises. */
static inline void settings_try(settings_reader *read, const uint8_t *data, size_t n)
{
    struct arena a;
    struct meta m;
    struct file f;
    steno_error e = { 0 };
    uint8_t *own = malloc(n ? n : 1);
    if (!own) return;
    if (n) memcpy(own, data, n);
    arena_init(&a);
    meta_init(&m, &a);
    file_from_memory(&f, "fuzz", own, n);
    if (read(&m, n & 1 ? "prefix" : NULL, &f, &e) && (!e.status || !e.text[0])) abort(); /* a refusal without a reason */
    for (uint32_t i = 0; i < m.n; i++) {
        const struct meta_entry *it = &m.entry[i];
        int32_t v = 0;
        double x = 0;
        if (strlen(it->key) > META_KEY_MAX || (i < 200 && !meta_find(&m, it->key))) abort();
        if ((it->kind == META_TEXT) != (it->text != NULL)) abort();
        if (!meta_int(&m, "fuzz", it->key, -5, 5, 0, &v, &e) && (v < -5 || v > 5)) abort();
        if (!meta_num(&m, "fuzz", it->key, -5, 5, 0, &x, &e) && !(x >= -5 && x <= 5)) abort();
        if (i > 1000) break;
    }
    arena_free(&a);
    free(own);
}
#endif
