/* steno tests: models whose matrices are of K types. SPDX-License-Identifier: MIT */
#include "shipped.h"
#include "internal.h"

static struct whisper_dims const dims = { 80, 40, 256, 4, 2, SMALL_VOCAB, 70, 256, 4, 2 };
static char const *const names[] = { "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs" };

enum { TYPES = sizeof names / sizeof *names, MAX_TOKENS = 1000 };

static int transcribe_noise(int32_t ids[MAX_TOKENS], enum dtype type, const char *level)
{
    enum { SECONDS = 1 };
    static float pcm[SECONDS * RATE];
    uint32_t seed = 1;
    for (int i = 0; i < SECONDS * RATE; i++) pcm[i] = 0.3f * noise(&seed);
    steno_model *m = random_model_as(&dims, type, 3, level, STENO_COMPUTE_F32); /* auto differs from level to level */
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p = params_new();
    p.guards = STENO_GUARDS_OFF; /* noise has no speech */
    p.without_timestamps = 1;
    p.sample_len = 24;
    p.temperature_increment_on_fallback = 0; /* noise would pass at no temperature */
    if (steno_transcribe(s, pcm, SECONDS * RATE, &p)) fail_msg("%s", steno_last_error(s));
    int n = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        for (int j = 0; j < g.n_tokens && n < MAX_TOKENS; j++) ids[n++] = g.tokens[j];
    }
    steno_session_close(s);
    steno_model_close(m);
    return n;
}

static void test_every_level_chooses_the_same_tokens(void **state)
{
    (void)state;
    static int32_t want[MAX_TOKENS], got[MAX_TOKENS];
    const char *level[LEVELS_MAX];
    levels_for_models(level);
    for (int t = 0; t < TYPES; t++) {
        const int n = transcribe_noise(want, (enum dtype)(DT_Q2_K + t), level[0]);
        if (n < 20) fail_msg("%s: %d tokens are too few to decide", names[t], n);
        for (const char *const *l = level + 1; *l; l++) {
            const int m = transcribe_noise(got, (enum dtype)(DT_Q2_K + t), *l);
            if (m != n) fail_msg("%s: %d tokens at level %s, %d at %s", names[t], m, *l, n, level[0]);
            for (int i = 0; i < n; i++)
                if (got[i] != want[i])
                    fail_msg("%s: token %d is %d at level %s, %d at %s", names[t], i, (int)got[i], *l, (int)want[i], level[0]);
        }
    }
}

/* Models differ in their matrices only, whose rows and columns fill whole panels and blocks here (the vocabulary is 1900). */
static void test_weights_take_the_memory_of_the_layout(void **state)
{
    (void)state;
    static const size_t per_8192[TYPES] = { 5248, 4672, 4736, 5760, 8768, 8512 };
    const size_t d = 256, weights = 2 * 12 * d * d + 2 * 16 * d * d + 1920 * d;
    steno_model *half = random_model(&dims, DT_F16, 3, "c"); /* where matrices are kept as they are stored */
    for (int t = 0; t < TYPES; t++) {
        steno_model *m = random_model(&dims, (enum dtype)(DT_Q2_K + t), 3, "c");
        assert_int_equal(inside_packed_sz(half) - inside_packed_sz(m), 2 * weights - weights / 8192 * per_8192[t]);
        steno_model_close(m);
    }
    steno_model_close(half);
}

static void test_shapes_that_do_not_divide_into_blocks_are_refused_by_name(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        char want[100];
        steno_model *m = NULL;
        steno_error e;
        assert_int_equal(steno_model_open_random(&m, "tiny", names[t], 1, NULL, &e), STENO_EARG);
        snprintf(want, sizeof want, "weights of type %s come in blocks of 256 and cannot fill rows of 384", names[t]);
        if (!strstr(e.text, want)) fail_msg("\"%s\" lacks \"%s\"", e.text, want);
        assert_null(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_level_chooses_the_same_tokens),
        cmocka_unit_test(test_weights_take_the_memory_of_the_layout),
        cmocka_unit_test(test_shapes_that_do_not_divide_into_blocks_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
