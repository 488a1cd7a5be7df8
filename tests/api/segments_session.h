/* steno tests: recognisers behind a voice-activity model, opened. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_SEGMENTS_SESSION_H
#define STENO_TESTS_SEGMENTS_SESSION_H
#include "parakeet_model.h"

enum { SECONDS = 100, N_FAMILIES = 3 };

static steno_model *family[N_FAMILIES], *vad; /* with a CTC head; by integrate-and-fire; a transducer */
static struct audio audio;

static inline int open_all(void **state)
{
    (void)state;
    family[0] = funasr_open(ctc_folder, NULL);
    family[1] = funasr_open(cif_folder, NULL);
    family[2] = funasr_open(pk_tdt_folder, NULL);
    vad = funasr_open(vad_folder, NULL);
    audio = bursts(SECONDS * RATE);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    steno_model_close(family[0]);
    steno_model_close(family[1]);
    steno_model_close(family[2]);
    steno_model_close(vad);
    free(audio.pcm);
    return 0;
}

static inline steno_transcribe_params params_of(const steno_model *finder)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.vad_model = finder;
    return p;
}

static inline uint64_t digest_of(const steno_session *s)
{
    return (result_digest(s) * 31 + spans_digest(s)) * 31 + (uint64_t)steno_duration_ms(s);
}

/* A session whose segments go through the encoder in runs of at most that number; 0: one by itself. */
static inline steno_session *session_of(const steno_model *m, int windows, steno_team *team, steno_batch **b)
{
    steno_session *s;
    steno_batch_params bp;
    steno_session_params sp;
    steno_session_params_init(&sp);
    steno_batch_params_init(&bp);
    *b = NULL;
    bp.max_windows = windows;
    if (windows) assert_int_equal(steno_batch_open(b, m, team, &bp, NULL), 0);
    sp.batch = *b;
    assert_int_equal(steno_session_open(&s, m, team, &sp, NULL), 0);
    return s;
}

static inline void session_gone(steno_session *s, steno_batch *b)
{
    steno_session_close(s);
    steno_batch_close(b);
}
#endif
