/* steno tests: tensors whose numbers lie in another order. SPDX-License-Identifier: MIT
 *
 * Number i of a file is i, counted on through its bytes; what is read of a tensor must be where its strides say. Sizes stand around every
 * constant of strided.c: tiles of 32 runs of 512 numbers, bands of 4 MiB. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "load/strided.h"

struct opened { struct weights w; struct tensor t; struct file f; uint8_t *bytes; size_t elem; uint64_t dim[4], stride[4]; };

static uint32_t number_at(const uint8_t *p, size_t elem)
{
    uint32_t v = 0;
    memcpy(&v, p, elem);
    return v;
}

/* Extents in the order of `order`, the one whose neighbours lie side by side last. */
static void open_as(struct opened *o, const uint64_t dim[4], const int order[4], enum dtype type)
{
    steno_error e;
    uint64_t n = 1;
    memset(o, 0, sizeof *o);
    for (int i = 4; i-- > 0;) {
        o->dim[order[i]] = dim[order[i]];
        o->stride[order[i]] = n;
        n *= dim[order[i]];
    }
    o->elem = type == DT_F32 ? 4 : 2;
    o->bytes = malloc(n * o->elem);
    assert_non_null(o->bytes);
    for (uint64_t i = 0; i < n; i++) memcpy(o->bytes + i * o->elem, &(uint32_t){ (uint32_t)i }, o->elem);
    file_from_memory(&o->f, "m", o->bytes, n * o->elem);
    o->t = (struct tensor){ .name = "t", .type = type, .n_dims = 4, .file = &o->f, .size = n * o->elem };
    assert_true(strided_is_dense(o->dim, o->stride));
    assert_int_equal(tensor_stride(&o->t, &o->w, o->dim, o->stride, &e), 0);
}

static void close_it(struct opened *o)
{
    weights_close(&o->w);
    free(o->bytes);
}

static void expect_rows(const struct opened *o, uint64_t row, uint64_t n)
{
    steno_error e;
    const uint64_t *d = o->dim, len = d[1] * d[2] * d[3];
    uint8_t *got = malloc(n * len * o->elem);
    assert_non_null(got);
    if (tensor_read_rows(&o->t, row, n, got, &e)) fail_msg("%s", e.text);
    for (uint64_t i = 0; i < n * len; i++) {
        const uint64_t at = (row + i / len) * o->stride[0] + i / (d[2] * d[3]) % d[1] * o->stride[1] + i / d[3] % d[2] * o->stride[2] +
                            i % d[3] * o->stride[3];
        const uint32_t want = number_at(o->bytes + at * o->elem, o->elem);
        if (number_at(got + i * o->elem, o->elem) != want)
            fail_msg("rows %u+%u of %u %u %u %u: number %u is %u, want %u", (unsigned)row, (unsigned)n, (unsigned)d[0], (unsigned)d[1],
                     (unsigned)d[2], (unsigned)d[3], (unsigned)i, (unsigned)number_at(got + i * o->elem, o->elem), (unsigned)want);
    }
    free(got);
}

static void test_every_order_of_four_extents(void **state)
{
    (void)state;
    static const uint64_t shape[][4] = { { 3, 4, 5, 2 }, { 33, 1, 7, 1 }, { 1, 1, 1, 1 }, { 2, 513, 1, 3 }, { 5, 31, 33, 1 } };
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int p = 0; p < 256; p++) {
            const int order[4] = { p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6 };
            struct opened o;
            if ((1 << order[0] | 1 << order[1] | 1 << order[2] | 1 << order[3]) != 15) continue;
            open_as(&o, shape[s], order, p & 1 ? DT_F32 : DT_F16);
            expect_rows(&o, 0, shape[s][0]);
            for (uint64_t r = 0; r < shape[s][0]; r += 2) expect_rows(&o, r, 1);
            close_it(&o);
        }
}

/* A filter that lies tap by tap, read in pieces of any size, of any rows. */
static void test_any_run_of_numbers_may_be_asked_for(void **state)
{
    (void)state;
    static const struct { uint64_t rows, taps, channels, step; } it[] = {
        { 3, 3, 5, 1 }, { 3, 3, 5, 2 }, { 3, 3, 5, 7 }, { 3, 3, 5, 15 }, { 3, 3, 5, 16 }, { 3, 3, 5, 33 }, { 3, 3, 5, 45 },
        { 2, 3, 511, 1000 }, { 2, 3, 512, 1536 }, { 2, 3, 513, 1540 }, { 1, 3, 5000, 7 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        const uint64_t n = it[i].rows * it[i].taps * it[i].channels;
        struct opened o;
        steno_error e;
        float *seen = malloc(n * sizeof *seen), *want = malloc(n * sizeof *want);
        assert_true(seen && want);
        open_as(&o, (uint64_t[4]){ it[i].rows, it[i].channels, it[i].taps, 1 }, (const int[4]){ 0, 2, 1, 3 }, DT_F32);
        assert_int_equal(tensor_read_rows(&o.t, 0, it[i].rows, want, &e), 0);
        for (uint64_t at = 0; at < n; at += it[i].step) {
            const uint64_t take = n - at < it[i].step ? n - at : it[i].step;
            assert_int_equal(file_read(o.t.file, at * sizeof *seen, seen + at, take * sizeof *seen, &e), STENO_OK);
        }
        assert_memory_equal(seen, want, n * sizeof *seen);
        expect_rows(&o, 0, it[i].rows);
        close_it(&o);
        free(seen);
        free(want);
    }
}

static const int by_columns[4] = { 1, 0, 2, 3 };

static void test_matrices_around_a_tile(void **state)
{
    (void)state;
    static const uint64_t size[] = { 1, 2, 31, 32, 33, 511, 512, 513, 1025 };
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < 9; j++) {
            struct opened o;
            open_as(&o, (uint64_t[4]){ size[i], size[j], 1, 1 }, by_columns, (i + j) % 2 ? DT_F32 : DT_BF16);
            expect_rows(&o, 0, size[i]);
            expect_rows(&o, size[i] / 2, size[i] - size[i] / 2);
            expect_rows(&o, size[i] - 1, 1);
            close_it(&o);
        }
}

