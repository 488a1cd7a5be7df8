/* steno tests: what the header and the documents say in figures. SPDX-License-Identifier: MIT
 *
 * Sentences that no other test holds to their word: how soon a call ends, how often a caller is asked, how often weights are read, and
 * the table of memory in doc/models.md. */
#include <dirent.h>
#include "kern/kern.h"
#include "random_model.h"
#include "shipped.h"

/* ---- how soon, how often ------------------------------------------------------------------------------------------------------- */

struct asked { steno_session *s; int n, cancel_at, steps_then; };

static int steps_of(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), STENO_OK);
    return t.n_steps;
}

static int on_asked(void *user)
{
    struct asked *a = user;
    if (a->n++ == a->cancel_at) {
        a->steps_then = steps_of(a->s);
        steno_cancel(a->s);
    }
    return 0;
}

/* "asked at least once per decoder step"; "End the running call of this session within one decoder step". */
static void test_should_abort_is_asked_at_every_step_and_a_canceled_call_ends_within_one(void **state)
{
    (void)state;
    const struct audio demo = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    struct asked a = { .s = session_new(m, NULL, 1), .cancel_at = -1 };
    steno_transcribe_params p = params_new();
    p.should_abort = on_asked;
    p.user = &a;
    assert_int_equal(steno_transcribe(a.s, demo.pcm, demo.n, &p), STENO_OK);
    const int steps = steps_of(a.s), asked = a.n;
    if (steps < 5 || asked < steps) fail_msg("asked %d times in %d steps", asked, steps);
    for (int at = 0; at < asked; at += asked / 7 + 1) {
        steno_timings_reset(a.s);
        a.n = 0;
        a.cancel_at = at;
        assert_int_equal(steno_transcribe(a.s, demo.pcm, demo.n, &p), STENO_ECANCELED);
        if (steps_of(a.s) > a.steps_then + 1) fail_msg("canceled after %d steps, ended after %d", a.steps_then, steps_of(a.s));
    }
    steno_session_close(a.s);
    steno_model_close(m);
    free(demo.pcm);
}

/* ---- how near ------------------------------------------------------------------------------------------------------------------- */

static void see_all(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user, (void)at, (void)logits, (void)tokens, (void)n;
}

static void look_for_stages(void *user, const char *line)
{
    *(int *)user |= strstr(line, "logits_approx") != NULL;
}

static int is_in_two_stages(const steno_model *m)
{
    int found = 0;
    assert_int_equal(steno_plan_dump(m, look_for_stages, &found), STENO_OK);
    return found;
}

/* "they and their logits are those of the stored matrix, but the sum behind their probabilities is of logits in int8 (off by 1e-3 at
 * most)": who looks at all logits gets all of them from the stored matrix, and the sum too. */
static void test_probabilities_beside_logits_in_two_stages_are_off_by_a_thousandth_at_most(void **state)
{
    (void)state;
    const struct audio audio = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *one = session_new(m, NULL, 1), *two = session_new(m, NULL, 1);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    assert_int_equal(steno_transcribe(two, audio.pcm, audio.n, &p), STENO_OK);
    p.logits_filter = see_all;
    assert_int_equal(steno_transcribe(one, audio.pcm, audio.n, &p), STENO_OK);
    assert_string_equal(steno_text(one), steno_text(two));
    double worst = 0;
    for (int i = 0; i < steno_segment_count(one); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(one, i, &g), STENO_OK);
        for (int j = 0; j < g.n_tokens; j++) {
            steno_token a = { .size = sizeof a }, b = a;
            steno_token_get(one, i, j, &a);
            steno_token_get(two, i, j, &b);
            assert_int_equal(a.id, b.id);
            if (fabs((double)a.p - b.p) > worst) worst = fabs((double)a.p - b.p);
        }
    }
    print_message("probabilities differ by %.2g at most\n", worst);
    assert_true(worst <= 1e-3);
    if (is_in_two_stages(m)) assert_true(worst > 0);
    steno_session_close(one);
    steno_session_close(two);
    steno_model_close(m);
    free(audio.pcm);
}

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

struct counted { const struct bytes *b; uint8_t *times; };

static int read_counted(void *user, uint64_t off, void *dst, size_t n)
{
    const struct counted *c = user;
    memcpy(dst, (const uint8_t *)c->b->p + off, n);
    for (size_t i = 0; i < n; i++)
        if (c->times[off + i] < 255) c->times[off + i]++;
    return 0;
}

/* "once in f32; fast arithmetic looks at some of them, the embedding above all, twice": the index, a piece for each tensor, is read again
 * with the weights behind it. */
