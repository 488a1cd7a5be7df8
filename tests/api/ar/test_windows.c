/* steno tests: as many windows as a batch takes. SPDX-License-Identifier: MIT
 *
 * A prompt needs two rows of logits, its last token's and start-of-transcript's, so a batch's first replay has more of them than there are
 * windows; beams and candidates have one row each. Batches of every size that a limit may lie at, full of every kind of search, must give
 * what each call gives alone, to the bit. */
#include "api/shipped.h"
#include "api/tap.h"
#include "plan/run.h"

enum { MOST = 128, KINDS = 7, SAMPLES = 12800, CLIP_MS = 500, VOCAB = 9001 };

/* A vocabulary of three slices, the last panel not full; heads of 32: keys of integers, logits in two stages. Windows of 0.6 s. */
static struct whisper_dims const dims = { 80, 30, 64, 2, 1, VOCAB, 60, 64, 2, 1 };

static float *pcm; /* [SAMPLES * KINDS + MOST * CLIP_MS * 16] noise that swells and fades */

static int open_all(void **state)
{
    (void)state;
    const int n = SAMPLES * KINDS + MOST * CLIP_MS * 16;
    uint32_t seed = 3;
    pcm = calloc((size_t)n, sizeof *pcm);
    for (int i = 0; pcm && i < n; i++) pcm[i] = 0.4f * sinf((float)i * 0.001f) * noise(&seed);
    return !pcm;
}

static int close_all(void **state)
{
    (void)state;
    free(pcm);
    return 0;
}

/* One of the ways to decode, with up to `lanes` sequences. */
static steno_transcribe_params way(int kind, int lanes)
{
    steno_transcribe_params p = params_new();
    p.sample_len = 5;
    p.temperature_increment_on_fallback = 0;
    p.seed = (uint64_t)kind;
    switch (kind) {
    case 1: p.initial_prompt = "one two three four five"; break;
    case 2: p.beam_size = lanes; break;
    case 3: p.temperature = 0.8, p.best_of = lanes; break;
    case 4: p.temperature = 1; break;
    case 5: p.without_timestamps = 1, p.prefix = "one"; break;
    case 6: p.beam_size = lanes > 1 ? 2 : 0, p.word_timestamps = 1; break;
    default: break;
    }
    return p;
}

/* What each kind of call gives by itself. */
static void alone(uint64_t want[KINDS], const steno_model *m, int lanes)
{
    steno_session *s = session_new(m, NULL, lanes);
    for (int k = 0; k < KINDS; k++) {
        const steno_transcribe_params p = way(k, lanes);
        if (steno_transcribe(s, pcm + k * SAMPLES, SAMPLES, &p)) fail_msg("alone, kind %d: %s", k, steno_last_error(s));
        assert_true(steno_segment_count(s) > 0);
        want[k] = result_digest(s);
    }
    steno_session_close(s);
}

/* As many calls as windows, of every kind, or of one alone (kind >= 0). */
static void beside(const uint64_t want[KINDS], const steno_model *m, steno_team *team, int windows, int lanes, int kind)
{
    static steno_session *s[MOST];
    static struct tap wav[MOST];
    steno_transcribe_params p[KINDS];
    steno_batch_params bp;
    steno_session_params sp;
    steno_error e;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = windows;
    bp.max_lanes = lanes;
    if (steno_batch_open(&sp.batch, m, team, &bp, &e)) fail_msg("%d windows of %d: %s", windows, lanes, e.text);
    for (int k = 0; k < KINDS; k++) p[k] = way(k, lanes);
    for (int i = 0; i < windows; i++) {
        const int k = kind < 0 ? i % KINDS : kind;
        if (steno_session_open(&s[i], m, team, &sp, &e)) fail_msg("%s", e.text);
        wav[i] = (struct tap){ .pcm = pcm + k * SAMPLES, .n = SAMPLES };
        const steno_source src = tap_source(&wav[i]);
        if (steno_batch_add(sp.batch, s[i], &src, &p[k])) fail_msg("%d of %d: %s", i, windows, steno_last_error(s[i]));
    }
    assert_int_equal(steno_batch_run(sp.batch), STENO_OK);
    for (int i = 0; i < windows; i++) {
        const int k = kind < 0 ? i % KINDS : kind;
        if (*steno_last_error(s[i]) || result_digest(s[i]) != want[k])
            fail_msg("%d windows of %d, call %d of kind %d: %s", windows, lanes, i, k,
                     *steno_last_error(s[i]) ? steno_last_error(s[i]) : "not what it gives alone");
        steno_session_close(s[i]);
    }
    steno_batch_close(sp.batch);
}

static void every_size(const steno_model *m, steno_team *team, const int *windows, size_t n, int most_lanes)
{
    uint64_t want[KINDS];
    for (int lanes = 1; lanes <= most_lanes; lanes += 4) {
        alone(want, m, lanes);
        for (size_t i = 0; i < n; i++)
            if (windows[i] * lanes <= RUN_LANES)
                for (int kind = -1; kind < 4; kind += lanes == 1 ? 5 : 3) beside(want, m, team, windows[i], lanes, kind);
    }
}

