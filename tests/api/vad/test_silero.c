/* steno tests: voice activity from samples. SPDX-License-Identifier: MIT
 *
 * Random weights of the real shape: probabilities are those of the published graph with these weights, pieces, threads and batches give
 * the same bits, levels nearly the same, and each allocation fails once. */
#include "heap.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "random_model.h"

enum { SAMPLES = 16000 * 4 + 333, FRAMES = (SAMPLES + 511) / 512, ALLOCATIONS_MAX = 2000 };

static struct bytes model_file;
static float pcm[SAMPLES];

static int begin(void **state)
{
    (void)state;
    model_file = shape_bytes("silero", DT_F16, 7);
    uint32_t x = 1;
    for (int i = 0; i < SAMPLES; i++) {
        x = x * 1664525u + 1013904223u;
        pcm[i] = (float)(i / 8000 % 2) * ((float)(x >> 8) / (1 << 24) - 0.5f);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(model_file.p);
    return 0;
}

struct heard { float p[FRAMES]; int n; int64_t at, piece; };

static int64_t read_some(void *user, float *to, int64_t n)
{
    struct heard *h = user;
    int64_t some = SAMPLES - h->at;
    if (some > n) some = n;
    if (h->piece && some > h->piece) some = h->piece;
    memcpy(to, pcm + h->at, (size_t)some * sizeof *to);
    h->at += some;
    return some;
}

static void on_frame(void *user, int64_t t_ms, float p)
{
    struct heard *h = user;
    assert_int_equal(t_ms, 32 * h->n);
    assert_true(h->n < FRAMES);
    h->p[h->n++] = p;
}

static steno_vad_params asked(struct heard *h, int64_t piece, int rules)
{
    steno_vad_params p;
    *h = (struct heard){ .piece = piece };
    steno_vad_params_init(&p);
    p.user = h;
    p.on_frame = on_frame;
    p.rules = rules;
    return p;
}

static int model_of(steno_model **m, const char *level, steno_error *e)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = level;
    return steno_model_open_memory(m, model_file.p, model_file.n, &p, e);
}

