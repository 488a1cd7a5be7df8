/* steno tests: model.bin of CTranslate2. SPDX-License-Identifier: MIT
 *
 * tests/data/fuzz/ct2 has small files, whole and wrong. They are also the seeds of the fuzz target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "load/weights.h"

static int ct2_open(struct weights *w, const char *name, steno_error *e)
{
    struct file f;
    char path[160];
    snprintf(path, sizeof path, "tests/data/fuzz/ct2/%s.bin", name);
    if (file_open(&f, path, e)) fail_msg("%s", e->text);
    const int rc = weights_open(w, &f, e);
    if (rc) file_close(&f);
    return rc;
}

static void ct2_close(struct weights *w)
{
    struct file f = w->source.file;
    weights_close(w);
    file_close(&f);
}

static void test_malformed_files_are_refused_with_their_reason(void **state)
{
    (void)state;
    static const struct { const char *name; int status; const char *says; } bad[] = {
        { "bad_version7", STENO_EUNSUPPORTED, "version 7 of CTranslate2's form, which is newer than 6" },
        { "bad_version1", STENO_EUNSUPPORTED, "version 1 of CTranslate2's form; 2 to 6 are read" },
        { "bad_spec", STENO_EUNSUPPORTED, "a CTranslate2 model of another kind (TransformerSpec: a translation model)" },
        { "bad_size_small", STENO_EFORMAT, "variable a/weight: its extents take 16 bytes, the file gives it 12" },
        { "bad_size_large", STENO_EFORMAT, "variable a/weight: its extents take 16 bytes, the file gives it 2147483648" },
        { "bad_dims_overflow", STENO_EFORMAT, "variable a/weight: its extent 1, 4294967295, is out of range" },
        { "bad_dims_wrap", STENO_EFORMAT, "variable a/weight: its extent 1, 2147483648, is out of range" },
        { "bad_rank255", STENO_EFORMAT, "variable a/weight has 255 dimensions, want at most 4" },
        { "bad_type6", STENO_EFORMAT, "variable a/weight has the unknown type 6" },
        { "bad_count", STENO_EFORMAT, "1073741824 variables do not fit into the" },
        { "bad_cut_in_name", STENO_EFORMAT, "2 variables do not fit into the 14 bytes that are left" },
        { "bad_cut_in_data", STENO_EFORMAT, "2 variables do not fit into the 11 bytes that are left" },
        { "bad_no_nul", STENO_EFORMAT, "variable 0: its name at byte 26 does not end in a NUL" },
        { "bad_nul_inside", STENO_EFORMAT, "variable 0: byte 1 of its name is 0x00" },
        { "bad_twice", STENO_EFORMAT, "tensor a/weight is stored twice" },
        { "bad_alias_count", STENO_EFORMAT, "99 aliases do not fit into the 0 bytes that are left" },
        { "bad_tail", STENO_EFORMAT, "1 bytes follow the aliases" },
        { "bad_empty_name", STENO_EFORMAT, "magic is 06 00 00 00" }, /* too short to be recognized */
        { "bad_scale_zero", STENO_EFORMAT, "a/weight_scale: the scale of row 0 is 0, want a number above 0" },
        { "bad_scale_missing", STENO_EFORMAT, "variable a/weight_scale is missing, which a/weight needs" },
        { "bad_scale_short", STENO_EFORMAT, "variable a/weight_scale is f32 of 4 bytes, want 2 numbers of f32" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights w;
        steno_error e = { 0 };
        const int rc = ct2_open(&w, bad[i].name, &e);
        if (rc != bad[i].status || !strstr(e.text, bad[i].says)) fail_msg("%s: %d, %s, want %s", bad[i].name, rc, e.text, bad[i].says);
    }
}

static void test_no_cut_is_read(void **state)
{
    (void)state;
    static const char *const whole[] = { "tests/data/fuzz/ct2/int8.bin", "tests/data/fuzz/ct2/int16.bin",
                                         "tests/data/fuzz/ct2/version3.bin" };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct file f, part;
        struct weights w;
        steno_error e;
        uint8_t bytes[400];
        if (file_open(&f, whole[i], &e) || file_read(&f, 0, bytes, (size_t)f.size, &e)) fail_msg("%s", e.text);
        for (size_t n = 0; n <= f.size; n++) {
            uint8_t *cut = malloc(n + 1); /* without room behind it */
            assert_non_null(cut);
            memcpy(cut, bytes, n);
            file_from_memory(&part, "cut", cut, n);
            const int rc = weights_open(&w, &part, &e);
            if ((n < f.size) != (rc == STENO_EFORMAT)) fail_msg("%s cut at %zu: %d", whole[i], n, rc);
            if (!rc) weights_close(&w);
            free(cut);
        }
        file_close(&f);
    }
}

