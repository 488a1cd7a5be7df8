/* steno: stored blocks of the K types against values that another program widened. SPDX-License-Identifier: MIT
 *
 * tests/data/kquants/random.bin: for q2_k, q3_k, q4_k, q5_k, q6_k in turn two blocks of random bytes (with finite scales) as stored,
 * then their 512 weights as f32. Products are exact and a minimum is subtracted with one rounding, so that every bit must agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "kern/kern.h"

enum { BLOCKS = 2, N = BLOCKS * KBLOCK, TYPES = DT_Q6_K - DT_Q2_K + 1 };

struct golden { uint8_t stored[BLOCKS * 210]; float value[N]; };

static int read_golden(void **state)
{
    struct golden *g = calloc(TYPES, sizeof *g);
    FILE *f = fopen("tests/data/kquants/random.bin", "rb");
    *state = g;
    if (!f) return -1;
    int ok = g != NULL;
    for (int t = 0; t < TYPES && ok; t++)
        ok = fread(g[t].stored, dtype_row_sz((enum dtype)(DT_Q2_K + t), N), 1, f) == 1 && fread(g[t].value, sizeof g[t].value, 1, f) == 1;
    if (ok) ok = fgetc(f) == EOF;
    fclose(f);
    return ok ? 0 : -1;
}

static int free_golden(void **state)
{
    free(*state);
    return 0;
}

static void assert_same(const char *what, enum dtype t, const float *got, const float *want)
{
    for (int i = 0; i < N; i++)
        if (got[i] != want[i])
            fail_msg("%s of %s: weight %d is %.9g, tests/data/kquants/random.bin has %.9g", what, dtype_name(t), i, (double)got[i],
                     (double)want[i]);
}

static void test_sizes_are_those_of_the_format(void **state)
{
    (void)state;
    static const size_t sz[TYPES] = { 84, 110, 144, 176, 210 };
    static const char *const name[TYPES] = { "q2_k", "q3_k", "q4_k", "q5_k", "q6_k" };
    for (int i = 0; i < TYPES; i++) {
        const enum dtype t = (enum dtype)(DT_Q2_K + i);
        assert_string_equal(dtype_name(t), name[i]);
        assert_int_equal(dtype_block(t), 256);
        assert_int_equal(dtype_row_sz(t, 1280), 5 * sz[i]);
    }
}

static void test_widened_rows_equal_the_golden_bit_for_bit(void **state)
{
    const struct golden *g = *state;
    for (int t = 0; t < TYPES; t++) {
        float y[N];
        dtype_widen_row(y, (enum dtype)(DT_Q2_K + t), g[t].stored, N);
        assert_same("widening", (enum dtype)(DT_Q2_K + t), y, g[t].value);
    }
}

/* Every place in a panel, beside other rows and beside none. */
static void test_packed_rows_equal_the_golden_at_every_place_of_a_panel(void **state)
{
    const struct golden *g = *state;
    struct kern k;
    kern_init_c(&k);
    for (int t = 0; t < TYPES; t++) {
        const enum dtype type = (enum dtype)(DT_Q2_K + t);
        const size_t sz = pack_sz(packed_as_stored(type), PANEL, N);
        uint8_t *panel = aligned_alloc(64, (sz + 63) / 64 * 64), other[sizeof g->stored];
        float y[N];
        assert_non_null(panel);
        memset(other, 0xa5, sizeof other);
        for (size_t i = 0; i < PANEL; i++) {
            const void *rows[PANEL] = { 0 };
            for (size_t j = 0; j < PANEL; j++) rows[j] = j == i ? g[t].stored : (i + j) % 3 ? other : NULL;
            pack_panel(panel, packed_as_stored(type), type, rows, N);
            k.embed[type](y, panel, i, N);
            assert_same("packing", type, y, g[t].value);
            if (rows[i ^ 1]) continue;
            k.embed[type](y, panel, i ^ 1, N);
            for (int j = 0; j < N; j++) assert_true(y[j] == 0);
        }
        free(panel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_the_format),
        cmocka_unit_test(test_widened_rows_equal_the_golden_bit_for_bit),
        cmocka_unit_test(test_packed_rows_equal_the_golden_at_every_place_of_a_panel),
    };
    return cmocka_run_group_tests(tests, read_golden, free_golden);
}
