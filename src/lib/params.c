/* steno: parameters of the public calls. SPDX-License-Identifier: MIT
 *
 * Callers own structs that grow from version to version. A call copies what its caller's version had over this version's defaults, so
 * later changes have no effect on it, and refuses what is out of range before work starts. */
#include <math.h>
#include <string.h>
#include "lib/job.h"

enum { WORD = 8 }; /* bytes of the widest field, which lies on a multiple of them: a size in between cuts a field in two */

int params_take(void *own, const void *theirs, size_t n, size_t least)
{
    uint32_t size;
    if (!theirs) return STENO_OK;
    memcpy(&size, theirs, sizeof size);
    if (size < least) return STENO_EARG;
    memcpy(own, theirs, size < n ? size - size % WORD : n);
    size = (uint32_t)n;
    memcpy(own, &size, sizeof size);
    return STENO_OK;
}

void params_give(void *theirs, uint32_t size, const void *own, size_t n)
{
    if (!theirs || size < sizeof size) return;
    memset(theirs, 0, size);
    memcpy(theirs, own, size < n ? size - size % WORD : n);
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

static int check_ids(steno_session *s, const char *what, const int32_t *ids, int32_t n, const char *text)
{
    const int32_t n_vocab = s->model->n_vocab;
    if (n < 0 || (n && !ids)) return err_set(&s->error, STENO_EARG, "n_%s is %d at no address, or less than none", what, (int)n);
    if (n && text) return err_set(&s->error, STENO_EARG, "%s and its text say the same twice: give one of them", what);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= n_vocab)
            return err_set(&s->error, STENO_EARG, "%s: id %d at place %d is not in a vocabulary of %d", what, (int)ids[i], (int)i,
                           (int)n_vocab);
    return STENO_OK;
}

/* Which attempts there are decides which searches make sense (openai-whisper, decoding.py, DecodingTask._verify_options; its ladder drops
 * at each temperature what does not apply). */
static int check_search(steno_session *s, const steno_transcribe_params *p)
{
    const double step = p->temperature_increment_on_fallback;
    const int hot = p->temperature > 0 || (step > 0 && p->temperature + step <= 1 + 1e-6);
    const int lanes = (int)s->batch->n_lanes;
    int rc = check_range(s, "beam_size", p->beam_size, 0, RUN_BEAMS);
    if (!rc) rc = check_range(s, "best_of", p->best_of, 0, RUN_BEAMS);
    if (rc) return rc;
    if (p->best_of && !hot)
        return err_set(&s->error, STENO_EARG, "best_of needs a temperature above 0: at 0 there is one most probable text");
    if (p->beam_size && p->temperature > 0)
        return err_set(&s->error, STENO_EARG,
                       "beam_size needs a temperature of 0 to begin with; above it candidates are drawn: use best_of");
    if (!isnan(p->patience) && !p->beam_size) return err_set(&s->error, STENO_EARG, "patience needs a beam_size");
    if (!isnan(p->patience)) rc = check_range(s, "beam_size * patience", nearbyint(p->beam_size * p->patience), 1, AR_FINISHED);
    if (!rc) rc = check_threshold(s, "length_penalty", p->length_penalty, 0, 1);
    if (!rc && (p->beam_size > lanes || p->best_of > lanes))
        rc = err_set(&s->error, STENO_EARG, "%s is %d, but the session was opened for %d sequences at a time (max_lanes)",
                     p->beam_size > lanes ? "beam_size" : "best_of", (int)(p->beam_size > lanes ? p->beam_size : p->best_of), lanes);
    return rc;
}

