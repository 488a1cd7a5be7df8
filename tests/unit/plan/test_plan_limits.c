/* steno tests: numbers just below, at and above those that the plan's machinery is built on. SPDX-License-Identifier: MIT
 *
 * Rows go together in tiles, panels in items, keys in blocks, ids in slices; counters have limits. None of it may show in a result,
 * and what no table can hold is refused when a model or a batch is opened. A row's result is compared with what it gives alone, or in
 * pieces of other sizes, or on other numbers of threads: to the bit. */
#include "plan/bind.h"
#include "plan/build.h"
#include "api/random_model.h"
#include "internal.h"

/* Around few rows and many, tiles of 12, 32 and 48, items of 32, slices of 96 and 252, groups of 96, blocks of 32 and 256. */
static int const around[] = { 1, 2, 11, 12, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 192, 193,
                              251, 252, 253, 255, 256 };
enum { N_AROUND = sizeof around / sizeof *around, MANY = RUN_LANES, WINDOWS = 8, BEAMS = RUN_LANES / WINDOWS };

static struct whisper_dims const small = { 80, 30, 64, 2, 1, SMALL_VOCAB, 448, 64, 2, 1 };

static struct logit_rules rules;

static void rules_for(const steno_model *m)
{
    rules = (struct logit_rules){ .n_vocab = inside_n_vocab(m), .eot = inside_n_vocab(m) - 1, .ts_begin = inside_n_vocab(m) };
}

static void lane_begin(steno_session *s, uint16_t lane)
{
    inside_lane_begin(s, lane, &rules, 8)->kv.window = 0;
}

static void encode(steno_session *s, int32_t n_ctx)
{
    float *mel = inside_mel(s);
    uint32_t seed = 9;
    inside_begin(s);
    for (size_t i = 0; i < 2 * (size_t)n_ctx * (size_t)inside_n_mels(s->model); i++) mel[i] = noise(&seed);
    assert_int_equal(inside_encode_for(s, 0, n_ctx), 0);
}

static int32_t token_of(int i) { return (i * 577 + 3) % SMALL_VOCAB; }

/* ---- rows of a replay ---- */

/* A token each of lanes [from, from + n) in one replay; what they choose to got. */
static void step(steno_session *s, int from, int n, struct sampled_token *got)
{
    inside_clear(s);
    for (int i = from; i < from + n; i++) {
        lane_begin(s, (uint16_t)i);
        inside_add(s, token_of(i), 0, (uint16_t)i, ROW_SAMPLE);
    }
    assert_int_equal(inside_replay(s, 1), 0);
    for (int i = from; i < from + n; i++) got[i] = inside_picked(s, i)[0];
}

static void lanes_equal_each_alone(const struct bytes b, const char *level, int compute)
{
    static struct sampled_token want[MANY], got[MANY];
    steno_batch *batch;
    steno_model *m = bytes_open_as(b, level, (enum steno_compute)compute);
    steno_session *s = session_in_batch(&batch, m, WINDOWS, BEAMS);
    rules_for(m);
    encode(s, small.n_audio_ctx);
    for (int i = 0; i < MANY; i++) step(s, i, 1, want);
    for (int i = 0; i < N_AROUND; i++) {
        step(s, 0, around[i], got);
        for (int k = 0; k < around[i]; k++)
            if (memcmp(&got[k], &want[k], sizeof *got)) fail_msg("level %s, arithmetic %d: %d rows, row %d", level, compute, around[i], k);
    }
    steno_session_close(s);
    steno_batch_close(batch);
    steno_model_close(m);
}

static void test_a_step_of_any_number_of_lanes_gives_each_what_it_gives_alone(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    const int n = levels_for_plans(level);
    const struct bytes b = random_bytes(&small, DT_F16, 3);
    for (int i = 0; i < n; i++) {
        lanes_equal_each_alone(b, level[i], STENO_COMPUTE_F32);
        lanes_equal_each_alone(b, level[i], STENO_COMPUTE_INT8);
    }
    free(b.p);
}

