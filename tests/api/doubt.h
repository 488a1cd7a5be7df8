/* steno tests: the desk, and beside it a random model, whose choices are near ties. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_DOUBT_H
#define STENO_TESTS_DOUBT_H
#include "api/desk.h"

enum { HALF_SECOND = RATE / 2 };

static steno_model *random1;
static steno_session *doubtful; /* of the random model, DESK_LANES */

static inline int doubt_open(void **state)
{
    random1 = random_model_as(&small_dims, DT_F16, 3, NULL, DESK_COMPUTE);
    doubtful = session_new(random1, NULL, DESK_LANES);
    return desk_open(state);
}

static inline int doubt_close(void **state)
{
    steno_session_close(doubtful);
    steno_model_close(random1);
    return desk_close(state);
}

/* The recording; half a second of it for other models than the shipped one. */
static inline void run_demo(steno_session *s, const steno_transcribe_params *p)
{
    run_on(s, &(struct audio){ demo.pcm, s == session ? demo.n : HALF_SECOND }, p);
}
#endif
