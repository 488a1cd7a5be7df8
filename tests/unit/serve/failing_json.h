/* steno tests: the n-th allocation of jansson fails, and those after it. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FAILING_JSON_H
#define STENO_TESTS_FAILING_JSON_H
#include "harness.h"
#include <jansson.h>

static long json_left = -1, json_open, json_failed; /* allocations until one fails, -1: none does; those not freed; failures */

static inline void *json_alloc(size_t n)
{
    if (json_left == 0) {
        json_failed++;
        return NULL;
    }
    if (json_left > 0) json_left--;
    void *p = malloc(n);
    json_open += !!p;
    return p;
}

static inline void json_release(void *p)
{
    json_open -= !!p;
    free(p);
}

/* `make` returns a text or NULL, for free(). It is called until no allocation fails. */
static inline void check_failures(char *(*make)(size_t *n), long at_least)
{
    long fails = 0;
    json_set_alloc_funcs(json_alloc, json_release);
    for (;; fails++) {
        size_t n = 1;
        json_left = fails;
        json_open = json_failed = 0;
        char *text = make(&n);
        assert_int_equal(n, text ? strlen(text) : 0);
        assert_int_equal(json_open, !!text); /* the text itself */
        json_left = -1;
        if (text) json_release(text);
        if (!text != !!json_failed) fail_msg("allocation %ld fails, and there is a text", fails);
        if (!json_failed) break;
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(fails > at_least);
}
#endif
