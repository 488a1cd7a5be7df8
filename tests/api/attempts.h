/* steno tests: the attempts that a call reports. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ATTEMPTS_H
#define STENO_TESTS_ATTEMPTS_H
#include "api/shipped.h"

enum { ATTEMPTS_MAX = 64, SCORES_MAX = 256 };

struct attempts {
    int n;
    steno_attempt a[ATTEMPTS_MAX];
    double score[ATTEMPTS_MAX][SCORES_MAX];
};

/* steno_transcribe_params.on_attempt; a chosen candidate that is not the first of the highest fails the test. */
static inline void attempts_note(void *user, const steno_attempt *a)
{
    struct attempts *l = user;
    assert_true(l->n < ATTEMPTS_MAX && a->n_candidates > 0 && a->n_candidates <= SCORES_MAX);
    int best = 0;
    for (int i = 1; i < a->n_candidates; i++)
        if (a->score[i] > a->score[best]) best = i;
    assert_int_equal(a->chosen, best);
    memcpy(l->score[l->n], a->score, (size_t)a->n_candidates * sizeof *a->score);
    l->a[l->n] = *a;
    l->a[l->n++].score = NULL;
}

/* One attempt with any result, written to l. */
static inline steno_transcribe_params params_noted(struct attempts *l)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    p.user = l;
    p.on_attempt = attempts_note;
    l->n = 0;
    return p;
}

/* All token ids of the result into ids[most]. @return their number */
static inline int tokens_of(const steno_session *s, int32_t *ids, int most)
{
    int n = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(s, i, &g); i++)
        for (int j = 0; j < g.n_tokens; j++) {
            assert_true(n < most);
            ids[n++] = g.tokens[j];
        }
    return n;
}
#endif