/* The choice after n tokens that were fed `at_once` at a time. */
static struct sampled_token after_prompt(steno_session *s, int n, int at_once)
{
    lane_begin(s, 0);
    for (int at = 0; at < n; at += at_once) {
        inside_clear(s);
        for (int i = at; i < at + at_once && i < n; i++) inside_add(s, token_of(i), i, 0, i == n - 1 ? ROW_SAMPLE : 0);
        assert_int_equal(inside_replay(s, 1), 0);
    }
    return inside_picked(s, 0)[0];
}

static void test_a_prompt_of_any_length_gives_the_same_whole_and_in_pieces(void **state)
{
    (void)state;
    static int const further[] = { 257, 288, 319, 320, 321, 447, 448 };
    for (int compute = STENO_COMPUTE_F32; compute <= STENO_COMPUTE_INT8; compute += STENO_COMPUTE_INT8 - STENO_COMPUTE_F32)
        for (int threads = SANITIZED && !in_full() ? 3 : 1; threads <= 3; threads += 2) {
            steno_team *team;
            steno_model *m = random_model_as(&small, DT_F16, 3, NULL, (enum steno_compute)compute);
            assert_int_equal(steno_team_open(&team, threads, NULL), 0);
            steno_session *s = session_new(m, team, 1);
            rules_for(m);
            encode(s, small.n_audio_ctx);
            for (int i = 0; i < N_AROUND + (int)(sizeof further / sizeof *further); i++) {
                const int n = i < N_AROUND ? around[i] : further[i - N_AROUND];
                const struct sampled_token want = after_prompt(s, n, 19), got = after_prompt(s, n, RUN_LANES);
                if (memcmp(&got, &want, sizeof got)) fail_msg("%d tokens", n);
            }
            steno_session_close(s);
            steno_team_close(team);
            steno_model_close(m);
        }
}

/* ---- positions of audio ---- */

static void test_any_number_of_positions_gives_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    static int const further[] = { 257, 511, 512, 513, 1499, 1500, 1501, 2999, 6000 };
    const struct whisper_dims d = { 80, 6000, 32, 1, 1, SMALL_VOCAB, 16, 32, 1, 1 };
    const struct bytes b = random_bytes(&d, DT_F16, 3);
    for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_F32; compute++) {
        steno_team *team;
        steno_model *m = bytes_open_as(b, NULL, (enum steno_compute)compute);
        assert_int_equal(steno_team_open(&team, 3, NULL), 0);
        steno_session *one = session_new(m, NULL, 1), *three = session_new(m, team, 1);
        const struct plan *p = inside_plan(m, PLAN_ENCODER);
        const size_t ld = p->slot[p->output].ld;
        for (int i = 0; i < N_AROUND + (int)(sizeof further / sizeof *further); i++) {
            const int n = i < N_AROUND ? around[i] : further[i - N_AROUND];
            if (SANITIZED && n > 1501) continue;
            encode(one, n);
            encode(three, n);
            const float *x = inside_encoded(one), *y = inside_encoded(three);
            for (int r = 0; r < n; r++)
                if (memcmp(x + (size_t)r * ld, y + (size_t)r * ld, 32 * sizeof *x)) fail_msg("%d positions, row %d", n, r);
        }
        steno_session_close(one);
        steno_session_close(three);
        steno_team_close(team);
        steno_model_close(m);
    }
    free(b.p);
}

static void test_a_team_of_more_threads_than_there_are_items_changes_nothing(void **state)
{
    (void)state;
    static int const threads[] = { 2, 7, 33 };
    static struct sampled_token want[1], got[1];
    steno_model *m = random_model(&small, DT_F16, 3, NULL);
    rules_for(m);
    for (int i = -1; i < (int)(sizeof threads / sizeof *threads); i++) {
        steno_team *team = NULL;
        if (i >= 0) assert_int_equal(steno_team_open(&team, threads[i], NULL), 0);
        steno_session *s = session_new(m, team, 1);
        encode(s, small.n_audio_ctx);
        step(s, 0, 1, i < 0 ? want : got);
        assert_true(i < 0 || !memcmp(got, want, sizeof want));
        steno_session_close(s);
        steno_team_close(team);
    }
    steno_model_close(m);
}