static void test_weights_are_read_once_in_f32_and_few_of_them_twice_elsewhere(void **state)
{
    (void)state;
    static const struct whisper_dims dims = { 80, 500, 256, 4, 3, SMALL_VOCAB, 448, 256, 4, 3 };
    enum { INDEX = 512 << 10 };
    const struct bytes b = random_bytes(&dims, DT_F16, 1);
    for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
        struct counted c = { &b, calloc(b.n, 1) };
        const steno_reader r = { b.n, read_counted, NULL, &c };
        const size_t most = INDEX + (compute == STENO_COMPUTE_F32 ? 0 : b.n / 8);
        steno_model *m;
        steno_error e;
        steno_model_params p;
        steno_model_params_init(&p);
        p.compute = compute;
        assert_non_null(c.times);
        if (steno_model_open_reader(&m, &r, &p, &e)) fail_msg("%s", e.text);
        size_t never = 0, again = 0;
        for (size_t i = 0; i < b.n; i++) never += !c.times[i], again += c.times[i] > 1;
        if (never || again > most) fail_msg("compute %d: of %zu bytes %zu are not read, %zu more than once", compute, b.n, never, again);
        steno_model_close(m);
        free(c.times);
    }
    free(b.p);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* "files are closed before the call returns" */
static void test_no_file_stays_open_behind_a_model(void **state)
{
    (void)state;
    const int before = open_files();
    steno_model *m = shipped_open();
    assert_int_equal(open_files(), before);
    steno_model_close(m);
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------- */

enum { CELLS = 8 }; /* f16 in f32, auto; q5_0 in f32, auto; a session in f32, auto; one of five sequences in f32, auto */

static void table_row_check(const char *shape, const double *said, int level)
{
    static const char *const type[] = { "f16", "q5_0" };
    for (int k = 0; k < 4; k++) {
        steno_model *m;
        steno_error e;
        steno_model_params p;
        steno_session_params five;
        steno_model_info i = { .size = sizeof i };
        steno_model_params_init(&p);
        steno_session_params_init(&five);
        five.max_lanes = 5;
        p.compute = k % 2 ? STENO_COMPUTE_AUTO : STENO_COMPUTE_F32;
        p.index_only = 1;
        p.cpu_level = steno_cpu_level_name(level);
        if (steno_model_open_random(&m, shape, type[k / 2], 1, &p, &e)) fail_msg("%s", e.text);
        steno_model_info_get(m, &i);
        /* The table is of levels at which a window's keys and values are integers: 84 bytes hold 64 of them. Elsewhere they are f16. */
        const double width = i.n_text_state, layers = i.n_text_layer;
        const double wide = k % 2 && !kern_gains_attn(level, KV_INT) ? layers * (double)i.n_audio_ctx * width * (4 - 84.0 / 32) : 0;
        const double mb[] = { 1e-6 * (double)i.weight_bytes, 1e-6 * ((double)i.session_bytes - wide),
                              1e-6 * ((double)steno_session_memory(m, NULL, &five) - wide) };
        const int cell[] = { k, 4 + k % 2, 6 + k % 2 }, narrow = strcmp(i.compute, "int16") == 0;
        for (int c = 0; c < 3; c++)
            if ((k % 2 == 0 || narrow) && fabs(mb[c] - said[cell[c]]) > 0.51 + 0.01 * said[cell[c]])
                fail_msg("doc/models.md, %s at %s: column %d has %g MB, it is %.1f", shape, i.cpu_level, cell[c] + 1, said[cell[c]], mb[c]);
        steno_model_close(m);
    }
}

static void test_memory_is_that_of_the_table_in_the_documents(void **state)
{
    (void)state;
    FILE *f = fopen("doc/models.md", "r");
    char line[2048], shape[32];
    int rows = 0, in_table = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        double v[CELLS];
        if (strstr(line, "f16, f32 arithmetic")) in_table = 1;
        if (!in_table || sscanf(line, "| %31s | %lf | %lf | %lf | %lf | %lf | %lf | %lf | %lf", shape, v, v + 1, v + 2, v + 3, v + 4, v + 5,
                                v + 6, v + 7) != 1 + CELLS)
            continue;
        for (int level = 0; steno_cpu_level_name(level); level++)
            if (steno_cpu_level_usable(level)) table_row_check(shape, v, level);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_should_abort_is_asked_at_every_step_and_a_canceled_call_ends_within_one),
        cmocka_unit_test(test_probabilities_beside_logits_in_two_stages_are_off_by_a_thousandth_at_most),
        cmocka_unit_test(test_weights_are_read_once_in_f32_and_few_of_them_twice_elsewhere),
        cmocka_unit_test(test_no_file_stays_open_behind_a_model),
        cmocka_unit_test(test_memory_is_that_of_the_table_in_the_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
