/* steno tests: the shipped model, a session of it, the recording. SPDX-License-Identifier: MIT
 *
 * Opened once for all tests of a program: it gives shipped_session_open and shipped_session_close to cmocka, or calls them from its own. A
 * program that compares, to the bit, searches that want all logits with those that want the best defines SHIPPED_COMPUTE as
 * STENO_COMPUTE_F32 before it includes this: elsewhere logits may come in two stages. */
#ifndef STENO_TESTS_SHIPPED_SESSION_H
#define STENO_TESTS_SHIPPED_SESSION_H
#include "api/shipped.h"

#ifndef SHIPPED_COMPUTE
#define SHIPPED_COMPUTE STENO_COMPUTE_AUTO
#endif

enum { SHIPPED_LANES = 5 };

static steno_model *model;
static steno_session *session; /* of SHIPPED_LANES */
static struct audio demo, many; /* the recording; ten times it, in two windows */

static inline int shipped_session_open(void **state)
{
    (void)state;
    model = shipped_open_as(SHIPPED_COMPUTE);
    session = session_new(model, NULL, SHIPPED_LANES);
    demo = demo_audio(0, 0, 1);
    many = demo_audio(0, 0, 10);
    return 0;
}

static inline int shipped_session_close(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    free(demo.pcm);
    free(many.pcm);
    return 0;
}

static inline void run_on(steno_session *s, const struct audio *a, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, a->pcm, a->n, p)) fail_msg("%s", steno_last_error(s));
}

static inline void run(const struct audio *a, const steno_transcribe_params *p)
{
    run_on(session, a, p);
}

/* The recording is not transcribed with these, and the reason has `what`. */
static inline void refuse(const steno_transcribe_params *p, const char *what)
{
    assert_true(*what);
    const int rc = steno_transcribe(session, demo.pcm, demo.n, p);
    if (rc != STENO_EARG || !strstr(steno_last_error(session), what))
        fail_msg("status %d, '%s' does not say '%s'", rc, steno_last_error(session), what);
    assert_int_equal(steno_segment_count(session), 0);
}

/* Of all segments. */
static inline int n_tokens(void)
{
    int n = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) n += g.n_tokens;
    return n;
}
#endif