/* ---- ids ---- */

/* Choosing in the plan, in slices and two stages, against all logits. */
static void chooses_the_largest(int32_t n_vocab, int compute)
{
    const struct whisper_dims d = { 80, 4, 32, 1, 1, n_vocab, 8, 32, 1, 1 };
    steno_model *m = random_model_as(&d, DT_F16, 3, NULL, (enum steno_compute)compute);
    steno_session *s = session_new(m, NULL, 4);
    struct sampled_token got[4];
    rules_for(m);
    rules.n_vocab = rules.eot = rules.ts_begin = n_vocab; /* nothing ends */
    encode(s, 4);
    for (int i = 0; i < 4; i++) {
        lane_begin(s, (uint16_t)i);
        inside_clear(s);
        inside_add(s, i * (n_vocab - 1) / 3, 0, (uint16_t)i, ROW_SAMPLE);
        assert_int_equal(inside_replay(s, 1), 0);
        got[i] = inside_picked(s, i)[0];
        lane_begin(s, (uint16_t)i);
        inside_clear(s);
        inside_add(s, i * (n_vocab - 1) / 3, 0, (uint16_t)i, ROW_LOGITS);
        assert_int_equal(inside_replay(s, 1), 0);
        const float *x = inside_logits(s, 0);
        int32_t best = 0;
        double sum = 0;
        for (int32_t k = 1; k < n_vocab; k++)
            if (x[k] > x[best]) best = k;
        for (int32_t k = 0; k < n_vocab; k++) sum += exp((double)x[k] - (double)x[best]);
        if (got[i].id != best || !(fabs((double)got[i].logprob + log(sum)) < 2e-3))
            fail_msg("%d ids, arithmetic %d, row %d: %d (%g), want %d (%g)", (int)n_vocab, compute, i, (int)got[i].id,
                     (double)got[i].logprob, (int)best, -log(sum));
    }
    steno_session_close(s);
    steno_model_close(m);
}

static void test_the_most_probable_of_any_number_of_ids_is_chosen(void **state)
{
    (void)state;
    static int32_t const n[] = { 1609, 1631, 1632, 1633, 4095, 4096, 4097, 4127, 8191, 8192, 8193, 12289, 51864, 51866 };
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        chooses_the_largest(n[i], STENO_COMPUTE_F32);
        chooses_the_largest(n[i], STENO_COMPUTE_INT8);
    }
}

/* ---- what is refused ---- */

static int opens(const struct whisper_dims *d, steno_error *e)
{
    steno_model_params p;
    steno_model *m = NULL;
    steno_model_params_init(&p);
    p.index_only = 1;
    const struct bytes b = random_bytes(d, DT_F16, 1);
    const int rc = steno_model_open_memory(&m, b.p, b.n, &p, e);
    assert_int_equal(!m, rc != 0);
    steno_model_close(m);
    free(b.p);
    return rc;
}

