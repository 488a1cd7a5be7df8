/* steno tests: a CTC model and a voice-activity model, opened, and their audio. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FUNASR_SESSION_H
#define STENO_TESTS_FUNASR_SESSION_H
#include "funasr_model.h"

static steno_model *ctc, *vad;
static struct audio audio; /* 31 s */

static inline int open_all(void **state)
{
    (void)state;
    ctc = funasr_open(ctc_folder, NULL);
    vad = funasr_open(vad_folder, NULL);
    audio = bursts(31 * RATE);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    steno_model_close(ctc);
    steno_model_close(vad);
    free(audio.pcm);
    return 0;
}

static inline steno_transcribe_params ctc_params(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    return p;
}

static inline uint64_t ctc_run(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, pcm, n, p)) fail_msg("%s", steno_last_error(s));
    return result_digest(s);
}

static inline uint64_t vad_run(steno_session *s, const float *pcm, int64_t n, int64_t piece)
{
    struct tap t = { pcm, n, 0, piece, 0, 0 };
    const steno_source src = tap_source(&t);
    if (steno_find_speech(s, &src, NULL)) fail_msg("%s", steno_last_error(s));
    return spans_digest(s);
}
#endif