/* These are odd, and CTranslate2 reads them. The revision is judged by the family. */
static void test_aliases_that_lead_nowhere_are_passed_over(void **state)
{
    (void)state;
    static const struct { const char *name; uint32_t n; const char *has; } row[] = {
        { "small", 2, "b" }, { "bad_alias_loose", 1, "a/weight" }, { "bad_alias_taken", 1, "a/weight" }, { "bad_alias_of_alias", 3, "c" },
        { "bad_revision4", 2, "b" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct weights w;
        steno_error e;
        float x[4];
        if (ct2_open(&w, row[i].name, &e)) fail_msg("%s", e.text);
        assert_int_equal(w.n_tensors, row[i].n);
        const struct tensor *t = weights_find(&w, row[i].has);
        assert_non_null(t);
        assert_int_equal(tensor_read_f32(t, x, &e), STENO_OK);
        for (int k = 0; k < 4; k++) assert_true(x[k] == (float)(k + 1));
        ct2_close(&w);
    }
}

static void test_settings_are_variables_without_extents(void **state)
{
    (void)state;
    struct weights w;
    steno_error e;
    int32_t v = 0;
    double x = 0;
    if (ct2_open(&w, "int16", &e)) fail_msg("%s", e.text);
    assert_string_equal(w.format, "CTranslate2");
    assert_string_equal(meta_text(&w.meta, "ct2.spec", ""), "WhisperSpec");
    assert_int_equal(meta_int(&w.meta, "", "ct2.revision", 3, 3, 0, &v, &e), STENO_OK);
    assert_int_equal(meta_int(&w.meta, "", "ct2.y", -9, 9, 0, &v, &e), STENO_OK);
    assert_int_equal(v, -2);
    assert_int_equal(meta_num(&w.meta, "", "ct2.x", 0, 1, 0, &x, &e), STENO_OK);
    assert_true(x == 0.5);
    assert_null(meta_find(&w.meta, "ct2.m/weight_scale"));
    ct2_close(&w);
}

struct expected { const char *name; enum tensor_form form; enum dtype type; uint32_t n; float x[6]; };

static void assert_numbers(struct weights *w, const struct expected *want)
{
    steno_error e;
    const struct tensor *t = weights_find(w, want->name);
    float all[6] = { 0 };
    assert_non_null(t);
    assert_int_equal(t->form, want->form);
    assert_int_equal(t->type, want->type);
    assert_int_equal(t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3], want->n);
    if (tensor_read_f32(t, all, &e)) fail_msg("%s", e.text);
    for (uint32_t i = 0; i < want->n; i++)
        if (all[i] != want->x[i]) fail_msg("%s[%u] is %g, want %g", want->name, i, (double)all[i], (double)want->x[i]);
    if (t->dim[0] < 2 || t->type != DT_F32) return;
    float row[6] = { 0 };
    const uint32_t k = want->n / (uint32_t)t->dim[0];
    if (tensor_read_rows(t, 1, 1, row, &e)) fail_msg("%s", e.text); /* a row by itself has its own scale */
    for (uint32_t i = 0; i < k; i++) assert_true(row[i] == want->x[k + i]);
}

static void test_scales_divide_integers(void **state)
{
    (void)state;
    static const struct { const char *file; uint32_t n; struct expected t[3]; } row[] = {
        { "int8", 2, { { "m/weight", FORM_I8_ROWS, DT_F32, 6, { 0.5f, 1, -1.5f, 31.75f, -31.75f, 0 } },
                       { "p/weight", FORM_I8_ROWS, DT_F32, 6, { 0.5f, 1, -1.5f, 31.75f, -31.75f, 0 } } } },
        { "int16", 3, { { "m/weight", FORM_I16, DT_F32, 4, { 1 / 1024.f, -2 / 1024.f, 1, -32 } },
                        { "b", FORM_STORED, DT_F16, 2, { 1, -2 } }, { "c", FORM_STORED, DT_BF16, 2, { 1, -2 } } } },
        { "version3", 2, { { "a/weight", FORM_STORED, DT_F32, 4, { 1, 2, 3, 4 } },
                           { "m/weight", FORM_I8_ROWS, DT_F32, 2, { 0.5f, 1 } } } },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct weights w;
        steno_error e;
        if (ct2_open(&w, row[i].file, &e)) fail_msg("%s: %s", row[i].file, e.text);
        assert_int_equal(w.n_tensors, row[i].n);
        for (int k = 0; k < 3 && row[i].t[k].name; k++) assert_numbers(&w, &row[i].t[k]);
        ct2_close(&w);
    }
}

/* Rows longer and shorter than the pieces that are read at once. */
static void test_long_and_short_rows_have_their_own_scales(void **state)
{
    (void)state;
    static uint32_t const shape[][2] = { { 3, 5000 }, { 700, 3 }, { 4097, 1 }, { 2, 2048 } };
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const uint32_t n = shape[s][0], k = shape[s][1];
        uint8_t *bytes = malloc((size_t)n * (k + 4) + 1);
        float *got = malloc((size_t)n * k * sizeof *got);
        struct file f;
        steno_error e;
        assert_true(bytes && got);
        for (uint32_t i = 0; i < n * k; i++) bytes[1 + i] = (uint8_t)(i * 7);
        for (uint32_t i = 0; i < n; i++) {
            const float scale = (float)(i + 1);
            memcpy(bytes + 1 + n * k + 4 * i, &scale, 4);
        }
        file_from_memory(&f, "x", bytes, (size_t)n * (k + 4) + 1);
        const struct tensor_groups g = { DT_F32, k, { &f }, { 1 + (uint64_t)n * k } };
        const struct tensor t = { .name = "t", .type = DT_F32, .form = FORM_I8_ROWS, .n_dims = 2, .dim = { n, k, 1, 1 }, .file = &f,
                                  .offset = 1, .size = (uint64_t)n * k, .groups = &g };
        if (tensor_read_f32(&t, got, &e)) fail_msg("%s", e.text);
        for (uint32_t i = 0; i < n * k; i++) assert_true(got[i] == (float)(int8_t)(i * 7) / (float)(i / k + 1));
        free(bytes);
        free(got);
    }
}