static void test_batches_of_every_size_give_what_each_call_gives_alone(void **state)
{
    (void)state;
    static const int windows[] = { 1, 15, 16, 17, 24, 32, 33, 51, 64, 127, 128 }, few[] = { 17, 128 };
    steno_model *m = random_model(&dims, DT_F16, 4, NULL);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    every_size(m, NULL, windows, sizeof windows / sizeof *windows, 5);
    every_size(m, team, few, sizeof few / sizeof *few, 1);
    steno_team_close(team);
    steno_model_close(m);
}

static void test_every_arithmetic_and_level_serves_full_batches(void **state)
{
    (void)state;
    static const int windows[] = { 17, 64 };
    const char *level[LEVELS_MAX];
    const int n = levels_usable(level);
    const struct bytes b = random_bytes(&dims, DT_F16, 5);
    for (int i = 0; i < n; i++)
        for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
            steno_model *m = bytes_open_as(b, level[i], (enum steno_compute)compute);
            every_size(m, NULL, windows, i < n - 1 ? 1 : 2, 1);
            steno_model_close(m);
        }
    free(b.p);
}

static void test_beams_as_wide_as_there_can_be_fill_a_batch(void **state)
{
    (void)state;
    uint64_t want[KINDS];
    steno_model *m = random_model(&dims, DT_F16, 6, NULL);
    alone(want, m, RUN_BEAMS);
    for (int kind = -1; kind < 4; kind += 3) beside(want, m, NULL, RUN_LANES / RUN_BEAMS, RUN_BEAMS, kind);
    steno_model_close(m);
}

/* One call whose clips know nothing of each other, some more of them than windows. */
static void test_clips_beside_each_other_do_not_depend_on_how_many_decode_together(void **state)
{
    (void)state;
    static const int windows[] = { 1, 17, 32, 128 };
    static double at[2 * MOST];
    for (int i = 0; i < 2 * MOST; i++) at[i] = (i + 1) / 2 * (CLIP_MS / 1000.0) + i % 2 * 0.01;
    steno_model *m = random_model(&dims, DT_F16, 7, NULL);
    steno_transcribe_params p = way(0, 1);
    p.clip_timestamps = at, p.n_clip_timestamps = 2 * MOST, p.independent_clips = 1, p.condition_on_previous_text = 0;
    uint64_t want = 0;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        steno_batch *b;
        steno_session *s = session_in_batch(&b, m, windows[i], 1);
        if (steno_transcribe(s, pcm, SAMPLES * KINDS + MOST * CLIP_MS * 16, &p)) fail_msg("%s", steno_last_error(s));
        assert_true(steno_segment_count(s) >= MOST / 2);
        if (!i) want = result_digest(s);
        assert_true(result_digest(s) == want);
        steno_session_close(s);
        steno_batch_close(b);
    }
    steno_model_close(m);
}

static void test_more_windows_and_lanes_than_there_can_be_are_refused_with_the_limit(void **state)
{
    (void)state;
    steno_model *m = random_model(&small_dims, DT_F16, 1, NULL);
    static const struct { int windows, lanes; const char *why; } c[] = {
        { MOST, 1, NULL }, { MOST + 1, 1, "max_windows is 129, want 1..128" }, { INT32_MAX, 1, "want 1..128" },
        { MOST, 2, NULL }, { MOST, 3, "128 windows of 3 sequences are 384 sequences; at most 256 decode together, so at most 85 windows" },
        { 85, 3, NULL }, { 86, 3, "at most 85 windows" }, { 8, 32, NULL },
        { 9, 32, "at most 8 windows" }, { 1, 33, "max_lanes is 33, want 1..32" },
        { 1, INT32_MAX, "want 1..32" }, { 0, 1, "want 1..128" }, { -1, 1, "want 1..128" }, { 1, 0, "want 1..32" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_batch_params bp;
        steno_error e;
        steno_batch *b = NULL;
        steno_batch_params_init(&bp);
        bp.max_windows = c[i].windows;
        bp.max_lanes = c[i].lanes;
        const int rc = steno_batch_open(&b, m, NULL, &bp, &e);
        assert_int_equal(rc, c[i].why ? STENO_EARG : STENO_OK);
        if (c[i].why && !strstr(e.text, c[i].why)) fail_msg("'%s' does not say '%s'", e.text, c[i].why);
        assert_true((steno_batch_memory(m, NULL, &bp) > 0) == !c[i].why);
        steno_batch_close(b);
    }
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_of_every_size_give_what_each_call_gives_alone),
        cmocka_unit_test(test_every_arithmetic_and_level_serves_full_batches),
        cmocka_unit_test(test_beams_as_wide_as_there_can_be_fill_a_batch),
        cmocka_unit_test(test_clips_beside_each_other_do_not_depend_on_how_many_decode_together),
        cmocka_unit_test(test_more_windows_and_lanes_than_there_can_be_are_refused_with_the_limit),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
