/* steno tests: a session on another executor. SPDX-License-Identifier: MIT
 *
 * The plain executor shares nothing with the CPU's but the seam and the C twins. Whole sessions on it give the same tokens and the
 * same numbers (side.h has the reason); their parts do not depend on which one it is. */
#include "api/random_model.h"
#include "executor/side.h"

enum { SECONDS = 2, PCM = SECONDS * 16000 };

static void random_open(struct side *g, struct bytes b, int on_plain, int lanes, int unfused)
{
    struct file f;
    file_from_memory(&f, "random", b.p, b.n);
    side_open(g, &f, NULL, on_plain, lanes, unfused);
}

static float *sound(void)
{
    float *pcm = malloc(PCM * sizeof *pcm);
    uint32_t seed = 5;
    assert_non_null(pcm);
    for (int i = 0; i < PCM; i++) pcm[i] = 0.1f * noise(&seed) * (float)(1 + i / 4000 % 3);
    return pcm;
}

static void filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at, (void)tokens, (void)n;
    for (int i = 0; i < *(int *)user; i += 3) logits[i] -= 1.5f;
}

static void transcribe(struct side *g, const float *pcm, const steno_transcribe_params *p)
{
    if (steno_transcribe(g->session, pcm, PCM, p)) fail_msg("%s", steno_last_error(g->session));
}

/* Both transcribe; the same comes out. @return tokens */
static int same_results(struct side g[2], const steno_transcribe_params *p)
{
    float *pcm = sound();
    for (int i = 0; i < 2; i++) transcribe(&g[i], pcm, p);
    free(pcm);
    return sides_agree(g);
}

static void test_sessions_give_the_same_results(void **state)
{
    (void)state;
    enum { LANGUAGE, GREEDY, BEAMS, DRAWS, WORDS, FILTER, WAYS };
    for (int unfused = 0; unfused < 2; unfused++)
        for (int k = unfused ? GREEDY : LANGUAGE; k < (unfused ? DRAWS : WAYS); k++) {
            int n_vocab = k == LANGUAGE ? MULTILINGUAL : SMALL_VOCAB;
            const struct bytes b = random_bytes(k == LANGUAGE ? &small_multilingual : &small_dims, DT_F16, 3);
            struct side g[2];
            steno_transcribe_params p;
            for (int i = 0; i < 2; i++) random_open(&g[i], b, i, 3, unfused);
            steno_transcribe_params_init(&p);
            p.guards = STENO_GUARDS_OFF; /* the sound is noise */
            p.temperature_increment_on_fallback = 0;
            if (k == BEAMS) p.beam_size = 3;
            if (k == DRAWS) p.temperature = 0.8, p.best_of = 3;
            if (k == WORDS) p.word_timestamps = 1;
            if (k == FILTER) p.logits_filter = filter, p.user = &n_vocab;
            if (k == LANGUAGE) p.sample_len = 20;
            assert_true(same_results(g, &p) > 0);
            for (int i = 0; i < 2; i++) side_close(&g[i]);
            free(b.p);
        }
}

static void test_encoder_output_is_the_same(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&small_dims, DT_F16, 4);
    struct side g[2];
    const float *rows[2];
    size_t ld[2];
    for (int i = 0; i < 2; i++) {
        random_open(&g[i], b, i, 1, 0);
        inside_begin(g[i].session);
        uint32_t seed = 7;
        for (size_t k = 0; k < inside_mel_n(g[i].model); k++) inside_mel(g[i].session)[k] = noise(&seed);
        assert_int_equal(inside_encode(g[i].session), 0);
        const struct plan *p = inside_plan(g[i].model, PLAN_ENCODER);
        rows[i] = exec_output(inside_exec(g[i].session), p, p->output, 0, p->max_rows, &ld[i]);
        assert_non_null(rows[i]);
    }
    assert_true(ld[0] != ld[1]);
    for (int r = 0; r < small_dims.n_audio_ctx; r++)
        for (int i = 0; i < small_dims.n_audio_state; i++) {
            const float x = rows[0][(size_t)r * ld[0] + (size_t)i], y = rows[1][(size_t)r * ld[1] + (size_t)i];
            if (x != y) fail_msg("row %d, channel %d: %.9g and %.9g", r, i, (double)x, (double)y);
        }
    for (int i = 0; i < 2; i++) side_close(&g[i]);
    free(b.p);
}

/* Any run may fail: the call has an error, and the next call works. */
static void test_a_run_that_fails_gives_a_reason(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&small_dims, DT_F16, 3);
    struct side g;
    random_open(&g, b, 1, 1, 0);
    float *pcm = sound();
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    transcribe(&g, pcm, &p);
    const int all = g.plain.n_runs;
    assert_true(all > 3);
    for (int at = 1; at <= all; at += at < 4 ? 1 : 7) {
        g.plain.n_runs = 0;
        g.plain.fails_at = at;
        assert_int_equal(steno_transcribe(g.session, pcm, PCM, &p), STENO_EIO);
        assert_non_null(strstr(steno_last_error(g.session), "fails as requested"));
        g.plain.fails_at = 0;
        transcribe(&g, pcm, &p);
    }
    free(pcm);
    side_close(&g);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder_output_is_the_same),
        cmocka_unit_test(test_sessions_give_the_same_results),
        cmocka_unit_test(test_a_run_that_fails_gives_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