/* ---- rows of int8, as a converter rounds them ---- */

enum { WIDTH = 96, BYTES = PANEL * WIDTH };

struct rows { uint8_t q[BYTES]; float scale[PANEL]; struct file file[2]; struct tensor_groups g; struct tensor t; };

static void rows_make(struct rows *r, uint32_t seed)
{
    for (size_t i = 0; i < PANEL; i++) {
        float x[WIDTH], max = 0;
        for (size_t k = 0; k < WIDTH; k++) {
            seed = seed * 1664525 + 1013904223;
            x[k] = ((float)(seed >> 8) / (1 << 24) - 0.5f) * (float)(i + 1) / 40;
            max = fmaxf(max, fabsf(x[k]));
        }
        r->scale[i] = 127 / max;
        for (size_t k = 0; k < WIDTH; k++) r->q[i * WIDTH + k] = (uint8_t)(int8_t)nearbyintf(x[k] * r->scale[i]);
    }
    file_from_memory(&r->file[0], "q", r->q, sizeof r->q);
    file_from_memory(&r->file[1], "scale", r->scale, sizeof r->scale);
    r->g = (struct tensor_groups){ DT_F32, WIDTH, { &r->file[1] }, { 0 } };
    r->t = (struct tensor){ .name = "t", .type = DT_F32, .form = FORM_I8_ROWS, .n_dims = 2, .dim = { PANEL, WIDTH, 1, 1 },
                            .file = &r->file[0], .size = BYTES, .groups = &r->g };
}

static void test_narrow_rows_differ_by_less_than_a_thousandth_of_a_step(void **state)
{
    (void)state;
    struct rows r;
    steno_error e;
    float exact[BYTES], narrow[BYTES];
    rows_make(&r, 1);
    assert_int_equal(tensor_read_f32(&r.t, exact, &e), STENO_OK);
    tensor_pack_blocks(&r.t);
    assert_int_equal(r.t.type, DT_Q8_1F);
    assert_int_equal(tensor_read_f32(&r.t, narrow, &e), STENO_OK);
    for (size_t i = 0; i < BYTES; i++) assert_true(fabsf(narrow[i] - exact[i]) * r.scale[i / WIDTH] <= 1 / 32768.f);
    struct tensor odd = r.t;
    odd.type = DT_F32;
    odd.dim[0] = 2 * PANEL, odd.dim[1] = WIDTH / 2; /* rows that are not whole blocks */
    tensor_pack_blocks(&odd);
    assert_int_equal(odd.type, DT_F32);
}

/* In products of int8, weights are the file's integers, bit for bit, and their scale is its inverse. */
static void test_packed_int8_is_the_file_s(void **state)
{
    (void)state;
    static uint8_t panel[BYTES + 8 * PANEL];
    assert_true(pack_panel_sz(PK_I8_QUAD, WIDTH) <= sizeof panel);
    for (uint32_t seed = 0; seed < 50; seed++)
        for (int narrow = 0; narrow < 2; narrow++) {
            struct rows r;
            steno_error e;
            float x[BYTES];
            const void *rows[PANEL];
            rows_make(&r, seed);
            if (narrow) tensor_pack_blocks(&r.t);
            assert_int_equal(tensor_read_f32(&r.t, x, &e), STENO_OK);
            for (size_t i = 0; i < PANEL; i++) rows[i] = x + i * WIDTH;
            pack_panel(panel, PK_I8_QUAD, DT_F32, rows, WIDTH);
            for (size_t i = 0; i < PANEL; i++) {
                float scale;
                memcpy(&scale, panel + 4 * i, 4);
                assert_true(fabsf(scale * r.scale[i] - 1) < 1e-6f);
                for (size_t k = 0; k < WIDTH; k++)
                    assert_int_equal(panel[8 * PANEL + (k / 4 * PANEL + i) * 4 + k % 4], r.q[i * WIDTH + k]);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_files_are_refused_with_their_reason),
        cmocka_unit_test(test_no_cut_is_read),
        cmocka_unit_test(test_aliases_that_lead_nowhere_are_passed_over),
        cmocka_unit_test(test_settings_are_variables_without_extents),
        cmocka_unit_test(test_scales_divide_integers),
        cmocka_unit_test(test_long_and_short_rows_have_their_own_scales),
        cmocka_unit_test(test_narrow_rows_differ_by_less_than_a_thousandth_of_a_step),
        cmocka_unit_test(test_packed_int8_is_the_file_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