static void test_contexts_longer_than_any_known_model_has_are_refused(void **state)
{
    (void)state;
    static const struct { int32_t audio, text; const char *why; } c[] = {
        { 5999, 16, NULL }, { 6000, 16, NULL }, { 6001, 16, "n_audio_ctx is 6001, want at most 6000" },
        { 65536, 16, "n_audio_ctx is 65536, want at most 6000: Whisper models have 1500" },
        { 16, 1791, NULL }, { 16, 1792, NULL }, { 16, 1793, "n_text_ctx is 1793, want at most 1792" },
        { 16, 65536, "n_text_ctx is 65536, want at most 1792: Whisper models have 448" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const struct whisper_dims d = { 80, c[i].audio, 8, 1, 1, SMALL_VOCAB, c[i].text, 8, 1, 1 };
        steno_error e;
        assert_int_equal(opens(&d, &e), c[i].why ? STENO_EUNSUPPORTED : STENO_OK);
        if (c[i].why && !strstr(e.text, c[i].why)) fail_msg("'%s' does not say '%s'", e.text, c[i].why);
    }
}

static void test_a_text_as_long_as_the_longest_context_decodes_and_aligns(void **state)
{
    (void)state;
    enum { LONGEST = 1792 };
    static int32_t ids[LONGEST + 1];
    static float prob[LONGEST + 1];
    const struct whisper_dims d = { 80, 20, 8, 2, 1, SMALL_VOCAB, LONGEST, 8, 2, 1 };
    steno_model *m = random_model(&d, DT_F16, 3, NULL);
    steno_session *s = session_new(m, NULL, 1);
    rules_for(m);
    encode(s, 20);
    const struct sampled_token want = after_prompt(s, LONGEST, 100), got = after_prompt(s, LONGEST, RUN_LANES);
    assert_memory_equal(&got, &want, sizeof got);
    for (int i = 0; i <= LONGEST; i++) ids[i] = token_of(i) % 100;
    const float *matrix;
    size_t ld;
    assert_int_equal(inside_align(s, 0, ids, LONGEST, 20, &matrix, &ld, prob), STENO_OK);
    for (int i = 0; i < LONGEST; i++) assert_true(isfinite(matrix[(size_t)i * ld]) && prob[i] >= 0 && prob[i] <= 1);
    assert_int_equal(inside_align(s, 0, ids, LONGEST + 1, 20, &matrix, &ld, prob), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "want 1..1792"));
    steno_session_close(s);
    steno_model_close(m);
}

static void test_heads_that_attention_does_not_take_are_refused(void **state)
{
    (void)state;
    static const struct { int32_t n, heads; int rc; } c[] = {
        { 4, 1, STENO_OK }, { 2, 1, STENO_EFORMAT }, { 6, 1, STENO_EFORMAT }, { 252, 1, STENO_OK }, { 254, 1, STENO_EFORMAT },
        { 256, 1, STENO_OK }, { 260, 1, STENO_EFORMAT }, { 512, 1, STENO_EFORMAT }, { 512, 128, STENO_OK }, { 512, 512, STENO_EFORMAT },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const struct whisper_dims d = { 80, 4, c[i].n, c[i].heads, 1, SMALL_VOCAB, 8, c[i].n, c[i].heads, 1 };
        steno_error e;
        if (opens(&d, &e) != c[i].rc) fail_msg("%d heads of %d", (int)c[i].heads, (int)c[i].n);
    }
}

/* A plan of `rows` rows with these numbers of commands, buffers and phases, of attention over a head of d_head. */
static int builds(uint32_t rows, int ops, int slots, int phases, uint32_t d_head, steno_error *e)
{
    struct arena a;
    struct kern k;
    struct weights w = { .name = "limits" };
    struct weight_store store = { 0 };
    struct build b;
    struct plan p;
    arena_init(&a);
    kern_init_c(&k);
    const struct build_params params = { .name = "limits", .arena = &a, .weights = &w, .store = &store, .kern = &k, .max_rows = rows,
                                         .max_out = 1 };
    build_begin(&b, &params, e);
    for (int i = 0; i < phases; i++) build_phase(&b, "phase");
    for (int i = 0; i < slots; i++) build_slot(&b, 4);
    const uint16_t bind = bind_attn(&b, 1, 1, d_head);
    for (int i = 0; i < ops; i++) emit(&b, OP_SOFTMAX, "softmax", 0, 0, bind);
    const int rc = build_end(&b, &p);
    arena_free(&a);
    return rc;
}

