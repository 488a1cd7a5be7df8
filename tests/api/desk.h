/* steno tests: the shipped model, a session of it, the recording. SPDX-License-Identifier: MIT
 *
 * Opened once for all tests of a program: it gives desk_open and desk_close to cmocka, or calls them from its own. A program that compares,
 * to the bit, searches that want all logits with those that want the best defines DESK_COMPUTE STENO_COMPUTE_F32 before it includes this:
 * elsewhere logits may come in two stages. */
#ifndef STENO_TESTS_DESK_H
#define STENO_TESTS_DESK_H
#include "api/shipped.h"

#ifndef DESK_COMPUTE
#define DESK_COMPUTE STENO_COMPUTE_AUTO
#endif

enum { DESK_LANES = 5 };

static steno_model *model;
static steno_session *session; /* of DESK_LANES */
static struct audio demo, many; /* the recording; ten times it, in two windows */

static inline int desk_open(void **state)
{
    (void)state;
    model = shipped_open_as(DESK_COMPUTE);
    session = session_new(model, NULL, DESK_LANES);
    demo = demo_audio(0, 0, 1);
    many = demo_audio(0, 0, 10);
    return 0;
}

static inline int desk_close(void **state)
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

/* The recording is not transcribed with these, and the reason says `what`. */
static inline void refuse(const steno_transcribe_params *p, const char *what)
{
    assert_true(*what);
    const int rc = steno_transcribe(session, demo.pcm, demo.n, p);
    if (rc != STENO_EARG || !strstr(steno_last_error(session), what))
        fail_msg("status %d, '%s' does not say '%s'", rc, steno_last_error(session), what);
    assert_int_equal(steno_segment_count(session), 0);
}
#endif
