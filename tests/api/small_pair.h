/* steno tests: two small random models and the recording. SPDX-License-Identifier: MIT
 *
 * Windows of 0.6 s, opened once for all tests of a program. */
#ifndef STENO_TESTS_SMALL_PAIR_H
#define STENO_TESTS_SMALL_PAIR_H
#include "api/shipped.h"

static steno_model *model, *speaks_all; /* English; many languages, of which two texts can be had */
static struct audio demo;

static inline int pair_open(void **state)
{
    (void)state;
    model = random_model(&small_dims, DT_F16, 3, NULL);
    speaks_all = random_model(&small_multilingual, DT_F16, 4, NULL);
    demo = demo_audio(0, 0, 1);
    return 0;
}

static inline int pair_close(void **state)
{
    (void)state;
    steno_model_close(model);
    steno_model_close(speaks_all);
    free(demo.pcm);
    return 0;
}
#endif
