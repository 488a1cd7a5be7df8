/* steno tests: a small language model, and all that it makes of a prompt. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_LM_MODEL_H
#define STENO_TESTS_LM_MODEL_H
#include <stdio.h>
#include <stdlib.h>
#include <steno/steno.h>
#include "harness.h"

static char const small_lm[] = "tests/data/lm/qwen3-q4_0.gguf";

enum { LM_IDS_MAX = 600, LM_NEW_MAX = 128, LM_TEXT_MAX = 4096 };

static inline steno_model *lm_open_as(const char *path, enum steno_compute compute, int text_ctx)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.text_ctx = text_ctx;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static inline steno_session *lm_session(const steno_model *m, steno_team *team, steno_batch *b)
{
    steno_session_params p;
    steno_session *s;
    steno_error e;
    steno_session_params_init(&p);
    p.batch = b;
    if (steno_session_open(&s, m, team, &p, &e)) fail_msg("%s", e.text);
    return s;
}

/* All facts about a generated text. */
struct lm_made { int rc, n, finish; int32_t id[LM_NEW_MAX]; float logprob[LM_NEW_MAX]; char text[LM_TEXT_MAX]; };

static inline void lm_made_of(struct lm_made *to, const steno_session *s, int rc)
{
    memset(to, 0, sizeof *to);
    to->rc = rc;
    to->finish = steno_generate_finish(s);
    (void)steno_generated(s, &to->n);
    assert_in_range(to->n, 0, LM_NEW_MAX);
    for (int i = 0; i < to->n; i++) {
        steno_token tok = { .size = sizeof tok };
        assert_int_equal(steno_generated_get(s, i, &tok), 0);
        to->id[i] = tok.id;
        to->logprob[i] = tok.logprob;
    }
    snprintf(to->text, sizeof to->text, "%s", steno_generated_text(s));
}

static inline int lm_differ(const struct lm_made *a, const struct lm_made *b) { return memcmp(a, b, sizeof *a) != 0; }

/* Ids of a text of no meaning. */
static inline void lm_ids(int32_t *ids, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        ids[i] = (int32_t)((seed >> 8) % 580);
    }
}

static inline steno_timings lm_timings(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), 0);
    return t;
}
#endif
