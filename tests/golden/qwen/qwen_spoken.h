/* steno tests: the small Qwen3-ASR and the demo recording, three times. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_QWEN_SPOKEN_H
#define STENO_TESTS_QWEN_SPOKEN_H
#include "qwen3_asr.h"
#include "api/shipped.h"

static struct audio audio;
static steno_model *model;

static inline int spoken_open(void **state)
{
    (void)state;
    audio = demo_audio(0, 0, 3);
    model = qwen_open(qwen_dir);
    return audio.n >= 8 * RATE ? 0 : -1;
}

static inline int spoken_close(void **state)
{
    (void)state;
    steno_model_close(model);
    free(audio.pcm);
    return 0;
}
#endif
