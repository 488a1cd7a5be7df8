/* steno tests: how linears are cut into items. SPDX-License-Identifier: MIT */
#include "api/random_model.h"
#include "base/os.h"
#include "plan/partition.h"
#include "internal.h"

enum { THREADS_MAX = 64, WHOLE = 4, FINE = 8 };

static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

/* The average work of a thread, as a share of the busiest one's, where all are equally fast: items in turn go to a free thread. */
static double shared(struct partition c, size_t rows, size_t panels, int threads)
{
    size_t done[THREADS_MAX] = { 0 }, busiest = 0;
    for (size_t m = 0; m < rows; m += c.rows)
        for (size_t p = 0; p < panels; p += c.panels) {
            int free = 0;
            for (int t = 1; t < threads; t++)
                if (done[t] < done[free]) free = t;
            done[free] += (rows - m < c.rows ? rows - m : c.rows) * (panels - p < c.panels ? panels - p : c.panels);
            if (done[free] > busiest) busiest = done[free];
        }
    return (double)(rows * panels) / (double)((size_t)threads * busiest);
}

/* Encoders of every size. */
static void test_threads_have_equal_shares_of_many_rows(void **state)
{
    (void)state;
    static const size_t width[] = { 384, 512, 768, 1024, 1280 };
    static const struct slices s = { 12, 2, 24, 96 }, plain = { 12, 12, 24, 252 }, tiles = { 32, 32, 64, 96 };
    double all[3] = { 0 };
    int n_all = 0;
    for (size_t i = 0; i < sizeof width / sizeof *width; i++)
        for (size_t n = width[i]; n <= 4 * width[i]; n *= 4)
            for (int t = 1; t <= THREADS_MAX; t++, n_all++) {
                const size_t panels = n / PANEL;
                const struct partition c[] = { partition_many(1500, panels, t, s, panels, WHOLE, PANELS_STEP),
                                               partition_many(1500, panels, t, plain, FINE, 0, PANELS_STEP),
                                               partition_many(1500, panels, t, tiles, panels, WHOLE, PANELS_STEP) };
                for (int k = 0; k < 3; k++) {
                    const double busy = shared(c[k], 1500, panels, t);
                    if (busy < 0.55)
                        fail_msg("%zu outputs, %d threads, %d: items of %zu x %zu keep %.0f %% busy", n, t, k, c[k].rows, c[k].panels,
                                 100 * busy);
                    all[k] += busy;
                }
            }
    for (int k = 0; k < 3; k++)
        if (all[k] < (k == 2 ? 0.85 : 0.9) * n_all) fail_msg("%d: %.1f %% busy on average", k, 100 * all[k] / n_all);
}

/* Clips of some seconds are few items: those are of equal heights, or panels are cut, rather than that a thread waits for the last rows. */
static void test_threads_have_equal_shares_of_a_clip(void **state)
{
    (void)state;
    static const struct slices s = { 12, 2, 24, 96 };
    for (size_t rows = 87; rows <= 1004; rows += 7)
        for (size_t panels = 16; panels <= 64; panels *= 2)
            for (int t = 2; t <= 4; t += 2) {
                const struct partition c = partition_many(rows, panels, t, s, panels, WHOLE, PANELS_STEP);
                const double busy = shared(c, rows, panels, t);
                if (busy < (t == 2 ? 0.92 : 0.85))
                    fail_msg("%zu rows, %zu panels, %d threads: items of %zu x %zu keep %.1f %% busy", rows, panels, t, c.rows, c.panels,
                             100 * busy);
            }
    assert_true(shared(partition_many(171, 48, 2, s, 48, WHOLE, PANELS_STEP), 171, 48, 2) > 0.99);
    for (size_t panels = 16; panels <= 64; panels += 16) { /* nor does a second thread round rows again */
        const struct partition c = partition_many(171, panels, 2, s, panels, WHOLE, PANELS_STEP);
        assert_int_equal(c.rows, 86);
        assert_int_equal(c.panels, panels);
    }
}

static void test_one_thread_has_high_items(void **state)
{
    (void)state;
    static const struct slices s = { 12, 2, 24, 96 };
    assert_in_range(partition_many(1500, 16, 1, s, 16, WHOLE, PANELS_STEP).rows, 84, 96);
    assert_in_range(partition_many(1500, 16, 2, s, 16, WHOLE, PANELS_STEP).rows, 84, 96);
    assert_int_equal(partition_many(1500, 16, 2, s, 16, WHOLE, PANELS_STEP).panels, 16);
}

static void test_items_are_whole_steps_and_panels_that_go_together(void **state)
{
    (void)state;
    for (size_t rows = 17; rows <= 3000; rows += rows < 300 ? 1 : 61)
        for (size_t panels = 1; panels <= 160; panels += panels < 20 ? 1 : 13)
            for (int t = 1; t <= THREADS_MAX; t += t < 8 ? 1 : 7)
                for (int k = 0; k < 3; k++) {
                    const size_t tile = k == 2 ? 32 : 12, step = k ? tile : 2;
                    const struct slices s = { tile, step, 2 * tile, 3 * tile };
                    const struct partition c = partition_many(rows, panels, t, s, t % 2 ? panels : FINE, (size_t)t % 2, PANELS_STEP);
                    assert_in_range(c.rows, 1, s.max);
                    assert_in_range(c.panels, 1, panels);
                    if (c.rows < rows) assert_int_equal(c.rows % step, 0);
                    if (c.rows < rows) assert_true(c.rows >= s.tile);
                    if (c.panels < panels) assert_int_equal(c.panels % 4, 0);
                }
}

