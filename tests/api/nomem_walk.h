/* steno tests: a way from files to a result, with each of its allocations failing in turn. SPDX-License-Identifier: MIT
 *
 * It must end with STENO_ENOMEM and a reason, or with the right result, and nothing stays behind. */
#ifndef STENO_TESTS_NOMEM_WALK_H
#define STENO_TESTS_NOMEM_WALK_H
#include "heap.h"

enum { ALLOCATIONS_MAX = 5000 };

/* Sums up what a conversion writes. */
struct sum { uint64_t hash; };

static inline int sum_take(void *user, const void *data, size_t n)
{
    struct sum *sum = user;
    for (size_t i = 0; i < n; i++) sum->hash = (sum->hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return 0;
}

/* Go a way once for each of its allocations. */
static inline void go(const char *name, int (*way)(uint64_t *digest, steno_error *e))
{
    int64_t n = 0, done_without = 0;
    uint64_t want, got;
    steno_error e = { 0 };
    if (way(&want, &e)) fail_msg("%s: %s", name, e.text); /* what libraries keep for good is taken here */
    for (int rc = -1; rc; n++) {
        e = (steno_error){ 0 };
        count_begin(n);
        rc = way(&got, &e);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text))
            fail_msg("%s, allocation %lld fails: status %d \"%s\"", name, (long long)n, rc, e.text);
        if (h.bytes) fail_msg("%s, allocation %lld fails: %lld bytes stay behind", name, (long long)n, (long long)h.bytes);
        if (!rc && got != want) fail_msg("%s, allocation %lld fails: another result and no error", name, (long long)n);
        if (!rc && h.calls > n) rc = -1, done_without++; /* say, of a regular expression's machine code */
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%s: %lld allocations, %lld of them not needed\n", name, (long long)n - 1, (long long)done_without);
    assert_true(n > 10);
}
#endif
