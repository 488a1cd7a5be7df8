/* steno tests: a model of each kind, and calls of every kind with them. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_THREE_MODELS_H
#define STENO_TESTS_THREE_MODELS_H
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "parakeet_model.h"

static steno_model *model, *ctc, *tdt, *chunks, *vad, *lm, *aligner;
static struct audio audio, noises; /* 3.7 s; 31 s */

static inline int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    ctc = funasr_open(ctc_folder, NULL);
    tdt = funasr_open(pk_tdt_folder, NULL);
    chunks = funasr_open(pk_stream_folder, NULL);
    vad = funasr_open(vad_folder, NULL);
    assert_int_equal(steno_model_open(&lm, "tests/data/qwen3_asr", NULL, NULL), 0);
    assert_int_equal(steno_model_open(&aligner, "tests/data/qwen3_aligner", NULL, NULL), 0);
    audio = demo_audio(0, 0, 1);
    noises = bursts(31 * RATE);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    steno_model_close(ctc);
    steno_model_close(tdt);
    steno_model_close(chunks);
    steno_model_close(vad);
    steno_model_close(lm);
    steno_model_close(aligner);
    free(audio.pcm);
    free(noises.pcm);
    return 0;
}

/* One call of every kind, on a session of a model that serves it. */
enum kind { TRANSCRIBE, TRANSCRIBE_CTC, TRANSCRIBE_TDT, TRANSCRIBE_CHUNKS, TRANSCRIBE_LM, ALIGN_CLIPS, FIND_SPEECH, DETECT, BENCH,
            N_KINDS };

static inline const steno_model *model_for(enum kind kind)
{
    static steno_model **const own[N_KINDS] = { [TRANSCRIBE_CTC] = &ctc, [TRANSCRIBE_TDT] = &tdt, [TRANSCRIBE_CHUNKS] = &chunks,
                                                [TRANSCRIBE_LM] = &lm, [ALIGN_CLIPS] = &aligner, [FIND_SPEECH] = &vad };
    return own[kind] ? *own[kind] : model;
}

/* Audio over and over, n samples. */
struct loop { const struct audio *a; int64_t n, at, left; };

static inline int64_t loop_read(void *user, float *pcm, int64_t n)
{
    struct loop *l = user;
    int64_t take = l->a->n - l->at < n ? l->a->n - l->at : n;
    if (take > l->left) take = l->left;
    memcpy(pcm, l->a->pcm + l->at, (size_t)take * sizeof *pcm);
    l->at = (l->at + take) % l->a->n;
    l->left -= take;
    return take;
}

static inline int loop_rewind(void *user)
{
    struct loop *l = user;
    l->left = l->n;
    l->at = 0;
    return 0;
}

static inline int64_t call(steno_session *s, enum kind kind)
{
    const steno_transcribe_params p = params_new();
    const int speech = kind == TRANSCRIBE || kind == DETECT;
    const int64_t n = (speech ? SANITIZED ? 2 : 6 : 31) * RATE;
    struct loop l = { speech ? &audio : &noises, n, 0, n };
    const steno_source src = { loop_read, loop_rewind, &l };
    switch (kind) {
    case TRANSCRIBE: return steno_transcribe_source(s, &src, &p);
    case TRANSCRIBE_CTC:
    case TRANSCRIBE_TDT:
    case TRANSCRIBE_LM:
    case TRANSCRIBE_CHUNKS: return steno_transcribe_source(s, &src, NULL);
    case ALIGN_CLIPS: return steno_align(s, &src, "Four zero,\nnine-eight.", NULL);
    case FIND_SPEECH: return steno_find_speech(s, &src, NULL);
    case DETECT: return steno_detect_language(s, &src, NULL, 0);
    default: return steno_bench_phase(s, "decode", 60);
    }
}

struct pest { pthread_t id; steno_session *s; _Atomic int done; };

/* Asks for the end of whatever runs, until it has ended. */
static inline void *cancel_over_and_over(void *arg)
{
    struct pest *p = arg;
    for (unsigned us = 1; !atomic_load(&p->done); us = us < 500 ? 2 * us : 500) {
        usleep(us);
        steno_cancel(p->s);
    }
    return NULL;
}
#endif
