/* steno tests: the logits of a model's first choices. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LOGITS_H
#define STENO_TESTS_LOGITS_H
#include <math.h>
#include "shipped.h"

enum { CHOICES = 6 };
struct kept { int32_t n, n_vocab, ids[CHOICES]; float *logits; /* [CHOICES, n_vocab] */ };

static inline void keep_logits(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct kept *k = user;
    if (n >= CHOICES) return;
    k->n = n + 1;
    k->n_vocab = at->n_vocab;
    if (n) k->ids[n - 1] = tokens[n - 1];
    if (!k->logits) k->logits = malloc(CHOICES * (size_t)at->n_vocab * sizeof *logits);
    assert_non_null(k->logits);
    memcpy(k->logits + (size_t)n * (size_t)at->n_vocab, logits, (size_t)at->n_vocab * sizeof *logits);
}

/* Closes the model; free(kept.logits). */
static inline struct kept logits_of(steno_model *m, const struct audio *a)
{
    struct kept k = { 0 };
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.sample_len = CHOICES;
    p.logits_filter = keep_logits;
    p.user = &k;
    if (steno_transcribe(s, a->pcm, a->n, &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(k.n, CHOICES);
    steno_session_close(s);
    steno_model_close(m);
    return k;
}

static inline double cosine(const float *x, const float *y, int32_t n)
{
    double xy = 0, xx = 0, yy = 0;
    for (int32_t i = 0; i < n; i++) {
        xy += (double)x[i] * (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
    }
    return xy / sqrt(xx * yy);
}

/* Each choice, with the same text before it, points where the expected one does. */
static inline void logits_are_near(const char *name, const struct kept *got, const struct kept *want, double least)
{
    double worst = 1;
    assert_int_equal(got->n_vocab, want->n_vocab);
    assert_memory_equal(got->ids, want->ids, (CHOICES - 1) * sizeof *got->ids);
    for (int i = 0; i < CHOICES; i++) {
        const size_t at = (size_t)i * (size_t)got->n_vocab;
        worst = fmin(worst, cosine(got->logits + at, want->logits + at, got->n_vocab));
    }
    print_message("%s: least cosine of logits %.6f\n", name, worst);
    if (!(worst > least)) fail_msg("%s: cosine %.6f", name, worst);
}
#endif
