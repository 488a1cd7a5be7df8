/* steno tests: a vocabulary for one test. SPDX-License-Identifier: MIT
 *
 * Ids 0..255 are the bytes. Strings follow, and one empty entry, which ends text. */
#ifndef STENO_TESTS_TOY_VOCAB_H
#define STENO_TESTS_TOY_VOCAB_H
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "text/vocab.h"

struct toy {
    struct arena arena;
    struct vocab v;
    int32_t n_text; /* also the id of the empty entry */
};

static struct toy toy_of(const char *const *strings, int n)
{
    static uint8_t byte[256];
    struct toy t = { .n_text = 256 + n };
    arena_init(&t.arena);
    assert_int_equal(vocab_init(&t.v, &t.arena, t.n_text + 1, t.n_text, NULL), 0);
    for (int i = 0; i < 256; i++) {
        byte[i] = (uint8_t)i;
        vocab_set(&t.v, i, &byte[i], 1);
    }
    for (int i = 0; i < n; i++) vocab_set(&t.v, 256 + i, (const uint8_t *)strings[i], (uint32_t)strlen(strings[i]));
    assert_int_equal(vocab_index(&t.v, &t.arena, NULL), 0);
    return t;
}

#define TOY(...) toy_of((const char *const[]) { __VA_ARGS__ }, (int)(sizeof((const char *const[]) { __VA_ARGS__ }) / sizeof(char *)))

static void toy_free(struct toy *t)
{
    arena_free(&t->arena);
}
#endif