static void hear(struct heard *h, const char *level, int threads, int64_t piece, int rules)
{
    steno_model *m;
    steno_session *s;
    steno_team *team;
    steno_error e;
    const steno_vad_params p = asked(h, piece, rules);
    const steno_source src = { read_some, NULL, h };
    if (model_of(&m, level, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_team_open(&team, threads, &e), 0);
    assert_int_equal(steno_session_open(&s, m, team, NULL, &e), 0);
    if (steno_find_speech(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(h->n, FRAMES);
    steno_session_close(s);
    steno_model_close(m);
    steno_team_close(team);
}

static void test_pieces_and_threads_give_the_same_bits_and_levels_nearly_so(void **state)
{
    static const int64_t piece[] = { 1, 511, 512, 4321, 0 };
    static struct heard plain, h;
    const char *level[LEVELS_MAX];
    (void)state;
    for (int rules = 0; rules < 2; rules++) {
        hear(&plain, "c", 1, 0, rules);
        levels_for_models(level);
        for (int l = 0; level[l]; l++) {
            static struct heard want;
            hear(&want, level[l], 1, 0, rules);
            for (int i = 0; i < FRAMES; i++) assert_true(fabsf(want.p[i] - plain.p[i]) < 1e-5f);
            for (size_t k = 0; k < sizeof piece / sizeof *piece; k++) {
                hear(&h, level[l], 1 + (int)(k % 2), piece[k], rules);
                assert_memory_equal(h.p, want.p, sizeof h.p);
            }
        }
    }
}

/* Of onnxruntime, by tests/golden/make/make_silero.py: with true context, then between mirror images. */
static void test_probabilities_are_those_of_the_published_graph(void **state)
{
    static float want[2][FRAMES];
    static struct heard h;
    const char *level[LEVELS_MAX];
    FILE *f = fopen("tests/data/silero/random.f32", "rb");
    (void)state;
    assert_non_null(f);
    assert_int_equal(fread(want, sizeof want, 1, f), 1);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    levels_for_models(level);
    for (int rules = 0; rules < 2; rules++)
        for (int l = 0; level[l]; l++) {
            double worst = 0;
            hear(&h, level[l], 1, 0, rules);
            for (int i = 0; i < FRAMES; i++) worst = fmax(worst, fabs((double)h.p[i] - want[rules][i]));
            print_message("%s, rules %d: %.2g\n", level[l], rules, worst);
            assert_true(worst <= 1e-6);
        }
}

static void test_requests_of_a_batch_give_the_bits_that_each_has_alone(void **state)
{
    enum { N = 3 };
    static struct heard alone[2], h[N];
    steno_model *m;
    steno_batch *b;
    steno_session *s[N];
    steno_error e;
    steno_batch_params bp;
    (void)state;
    for (int i = 0; i < 2; i++) hear(&alone[i], NULL, 1, 0, i);
    steno_batch_params_init(&bp);
    bp.max_windows = 2;
    if (model_of(&m, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, &e), 0);
    for (int i = 0; i < N; i++) {
        steno_session_params sp;
        steno_request_params r;
        const steno_vad_params p = asked(&h[i], 700 + 1000 * i, i % 2);
        const steno_source src = { read_some, NULL, &h[i] };
        steno_session_params_init(&sp);
        sp.batch = b;
        steno_request_params_init(&r);
        r.find_speech = &p;
        if (steno_session_open(&s[i], m, NULL, &sp, &e)) fail_msg("%s", e.text);
        if (steno_batch_submit(b, s[i], &src, &r)) fail_msg("%s", steno_last_error(s[i]));
    }
    steno_batch_run(b);
    for (int i = 0; i < N; i++) {
        assert_int_equal(h[i].n, FRAMES);
        assert_memory_equal(h[i].p, alone[i % 2].p, sizeof h[i].p);
        steno_session_close(s[i]);
    }
    steno_batch_close(b);
    steno_model_close(m);
}

/* The form for sequences calls its first convolution so. */
static void test_refuses_the_form_for_sequences_by_name(void **state)
{
    static const char was[] = "_model.encoder.0.reparam_conv.weight", is[] = "_model.encoder.0.weight";
    enum { NAME_AT = 18 + 4 * (6 + 3 * 4 + 4) + 12 + 12, LEN_AT = NAME_AT - 20, CUT = sizeof was - sizeof is };
    uint8_t *changed = malloc(model_file.n);
    steno_model *m;
    steno_error e;
    (void)state;
    assert_non_null(changed);
    assert_memory_equal(model_file.p + NAME_AT, was, sizeof was - 1);
    memcpy(changed, model_file.p, NAME_AT);
    memcpy(changed + NAME_AT, is, sizeof is - 1);
    memcpy(changed + NAME_AT + sizeof is - 1, model_file.p + NAME_AT + sizeof was - 1, model_file.n - NAME_AT - (sizeof was - 1));
    changed[LEN_AT] = sizeof is - 1;
    assert_int_equal(steno_model_open_memory(&m, changed, model_file.n - CUT, NULL, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "take silero_vad.onnx"));
    free(changed);
}

static void test_each_allocation_may_fail(void **state)
{
    static struct heard h;
    int64_t n = 0;
    (void)state;
    need_counting();
    for (int failed = 1; failed; n++) {
        steno_model *m = NULL;
        steno_session *s = NULL;
        steno_error e = { 0 };
        const steno_vad_params p = asked(&h, 0, 0);
        const steno_source src = { read_some, NULL, &h };
        assert_true(n < ALLOCATIONS_MAX);
        count_begin(n);
        int rc = model_of(&m, "c", &e);
        if (!rc) rc = steno_session_open(&s, m, NULL, NULL, &e);
        if (!rc) rc = steno_find_speech(s, &src, &p);
        const struct heap used = count_end();
        failed = used.calls > n;
        if (failed && rc && rc != STENO_ENOMEM) fail_msg("allocation %lld: %d %s", (long long)n, rc, e.text);
        if (!failed && rc) fail_msg("%d %s", rc, e.text);
        steno_session_close(s);
        steno_model_close(m);
    }
    print_message("%lld allocations\n", (long long)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_and_threads_give_the_same_bits_and_levels_nearly_so),
        cmocka_unit_test(test_probabilities_are_those_of_the_published_graph),
        cmocka_unit_test(test_requests_of_a_batch_give_the_bits_that_each_has_alone),
        cmocka_unit_test(test_refuses_the_form_for_sequences_by_name),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
