/* steno tests: attention that threads share. SPDX-License-Identifier: MIT
 *
 * With more threads than heads the keys of a head are taken block by block. The result must not depend on it: bit for bit the same on any
 * number of threads, shared or not, for every processor level, in f32 and beside narrow products. */
#include "api/random_model.h"
#include "internal.h"

enum { LANES = 4, PROMPT = 270, STEPS = 3, OUTS = 1 + STEPS * (LANES + 1) };

/* Two heads. Blocks of keys: three of the audio, two of the text; or two of either, where seven threads share the encoder's, too. */
static struct whisper_dims const dims[] = { { 80, 600, 64, 2, 1, SMALL_VOCAB, 300, 64, 2, 2 },
                                            { 80, 300, 64, 2, 1, SMALL_VOCAB, 300, 64, 2, 1 } };

static int32_t token_of(int lane, int i)
{
    return (lane * 577 + i * 131 + 3) % SMALL_VOCAB;
}

/* Rows so far; their logits behind those that `at` counts already. */
static void run_rows(steno_session *s, float *out, int *at)
{
    const size_t n = (size_t)inside_n_vocab(s->model);
    assert_int_equal(inside_replay(s, 1), 0);
    inside_clear(s);
    for (uint32_t i = 0; i < inside_n_logits(s); i++) {
        assert_true(*at < OUTS);
        memcpy(out + (size_t)(*at)++ * n, inside_logits(s, i), n * sizeof *out);
    }
}

/* Has anybody written a partial since the session was opened? */
static int shared(const struct cpu_exec *x)
{
    for (size_t i = 0; i < x->n_attn_partials * attn_partial_len(32); i++)
        if (x->attn_partials[i] != 0) return 1;
    return 0;
}

/* A prompt, then steps of one lane, which is forked, and steps of all: [OUTS, n_vocab]. share 0: without room for partials. */
static float *logits_of(const steno_model *m, steno_team *team, int share)
{
    float *out = calloc((size_t)OUTS * (size_t)inside_n_vocab(m), sizeof *out), *mel;
    int at = 0;
    uint32_t seed = 9;
    assert_non_null(out);
    steno_session *s = session_new(m, team, LANES);
    struct cpu_exec *x = inside_cpu(s);
    if (!share) x->n_attn_partials = 0;
    inside_begin(s);
    mel = inside_mel(s);
    for (size_t i = 0; i < inside_mel_n(m); i++) mel[i] = noise(&seed);
    assert_int_equal(inside_encode_for(s, 0, inside_audio_ctx(m)), 0);
    for (uint16_t l = 0; l < LANES; l++) inside_lane_reset(s, l);
    inside_lane(s, 1)->kv.enc_len = 100; /* sees less of the audio than those beside it */
    inside_clear(s);
    for (int i = 0; i < PROMPT; i++) {
        inside_add(s, token_of(0, i), i, 0, i == PROMPT - 1 ? ROW_LOGITS : 0);
        if (i == PROMPT / 2 || i == PROMPT - 1) run_rows(s, out, &at);
    }
    for (uint16_t l = 1; l < LANES; l++) inside_fork(s, l, 0);
    for (int k = 0; k < STEPS; k++) {
        for (uint16_t l = 0; l < LANES; l++) inside_add(s, token_of(l, PROMPT + k), PROMPT + k, l, ROW_LOGITS);
        run_rows(s, out, &at);
    }
    for (int k = 0; k < STEPS; k++) {
        inside_add(s, token_of(1, k), PROMPT + STEPS + k, 1, ROW_LOGITS);
        run_rows(s, out, &at);
    }
    assert_int_equal(at, OUTS);
    assert_int_equal(shared(x), share && team_threads(team) > 1);
    steno_session_close(s);
    return out;
}

static void same_on_any_team(const struct whisper_dims *d, const char *level, enum steno_compute compute)
{
    static const int threads[] = { 1, 2, 3, 7 };
    const struct bytes b = random_bytes(d, DT_F16, 6);
    steno_model *m = bytes_open_as(b, level, compute);
    float *one = logits_of(m, NULL, 1);
    for (size_t i = 0; i < 2 * sizeof threads / sizeof *threads; i++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads[i / 2], NULL), 0);
        float *many = logits_of(m, team, i % 2);
        assert_memory_equal(many, one, (size_t)OUTS * (size_t)inside_n_vocab(m) * sizeof *one);
        free(many);
        steno_team_close(team);
    }
    free(one);
    free(b.p);
    steno_model_close(m);
}

static void test_sharing_the_keys_of_a_head_changes_no_bit_on_any_number_of_threads(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    levels_for_models(level);
    for (const char *const *l = level; *l; l++)
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            same_on_any_team(&dims[i], *l, STENO_COMPUTE_F32);
            same_on_any_team(&dims[i], *l, STENO_COMPUTE_BF16);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharing_the_keys_of_a_head_changes_no_bit_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