static void test_plans_larger_than_their_numbers_hold_are_refused(void **state)
{
    (void)state;
    static const struct { uint32_t rows, ops, slots, phases, d_head; const char *why; } c[] = {
        { 1, 1, 1, 1, 64, NULL }, { 65535, 1, 1, 1, 64, NULL }, { 65536, 1, 1, 1, 64, "65536 rows, want at most 65535" },
        { UINT32_MAX, 1, 1, 1, 64, "4294967295 rows" }, { 1, 8191, 1, 1, 64, NULL }, { 1, 8192, 1, 1, 64, NULL },
        { 1, 8193, 1, 1, 64, "more than 8192 commands" }, { 1, 70000, 1, 1, 64, "more than 8192 commands" }, { 1, 1, 4095, 1, 64, NULL },
        { 1, 1, 4096, 1, 64, NULL }, { 1, 1, 4097, 1, 64, "more than 4096 buffers" }, { 1, 1, 70000, 1, 64, "more than 4096 buffers" },
        { 1, 1, 1, 3, 64, NULL }, { 1, 1, 1, 5, 64, NULL }, { 1, 1, 1, 6, 64, "more than 5 phases" }, { 1, 1, 1, 1, 256, NULL },
        { 1, 1, 1, 1, 257, "heads of 257" }, { 1, 1, 1, 1, 0, "heads of 0" }, { 1, 1, 1, 1, 65600, "heads of 65600" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_error e = { 0 };
        const int rc = builds(c[i].rows, (int)c[i].ops, (int)c[i].slots, (int)c[i].phases, c[i].d_head, &e);
        if (rc != (c[i].why ? STENO_EUNSUPPORTED : STENO_OK)) fail_msg("case %zu: %d, %s", i, rc, e.text);
        if (c[i].why && !strstr(e.text, c[i].why)) fail_msg("'%s' does not say '%s'", e.text, c[i].why);
    }
}

static void test_state_of_more_blocks_than_a_table_can_name_is_refused(void **state)
{
    (void)state;
    static const struct { uint32_t positions, lanes; int rc; } c[] = {
        { 1792, RUN_LANES, STENO_OK }, { 4096, 511, STENO_OK }, { 4096, 512, STENO_OK }, { 4097, 512, STENO_EUNSUPPORTED },
        { 4096, 513, STENO_EUNSUPPORTED }, { UINT32_MAX - 64, RUN_LANES, STENO_EUNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const struct state_desc d = { "keys", STATE_APPEND, 1, 1, 4, c[i].positions, 0, 0, 0 };
        struct arena a;
        struct kv_state s;
        steno_error e = { 0 };
        arena_init(&a);
        const int rc = state_open(&s, &a, &d, KV_F16, c[i].lanes, &e);
        if (rc != c[i].rc) fail_msg("%u positions, %u lanes: %d, %s", c[i].positions, c[i].lanes, rc, e.text);
        if (!rc) { /* the last lane can hold as many positions as the first */
            const uint32_t last = c[i].lanes - 1;
            for (uint32_t l = 0; l < c[i].lanes; l++) assert_int_equal(state_prepare(&s, l, 0, c[i].positions), 0);
            assert_int_equal(s.n_free, 0);
            assert_true(state_table(&s, last)[0] != state_table(&s, 0)[0]);
        }
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_of_any_number_of_lanes_gives_each_what_it_gives_alone),
        cmocka_unit_test(test_a_prompt_of_any_length_gives_the_same_whole_and_in_pieces),
        cmocka_unit_test(test_any_number_of_positions_gives_the_same_on_any_number_of_threads),
        cmocka_unit_test(test_a_team_of_more_threads_than_there_are_items_changes_nothing),
        cmocka_unit_test(test_the_most_probable_of_any_number_of_ids_is_chosen),
        cmocka_unit_test(test_contexts_longer_than_any_known_model_has_are_refused),
        cmocka_unit_test(test_a_text_as_long_as_the_longest_context_decodes_and_aligns),
        cmocka_unit_test(test_heads_that_attention_does_not_take_are_refused),
        cmocka_unit_test(test_plans_larger_than_their_numbers_hold_are_refused),
        cmocka_unit_test(test_state_of_more_blocks_than_a_table_can_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
