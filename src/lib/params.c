/* steno: parameters of the public calls. SPDX-License-Identifier: MIT
 *
 * Callers own structs that grow from version to version. A call copies what its caller's version had over this version's defaults, so
 * later changes have no effect on it, and refuses what is out of range before work starts. */
#include <math.h>
#include <string.h>
#include "lib/job.h"

int params_take(void *own, const void *theirs, size_t n, size_t least)
{
    uint32_t size;
    if (!theirs) return STENO_OK;
    memcpy(&size, theirs, sizeof size);
    if (size < least) return STENO_EARG;
    memcpy(own, theirs, size < n ? size : n);
    size = (uint32_t)n;
    memcpy(own, &size, sizeof size);
    return STENO_OK;
}

void params_give(void *theirs, uint32_t size, const void *own, size_t n)
{
    if (!theirs || size < sizeof size) return;
    memset(theirs, 0, size);
    memcpy(theirs, own, size < n ? size : n);
    memcpy(theirs, &size, sizeof size);
}

void steno_transcribe_params_fill(steno_transcribe_params *p, uint32_t size)
{
    const steno_transcribe_params own = { .suppress_tokens = "-1", .condition_on_previous_text = 1, .suppress_blank = 1,
                                          .max_initial_timestamp = 1.0, .no_speech_threshold = 0.6, .logprob_threshold = -1.0,
                                          .temperature_increment_on_fallback = 0.2, .compression_ratio_threshold = 2.4,
                                          .entropy_threshold = (double)NAN, .guards = STENO_GUARDS_FLAG,
                                          .patience = (double)NAN, .length_penalty = (double)NAN, .max_context = -1,
                                          .grammar_penalty = (double)INFINITY, .hotwords_boost = 2, .language_detection_segments = 1,
                                          .language_detection_threshold = 0.5, .hallucination_silence_threshold = (double)NAN,
                                          .token_threshold = 0.01 };
    params_give(p, size, &own, sizeof own);
}

static int check_range(steno_session *s, const char *what, double v, double lo, double hi)
{
    if (v >= lo && v <= hi) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%s is %g, want %g to %g", what, v, lo, hi);
}

/* A threshold, or NAN for none. */
static int check_threshold(steno_session *s, const char *what, double v, double lo, double hi)
{
    if (isnan(v) || (v >= lo && v <= hi)) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%s is %g, want %g to %g, or NAN for none", what, v, lo, hi);
}

static int check_increment(steno_session *s, double v)
{
    if (isnan(v) || v == 0 || (v >= INCREMENT_LEAST && v <= 100)) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "temperature_increment_on_fallback is %g, want %g to 100, or 0 for one attempt", v,
                   INCREMENT_LEAST);
}

static int check_prompt(steno_session *s, const steno_transcribe_params *p)
{
    const int32_t n_vocab = s->model->n_vocab;
    if (p->n_prompt_tokens < 0 || (p->n_prompt_tokens && !p->prompt_tokens))
        return err_set(&s->error, STENO_EARG, "n_prompt_tokens is %d at no address, or less than none", (int)p->n_prompt_tokens);
    if (p->n_prompt_tokens && p->initial_prompt)
        return err_set(&s->error, STENO_EARG, "initial_prompt and prompt_tokens say the same twice: give one of them");
    for (int32_t i = 0; i < p->n_prompt_tokens; i++)
        if (p->prompt_tokens[i] < 0 || p->prompt_tokens[i] >= n_vocab)
            return err_set(&s->error, STENO_EARG, "prompt_tokens: id %d at place %d is not in a vocabulary of %d", (int)p->prompt_tokens[i],
                           (int)i, (int)n_vocab);
    return STENO_OK;
}

int params_check(steno_session *s, const steno_transcribe_params *p)
{
    if (p->task != STENO_TRANSCRIBE && p->task != STENO_TRANSLATE)
        return err_set(&s->error, STENO_EARG, "task %d is not known", (int)p->task);
    int rc = check_range(s, "temperature", p->temperature, 0, 100);
    if (!rc) rc = check_increment(s, p->temperature_increment_on_fallback);
    if (!rc) rc = check_range(s, "sample_len", p->sample_len, 0, s->model->text_ctx);
    if (!rc) rc = check_range(s, "max_initial_timestamp", p->max_initial_timestamp, 0, 30);
    if (!rc) rc = check_range(s, "offset_ms", (double)p->offset_ms, 0, 1e15);
    if (!rc) rc = check_range(s, "duration_ms", (double)p->duration_ms, 0, 1e15);
    if (!rc) rc = check_threshold(s, "no_speech_threshold", p->no_speech_threshold, 0, 1);
    if (!rc) rc = check_threshold(s, "logprob_threshold", p->logprob_threshold, -1e9, 0);
    if (!rc) rc = check_threshold(s, "compression_ratio_threshold", p->compression_ratio_threshold, 0, 1e9);
    if (!rc) rc = check_threshold(s, "entropy_threshold", p->entropy_threshold, 0, 1e9);
    if (!rc && (p->itn || p->ban_unknown_emotion))
        rc = err_set(&s->error, STENO_EARG, "itn and ban_unknown_emotion are for models with tags; a %s model has none",
                     s->model->family->name);
    if (!rc) rc = check_range(s, "guards", p->guards, STENO_GUARDS_OFF, STENO_GUARDS_RETRY);
    return rc ? rc : check_prompt(s, p);
}
