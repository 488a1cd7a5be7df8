/* steno tests: a model and a session, on the CPU's executor or the plain executor. SPDX-License-Identifier: MIT
 *
 * Both use level "c", so both compute with the C twins. A row of a product or of attention has the same bits for any grouping of rows
 * (the row contract of kern.h). The division of logits into slices does not change the result, either. So all results must have equal
 * bits, and are compared without tolerance. */
#ifndef STENO_TESTS_SIDE_H
#define STENO_TESTS_SIDE_H
#include "executor/plain_executor.h"
#include "internal.h"

struct side { steno_model *model; steno_session *session; struct plain_executor plain; };

/* f: the model's file; NULL: read the file at the path. */
static inline void side_open(struct side *g, const struct file *f, const char *path, int on_plain, int lanes, int unfused)
{
    steno_model_params p;
    steno_session_params own;
    steno_error e;
    memset(g, 0, sizeof *g);
    steno_model_params_init(&p);
    steno_session_params_init(&own);
    p.cpu_level = "c";
    own.max_lanes = lanes;
    plain_executor_open(&g->plain);
    const struct model_variant v = { .unfused = unfused, .executor = on_plain ? &g->plain.base : NULL };
    if (f ? model_open_file(&g->model, f, &p, &v, &e) : model_open_path(&g->model, path, &p, &v, &e)) fail_msg("%s", e.text);
    assert_int_equal(g->plain.n_spans > 0, on_plain);
    plain_forget_host(&g->plain);
    if (steno_session_open(&g->session, g->model, NULL, &own, &e)) fail_msg("%s", e.text);
}

static inline void side_close(struct side *g)
{
    steno_session_close(g->session);
    steno_model_close(g->model);
    plain_executor_close(&g->plain);
}

/* Check that segments, tokens and texts are equal. @return the number of tokens */
static inline int sides_agree(const struct side g[2])
{
    const int n = steno_segment_count(g[0].session);
    int n_tokens = 0;
    assert_int_equal(steno_segment_count(g[1].session), n);
    for (int i = 0; i < n; i++) {
        steno_segment a = { .size = sizeof a }, b = { .size = sizeof b };
        assert_int_equal(steno_segment_get(g[0].session, i, &a), 0);
        assert_int_equal(steno_segment_get(g[1].session, i, &b), 0);
        assert_string_equal(a.text, b.text);
        assert_int_equal(a.t0_ms, b.t0_ms);
        assert_int_equal(a.t1_ms, b.t1_ms);
        assert_int_equal(a.n_tokens, b.n_tokens);
        if (a.avg_logprob != b.avg_logprob) fail_msg("segment %d: %.9g and %.9g", i, a.avg_logprob, b.avg_logprob);
        if (a.no_speech_prob != b.no_speech_prob) fail_msg("segment %d: %.9g and %.9g", i, a.no_speech_prob, b.no_speech_prob);
        for (int j = 0; j < a.n_tokens; j++) {
            steno_token s = { .size = sizeof s }, t = { .size = sizeof t };
            assert_int_equal(steno_token_get(g[0].session, i, j, &s), 0);
            assert_int_equal(steno_token_get(g[1].session, i, j, &t), 0);
            if (s.id != t.id || s.ts_id != t.ts_id || s.logprob != t.logprob)
                fail_msg("segment %d, token %d: %d (%d, %.9g) and %d (%d, %.9g)", i, j, (int)s.id, (int)s.ts_id, (double)s.logprob,
                         (int)t.id, (int)t.ts_id, (double)t.logprob);
        }
        n_tokens += a.n_tokens;
    }
    return n_tokens;
}
#endif
