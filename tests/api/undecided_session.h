/* steno tests: the shipped model's session, and one of a random model, whose choices are near ties. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_UNDECIDED_SESSION_H
#define STENO_TESTS_UNDECIDED_SESSION_H
#include "api/shipped_session.h"

enum { HALF_SECOND = RATE / 2 };

static steno_model *random1;
static steno_session *undecided; /* of the random model, SHIPPED_LANES */

static inline int undecided_open(void **state)
{
    random1 = random_model_as(&small_dims, DT_F16, 3, NULL, SHIPPED_COMPUTE);
    undecided = session_new(random1, NULL, SHIPPED_LANES);
    return shipped_session_open(state);
}

static inline int undecided_close(void **state)
{
    steno_session_close(undecided);
    steno_model_close(random1);
    return shipped_session_close(state);
}

/* The recording; half a second of it for other models than the shipped one. */
static inline void run_demo(steno_session *s, const steno_transcribe_params *p)
{
    run_on(s, &(struct audio){ demo.pcm, s == session ? demo.n : HALF_SECOND }, p);
}
#endif