static void test_few_rows_stay_together(void **state)
{
    (void)state;
    for (size_t panels = 1; panels <= 1621; panels += 9)
        for (int t = 1; t <= THREADS_MAX; t++) {
            const struct partition c = partition_few(5, panels, t, PANELS_STEP);
            assert_int_equal(c.rows, 5);
            assert_int_equal(c.panels % 4, 0);
            assert_in_range(c.panels, 4, 32);
            if (c.panels > 4) assert_true(parts(panels, c.panels) >= 4 * (size_t)t);
        }
}

/* 16 groups of 96 rows and 8 heads are three rounds for 60 threads, of which the last has 8 items. */
static void test_heads_are_halved_where_threads_would_wait(void **state)
{
    (void)state;
    assert_int_equal(partition_heads(1500, 96, 8, 1), 96);
    assert_int_equal(partition_heads(1500, 96, 8, 2), 96);
    assert_int_equal(partition_heads(1500, 96, 8, 16), 96);
    assert_int_equal(partition_heads(1500, 96, 8, 60), 48);
    assert_int_equal(partition_heads(96, 96, 1, 2), 48);
}

static struct slices slices_of(size_t cache, int level, enum packed_type t, size_t n_k)
{
    const struct kern k = { .level = level, .cache = cache };
    return kern_slices(&k, t, n_k);
}

/* Half of the cache: 128 KiB are 32 rows of 4 KiB. Scratch has room for 512 KiB. */
static void test_slices_fill_half_of_the_cache(void **state)
{
    (void)state;
    for (size_t cache = 64 << 10; cache <= 4 << 20; cache *= 2)
        for (size_t k = 64; k <= 16384; k *= 2) {
            const struct slices pair = slices_of(cache, CPU_C, PK_BF16_PAIR, k), quad = slices_of(cache, CPU_C, PK_I8_QUAD, k);
            const size_t room = cache < 1 << 20 ? cache / 2 : 512 << 10;
            if (pair.max > pair.min) assert_true(pair.max * (2 * k + 64) <= room);
            if (pair.max + pair.tile <= 96) assert_true((pair.max + pair.tile) * (2 * k + 64) > room);
            if (2 * k < 16384) assert_true(quad.max >= pair.max);
        }
    assert_int_equal(slices_of(1 << 20, CPU_C, PK_BF16_PAIR, 512).max, 96);
    assert_int_equal(slices_of(1 << 20, CPU_C, PK_BF16_PAIR, 5120).max, 48);
    assert_int_equal(slices_of(1 << 20, CPU_C, PK_F16, 5120).max, 252);
    assert_int_equal(slices_of(256 << 10, CPU_C, PK_F16, 512).max, 120);
    assert_int_equal(slices_of(1, CPU_C, PK_I16_PAIR, 512).max, 24);
}

static void test_the_cache_is_found(void **state)
{
    (void)state;
    struct kern k;
    kern_init(&k, CPU_C);
    assert_in_range(k.cache, 64 << 10, 1 << 30);
    if (os_cache(2)) assert_int_equal(k.cache, os_cache(2));
}

/* Items of other sizes, on several threads. */
static void test_bits_do_not_depend_on_the_cache(void **state)
{
    (void)state;
    static const struct whisper_dims d = { 80, 301, 96, 3, 2, SMALL_VOCAB, 70, 96, 3, 2 };
    static const enum steno_compute compute[] = { STENO_COMPUTE_F32, STENO_COMPUTE_BF16, STENO_COMPUTE_INT16, STENO_COMPUTE_INT8 };
    static const size_t cache[] = { 1 << 20, 1, 20 << 10, 1 << 30 };
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    for (size_t c = 0; c < sizeof compute / sizeof *compute; c++) {
        steno_model *m = random_model_as(&d, DT_F16, 7, NULL, compute[c]);
        const struct plan *p = inside_plan(m, PLAN_ENCODER);
        const struct slot *out = &p->slot[p->output];
        float *first = malloc((size_t)d.n_audio_ctx * out->ld * sizeof *first);
        assert_non_null(first);
        for (size_t i = 0; i < sizeof cache / sizeof *cache; i++) {
            inside_set_cache(m, cache[i]);
            steno_session *s = session_new(m, i ? team : NULL, 1);
            inside_begin(s);
            uint32_t seed = 4;
            for (size_t k = 0; k < 2 * (size_t)d.n_audio_ctx * (size_t)d.n_mels; k++) inside_mel(s)[k] = noise(&seed);
            assert_int_equal(inside_encode_for(s, 0, d.n_audio_ctx), 0);
            const float *x = inside_encoded(s);
            for (size_t r = 0; r < (size_t)d.n_audio_ctx; r++)
                if (!i) memcpy(first + r * out->ld, x + r * out->ld, out->width * sizeof *x);
                else assert_memory_equal(first + r * out->ld, x + r * out->ld, out->width * sizeof *x);
            steno_session_close(s);
        }
        free(first);
        steno_model_close(m);
    }
    steno_team_close(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_have_equal_shares_of_many_rows),
        cmocka_unit_test(test_threads_have_equal_shares_of_a_clip),
        cmocka_unit_test(test_one_thread_has_high_items),
        cmocka_unit_test(test_items_are_whole_steps_and_panels_that_go_together),
        cmocka_unit_test(test_few_rows_stay_together),
        cmocka_unit_test(test_heads_are_halved_where_threads_would_wait),
        cmocka_unit_test(test_slices_fill_half_of_the_cache),
        cmocka_unit_test(test_the_cache_is_found),
        cmocka_unit_test(test_bits_do_not_depend_on_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
