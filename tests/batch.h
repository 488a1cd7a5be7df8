/* steno tests: sessions of a batch, and calls that are canceled. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_BATCH_H
#define STENO_TESTS_BATCH_H
#include "harness.h"
#include <steno/steno.h>

/* A batch whose requests call on_done when they have ended; on_done may be NULL. */
static inline steno_batch *batch_telling(const steno_model *m, steno_team *t, int windows, void *user,
                                         void (*on_done)(void *user, steno_session *s, int status))
{
    steno_batch *b;
    steno_batch_params p;
    steno_error e;
    steno_batch_params_init(&p);
    p.max_windows = windows;
    p.user = user;
    p.on_done = on_done;
    if (steno_batch_open(&b, m, t, &p, &e)) fail_msg("%s", e.text);
    return b;
}

static inline steno_batch *batch_with(const steno_model *m, int windows)
{
    return batch_telling(m, NULL, windows, NULL, NULL);
}

static inline steno_session *member_new(const steno_model *m, steno_batch *b)
{
    steno_session *s;
    steno_session_params p;
    steno_session_params_init(&p);
    p.batch = b;
    assert_int_equal(steno_session_open(&s, m, NULL, &p, NULL), 0);
    return s;
}

/* State of a should_abort callback: the number of calls, and the call from which on it returns 1. */
struct stopping { int calls, at; };

static inline int stop_at(void *user)
{
    struct stopping *t = user;
    return ++t->calls >= t->at;
}
#endif