static int check_clips(steno_session *s, const steno_transcribe_params *p)
{
    if (p->n_clip_timestamps < 0 || (p->n_clip_timestamps && !p->clip_timestamps))
        return err_set(&s->error, STENO_EARG, "n_clip_timestamps is %d at no address, or less than none", (int)p->n_clip_timestamps);
    for (int32_t i = 0; i < p->n_clip_timestamps; i++) {
        const double t = p->clip_timestamps[i];
        if (!(t >= 0 && t <= 1e9))
            return err_set(&s->error, STENO_EARG, "clip_timestamps: %g at place %d is no time in seconds", t, (int)i);
        if (i % 2 && t <= p->clip_timestamps[i - 1])
            return err_set(&s->error, STENO_EARG, "clip_timestamps: the clip from %g s to %g s has no length",
                           p->clip_timestamps[i - 1], t);
    }
    const int clips = p->n_clip_timestamps > 0, part = p->offset_ms || p->duration_ms;
    if (clips + part + (p->chunk_ms != 0) > 1)
        return err_set(&s->error, STENO_EARG, "clip_timestamps, chunk_ms, and offset_ms with duration_ms exclude each other");
    if (p->chunk_ms && (p->chunk_ms < 1000 || p->chunk_ms > 20 * s->model->audio_ctx))
        return err_set(&s->error, STENO_EARG, "chunk_ms is %d, want 1000 to %d, or 0", (int)p->chunk_ms, 20 * (int)s->model->audio_ctx);
    if (p->chunk_ms && p->audio_ctx && p->chunk_ms > 20 * p->audio_ctx)
        return err_set(&s->error, STENO_EARG, "chunk_ms is %d, but a window is %d ms long (audio_ctx)", (int)p->chunk_ms,
                       20 * (int)p->audio_ctx);
    if ((p->chunk_ms || p->independent_clips) && p->condition_on_previous_text)
        return err_set(&s->error, STENO_EARG, "independent clips know nothing of each other: condition_on_previous_text must be 0");
    return check_range(s, "audio_ctx", p->audio_ctx, 0, s->model->audio_ctx);
}

int params_check_detection(steno_session *s, const steno_transcribe_params *p)
{
    const int rc = check_range(s, "language_detection_segments", p->language_detection_segments, 1, 1 << 20);
    return rc ? rc : check_range(s, "language_detection_threshold", p->language_detection_threshold, 0, 1);
}

static int check_words(steno_session *s, const steno_transcribe_params *p)
{
    if (!isnan(p->hallucination_silence_threshold) && !p->word_timestamps)
        return err_set(&s->error, STENO_EARG, "hallucination_silence_threshold needs word_timestamps");
    int rc = check_threshold(s, "hallucination_silence_threshold", p->hallucination_silence_threshold, 0, 1e9);
    if (!rc) rc = check_range(s, "token_threshold", p->token_threshold, 0, 1);
    if (!rc) rc = params_check_detection(s, p);
    if (!rc) rc = check_range(s, "max_context", p->max_context, -1, s->model->text_ctx);
    if (!rc) rc = check_range(s, "hotwords_boost", p->hotwords_boost, 0, 100);
    if (!rc && !(p->grammar_penalty >= 0))
        rc = err_set(&s->error, STENO_EARG, "grammar_penalty is %g, want 0 or more, or INFINITY to bar", p->grammar_penalty);
    if (!rc && p->grammar_rule && !p->grammar) rc = err_set(&s->error, STENO_EARG, "grammar_rule needs a grammar");
    return rc;
}

/* What only token by token decoding knows. */
static int check_ar(steno_session *s, const steno_transcribe_params *p)
{
    int rc = check_ids(s, "prompt_tokens", p->prompt_tokens, p->n_prompt_tokens, p->initial_prompt);
    if (!rc) rc = check_ids(s, "prefix_tokens", p->prefix_tokens, p->n_prefix_tokens, p->prefix);
    if (!rc) rc = check_search(s, p);
    if (!rc) rc = check_clips(s, p);
    return rc ? rc : check_words(s, p);
}

int params_check(steno_session *s, const steno_transcribe_params *p)
{
    if (p->task != STENO_TRANSCRIBE && p->task != STENO_TRANSLATE && p->task != STENO_TRANSCRIBE_AND_TRANSLATE)
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
    return rc ? rc : check_ar(s, p);
}