/* Rows of 1 MiB: four are a band. Then rows just below a band, as long as one, and above. */
static void test_rows_around_a_band(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, WIDE = MIB / 4 };
    for (uint64_t rows = 1; rows < 10; rows++) {
        struct opened o;
        open_as(&o, (uint64_t[4]){ rows, WIDE, 1, 1 }, by_columns, DT_F32);
        expect_rows(&o, 0, rows);
        if (rows > 4) expect_rows(&o, 3, 2); /* over the seam */
        if (rows > 8) expect_rows(&o, 2, 7);
        expect_rows(&o, 0, 1);
        close_it(&o);
    }
    for (int more = -1; more < 2; more++) {
        struct opened o;
        open_as(&o, (uint64_t[4]){ 3, (uint64_t)(4 * WIDE + more), 1, 1 }, by_columns, DT_F32);
        expect_rows(&o, 0, 3);
        expect_rows(&o, 1, 1);
        close_it(&o);
    }
}

static void *read_all(void *arg)
{
    const struct opened *o = arg;
    for (uint64_t r = 0; r < o->dim[0]; r += 32) expect_rows(o, r, o->dim[0] - r < 32 ? o->dim[0] - r : 32);
    return NULL;
}

static void test_two_tensors_and_two_threads_share_a_band(void **state)
{
    (void)state;
    struct opened o, other;
    pthread_t id;
    open_as(&o, (uint64_t[4]){ 3000, 1000, 1, 1 }, by_columns, DT_F16);
    open_as(&other, (uint64_t[4]){ 100, 70, 1, 1 }, by_columns, DT_F16);
    struct opened second = other; /* in the weights of the first */
    steno_error e;
    second.t.file = &other.f;
    assert_int_equal(tensor_stride(&second.t, &o.w, second.dim, second.stride, &e), 0);
    assert_int_equal(pthread_create(&id, NULL, read_all, &o), 0);
    read_all(&second);
    read_all(&o);
    read_all(&second);
    pthread_join(id, NULL);
    close_it(&o);
    close_it(&other);
}

static void test_a_file_that_ends_early_is_reported_and_requested_again(void **state)
{
    (void)state;
    struct opened o;
    steno_error e;
    uint16_t row[50];
    open_as(&o, (uint64_t[4]){ 60, 50, 1, 1 }, by_columns, DT_F16);
    struct file whole = o.f;
    weights_close(&o.w);
    o.f.size -= 2;
    o.t.file = &o.f;
    assert_int_equal(tensor_stride(&o.t, &o.w, o.dim, o.stride, &e), 0);
    assert_int_equal(tensor_read_rows(&o.t, 0, 1, row, &e), STENO_EFORMAT);
    assert_int_equal(tensor_read_rows(&o.t, 0, 1, row, &e), STENO_EFORMAT);
    weights_close(&o.w);
    o.t.file = &whole;
    assert_int_equal(tensor_stride(&o.t, &o.w, o.dim, o.stride, &e), 0);
    expect_rows(&o, 0, 60);
    close_it(&o);
}

static void test_gaps_and_overlaps_are_not_dense(void **state)
{
    (void)state;
    static const struct { uint64_t dim[4], stride[4]; int dense; } it[] = {
        { { 2, 3, 1, 1 }, { 3, 1, 1, 1 }, 1 },  { { 2, 3, 1, 1 }, { 1, 2, 1, 1 }, 1 },  { { 2, 3, 1, 1 }, { 1, 2, 9, 0 }, 1 },
        { { 1, 1, 1, 1 }, { 7, 0, 9, 5 }, 1 },  { { 2, 2, 2, 2 }, { 1, 2, 4, 8 }, 1 },  { { 2, 2, 2, 2 }, { 4, 1, 8, 2 }, 1 },
        { { 2, 3, 1, 1 }, { 4, 1, 1, 1 }, 0 },  { { 2, 3, 1, 1 }, { 2, 1, 1, 1 }, 0 },  { { 2, 3, 1, 1 }, { 0, 1, 1, 1 }, 0 },
        { { 2, 3, 1, 1 }, { 1, 1, 1, 1 }, 0 },  { { 2, 3, 1, 1 }, { 6, 2, 1, 1 }, 0 },  { { 2, 2, 2, 2 }, { 1, 2, 4, 4 }, 0 },
        { { 4, 1, 1, 1 }, { 2, 1, 1, 1 }, 0 },  { { 2, 2, 1, 1 }, { UINT64_MAX, 1, 1, 1 }, 0 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) assert_int_equal(strided_is_dense(it[i].dim, it[i].stride), it[i].dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order_of_four_extents),
        cmocka_unit_test(test_any_run_of_numbers_may_be_asked_for),
        cmocka_unit_test(test_matrices_around_a_tile),
        cmocka_unit_test(test_rows_around_a_band),
        cmocka_unit_test(test_two_tensors_and_two_threads_share_a_band),
        cmocka_unit_test(test_a_file_that_ends_early_is_reported_and_requested_again),
        cmocka_unit_test(test_gaps_and_overlaps_are_not_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
