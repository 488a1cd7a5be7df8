/* steno tests: npz files byte by byte. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "load/weights.h"
#include "load/flat.h"
#include "zip_deflate.h"

#define HEAD(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

/* An array of a head, made long as NumPy does, and n bytes 0, 1, 2, ... */
static void put_array(struct buf *b, const char *head, size_t n)
{
    const size_t len = strlen(head), pad = 63 - (len + 10) % 64;
    buf_add(b, "\x93NUMPY\1", 8);
    put_le(b, len + pad + 1, 2);
    buf_str(b, head);
    for (size_t i = 0; i < pad; i++) buf_str(b, " ");
    buf_str(b, "\n");
    for (size_t i = 0; i < n; i++) buf_add(b, &(uint8_t){ (uint8_t)i }, 1);
}

static int open_zip(struct weights *w, const struct put_entry *entry, size_t n, struct buf *file, steno_error *e)
{
    struct file f;
    buf_clear(file);
    put_zip(file, entry, n, NULL);
    file_from_memory(&f, "x.npz", file->p, file->len);
    return weights_open(w, &f, e);
}

static void test_arrays_have_their_type_shape_and_bytes(void **state)
{
    (void)state;
    static const struct { const char *name, *head; size_t n; enum dtype type; int n_dims; uint64_t dim[3]; } array[] = {
        { "a.npy", HEAD("<f4", "False", "(2, 3)"), 24, DT_F32, 2, { 2, 3, 1 } },
        { "b.weight.npy", HEAD("<f2", "False", "(4,)"), 8, DT_F16, 1, { 4, 1, 1 } },
        { "c.npy", HEAD("<V2", "False", "(1, 2, 3)"), 12, DT_BF16, 3, { 1, 2, 3 } },
        { "d.npy", HEAD("|V2", "False", "(1,2,3)"), 12, DT_BF16, 3, { 1, 2, 3 } },
        { "e.npy", "{'shape': (), 'descr':'<f4','fortran_order':False}", 4, DT_F32, 1, { 1, 1, 1 } },
    };
    enum { N = sizeof array / sizeof *array };
    struct buf b[N] = { { 0 } }, file = { 0 };
    struct put_entry entry[N];
    struct weights w;
    steno_error e;
    for (size_t i = 0; i < N; i++) {
        put_array(&b[i], array[i].head, array[i].n);
        entry[i] = (struct put_entry){ .name = array[i].name, .data = b[i].p, .n = b[i].len };
    }
    if (open_zip(&w, entry, N, &file, &e)) fail_msg("%s", e.text);
    assert_string_equal(w.format, "NumPy .npz");
    assert_int_equal(w.n_tensors, N);
    for (size_t i = 0; i < N; i++) {
        char name[20];
        snprintf(name, sizeof name, "%.*s", (int)strlen(array[i].name) - 4, array[i].name);
        const struct tensor *t = weights_find(&w, name);
        assert_non_null(t);
        assert_true(t->type == array[i].type && t->n_dims == array[i].n_dims && t->size == array[i].n);
        for (int k = 0; k < 3; k++) assert_int_equal(t->dim[k], array[i].dim[k]);
        uint8_t first[2];
        assert_int_equal(file_read(t->file, t->offset, first, 2, &e), STENO_OK);
        assert_true(first[0] == 0 && first[1] == 1);
        buf_free(&b[i]);
    }
    weights_close(&w);
    buf_free(&file);
}

/* MLX writes what was transposed so: the number at (i, j, k) of a shape (a, b, c) lies at i + a * j + a * b * k. */
static void test_arrays_that_lie_column_by_column_are_put_in_order(void **state)
{
    (void)state;
    static const struct { const char *head; uint64_t dim[4]; } array[] = {
        { HEAD("<f2", "True", "(2, 3)"), { 2, 3, 1, 1 } },       { HEAD("<f2", "True", "(2, 3, 4)"), { 2, 3, 4, 1 } },
        { HEAD("<f2", "True", "(3, 1, 2, 5)"), { 3, 1, 2, 5 } }, { HEAD("<f2", "True", "(4,)"), { 4, 1, 1, 1 } },
        { HEAD("<f2", "True", "(1, 5)"), { 1, 5, 1, 1 } },       { HEAD("<f2", "True", "(5, 1)"), { 5, 1, 1, 1 } },
        { HEAD("<f2", "True", "(1, 1)"), { 1, 1, 1, 1 } },       { HEAD("<f2", "True", "()"), { 1, 1, 1, 1 } },
    };
    for (size_t n = 0; n < sizeof array / sizeof *array; n++) {
        const uint64_t *d = array[n].dim;
        struct buf b = { 0 }, file = { 0 };
        struct weights w;
        steno_error e;
        uint8_t got[256];
        put_array(&b, array[n].head, (size_t)(2 * d[0] * d[1] * d[2] * d[3]));
        const struct put_entry entry = { .name = "a.npy", .data = b.p, .n = b.len };
        if (open_zip(&w, &entry, 1, &file, &e)) fail_msg("%s", e.text);
        const struct tensor *t = weights_find(&w, "a");
        assert_non_null(t);
        assert_int_equal(file_read(t->file, t->offset, got, (size_t)t->size, &e), STENO_OK);
        const uint8_t *p = got;
        for (uint64_t i = 0; i < d[0]; i++)
            for (uint64_t j = 0; j < d[1]; j++)
                for (uint64_t k = 0; k < d[2]; k++)
                    for (uint64_t l = 0; l < d[3]; l++, p += 2) assert_int_equal(*p, 2 * (i + d[0] * (j + d[1] * (k + d[2] * l))));
        weights_close(&w);
        buf_free(&file);
        buf_free(&b);
    }
}

/* numpy.savez writes sizes of 64 bits before the bytes, and of 32 bits in the directory. */
static void test_entries_are_read_as_numpy_writes_them(void **state)
{
    (void)state;
    struct buf a = { 0 }, b = { 0 };
    put_array(&a, HEAD("<f4", "False", "(2,)"), 8);
    for (int local = 1; local >= 0; local--) {
        put_le(&b, local ? 0x04034b50 : 0x02014b50, 4);
        put_le(&b, local ? 45 : 45 << 16 | 45, local ? 2 : 4);
        put_le(&b, 0, 12); /* flags, method, time, date, checksum */
        for (int i = 0; i < 2; i++) put_le(&b, local ? 0xffffffff : a.len, 4);
        put_le(&b, 5, 2);
        put_le(&b, local ? 20 : 0, 2);
        if (!local) put_le(&b, 0, 14); /* comment, disk, attributes, place */
        buf_str(&b, "a.npy");
        if (!local) continue;
        put_le(&b, 1, 2);
        put_le(&b, 16, 2);
        for (int i = 0; i < 2; i++) put_le(&b, a.len, 8);
        buf_add(&b, a.p, a.len);
    }
    const size_t dir = 30 + 5 + 20 + a.len, dir_sz = b.len - dir;
    put_le(&b, 0x06054b50, 4);
    put_le(&b, 0, 4);
    put_le(&b, 1, 2);
    put_le(&b, 1, 2);
    put_le(&b, dir_sz, 4);
    put_le(&b, dir, 4);
    put_le(&b, 0, 2);
    struct file f;
    struct weights w;
    steno_error e;
    file_from_memory(&f, "x.npz", b.p, b.len);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    assert_int_equal(w.n_tensors, 1);
    weights_close(&w);
    buf_free(&a);
    buf_free(&b);
}

static void test_small_tables_of_whole_numbers_are_lists(void **state)
{
    (void)state;
    static const struct { const char *head; size_t n; uint64_t listed; } table[] = {
        { HEAD("<i8", "False", "(1, 2)"), 16, 2 },
        { HEAD("|u1", "False", "(3, 2)"), 6, 6 },
        { HEAD("|b1", "False", "(2048, 2)"), FLAT_LONG, FLAT_LONG },
        { HEAD("|b1", "False", "(4097, 1)"), FLAT_LONG + 1, 0 },
        { HEAD("|b1", "False", "(300000, 1)"), 300000, 0 },
        { HEAD("<i4", "False", "(2,)"), 8, 0 }, /* no table */
        { HEAD("<i4", "False", "(0, 2)"), 0, 0 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct buf a = { 0 }, b = { 0 }, file = { 0 };
        struct weights w;
        steno_error e;
        put_array(&a, HEAD("<f4", "False", "(1,)"), 4);
        put_array(&b, table[i].head, table[i].n);
        const struct put_entry entry[] = { { .name = "a.npy", .data = a.p, .n = a.len }, { .name = "t.npy", .data = b.p, .n = b.len } };
        if (open_zip(&w, entry, 2, &file, &e)) fail_msg("%zu: %s", i, e.text);
        const struct meta_list *l = meta_find_list(&w.meta, "array.t");
        assert_int_equal(w.n_tensors, 1);
        assert_int_equal(l ? l->n : 0, table[i].listed);
        double x[2] = { 0 };
        if (i == 1) assert_int_equal(meta_list_numbers(l, 4, 2, x, &e), STENO_OK);
        if (i == 1) assert_true((int)x[0] == 4 && (int)x[1] == 5);
        weights_close(&w);
        buf_free(&a);
        buf_free(&b);
        buf_free(&file);
    }
}

static void test_arrays_that_lie_are_refused_with_place_and_cause(void **state)
{
    (void)state;
    static const struct { const char *head; size_t n; int rc; const char *says; } bad[] = {
        { HEAD("<f4", "False", "(2,)"), 7, STENO_EFORMAT, "a.npy: its shape and type (F32) take 8 bytes, the entry has 7" },
        { HEAD("<f4", "False", "(2,)"), 9, STENO_EFORMAT, "take 8 bytes, the entry has 9" },
        { HEAD("<i4", "True", "(2, 3)"), 24, STENO_EUNSUPPORTED, "column by column" },
        { HEAD("<f4", "True", "(2, 3)"), 20, STENO_EFORMAT, "take 24 bytes" },
        { HEAD("<f4", "Maybe", "(2,)"), 8, STENO_EFORMAT, "neither True nor False" },
        { HEAD(">f4", "False", "(2,)"), 8, STENO_EUNSUPPORTED, "the type '>f4'" },
        { HEAD("<f8", "False", "(1,)"), 8, STENO_EUNSUPPORTED, "the type '<f8'" },
        { HEAD("<c16", "False", "(1,)"), 16, STENO_EUNSUPPORTED, "the type '<c16'" },
        { HEAD("|O", "False", "(1,)"), 8, STENO_EUNSUPPORTED, "the type '|O'" },
        { HEAD("", "False", "(1,)"), 4, STENO_EUNSUPPORTED, "the type ''" },
        { HEAD("<", "False", "(1,)"), 4, STENO_EUNSUPPORTED, "the type '<'" },
        { "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, STENO_EFORMAT, "its type is not a plain one" },
        { HEAD("<f4", "False", "2"), 8, STENO_EFORMAT, "its shape is not a tuple" },
        { HEAD("<f4", "False", "(-1,)"), 8, STENO_EFORMAT, "a member that is not a size" },
        { HEAD("<f4", "False", "(x)"), 8, STENO_EFORMAT, "a member that is not a size" },
        { HEAD("<f4", "False", "(1, 1, 1, 1, 1)"), 4, STENO_EFORMAT, "more than 4 members" },
        { HEAD("<f4", "False", "(999999999999999, 999999999999999)"), 8, STENO_EFORMAT, "out of range" },
        { HEAD("<f4", "False", "(9999999999999999,)"), 8, STENO_EFORMAT, "a member that is not a size" },
        { "{'descr': '<f4', 'fortran_order': False}", 4, STENO_EFORMAT, "lacks descr, fortran_order or shape" },
        { "{'descr': '<f4', 'descr': '<f4'}", 4, STENO_EFORMAT, "a key twice" },
        { "{'other': 1}", 4, STENO_EFORMAT, "or one that is not descr" },
        { "{'descr': '<f4' 'shape': ()}", 4, STENO_EFORMAT, "its head does not end" },
        { "{'shape': (1 2)}", 4, STENO_EFORMAT, "its shape does not end" },
        { "{", 4, STENO_EFORMAT, "not a dictionary of descr" },
        { "nonsense", 4, STENO_EFORMAT, "its head is not a dictionary" },
        { HEAD("<f4", "False", "(1,)") " x", 4, STENO_EFORMAT, "something follows" },
        { HEAD("<i4", "False", "(1,)"), 4, STENO_EFORMAT, "no array of floating-point numbers" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf a = { 0 }, file = { 0 };
        struct weights w;
        steno_error e = { 0 };
        put_array(&a, bad[i].head, bad[i].n);
        const int rc = open_zip(&w, &(struct put_entry){ .name = "a.npy", .data = a.p, .n = a.len }, 1, &file, &e);
        if (rc != bad[i].rc || !strstr(e.text, bad[i].says) || !strstr(e.text, "x.npz")) fail_msg("%s: %d, %s", bad[i].head, rc, e.text);
        buf_free(&a);
        buf_free(&file);
    }
}

static void test_entries_that_are_no_arrays_are_refused(void **state)
{
    (void)state;
    struct buf good = { 0 };
    put_array(&good, HEAD("<f4", "False", "(1,)"), 4);
    char *version = malloc(good.len), *length = malloc(good.len);
    assert_true(version && length);
    memcpy(version, good.p, good.len);
    memcpy(length, good.p, good.len);
    version[6] = 4;
    length[9] = (char)0xff;
    const struct { struct put_entry entry; int rc; const char *says; } bad[] = {
        { { .name = "b.txt", .data = good.p, .n = good.len }, STENO_EFORMAT, "zip entry 'b.txt' is no NAME.npy" },
        { { .name = ".npy", .data = good.p, .n = good.len }, STENO_EFORMAT, "zip entry '.npy' is no NAME.npy" },
        { { .name = "b c.npy", .data = good.p, .n = good.len }, STENO_EFORMAT, "not of printable characters" },
        { { .name = "b.npy", .data = "short", .n = 5 }, STENO_EFORMAT, "too short" },
        { { .name = "b.npy", .data = "not an array at all", .n = 19 }, STENO_EFORMAT, "does not begin as an array does" },
        { { .name = "b.npy", .data = version, .n = good.len }, STENO_EUNSUPPORTED, "has version 4 of the form; 1 to 3" },
        { { .name = "b.npy", .data = length, .n = good.len }, STENO_EFORMAT, "its head has 65" },
        { { .name = "b.npy", .data = good.p, .n = good.len, .method = 12 }, STENO_EFORMAT, "is compressed in another way than by deflate" },
        { { .name = "a.npy", .data = good.p, .n = good.len }, STENO_EFORMAT, "is there twice" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct put_entry entry[] = { { .name = "a.npy", .data = good.p, .n = good.len }, bad[i].entry };
        struct buf file = { 0 };
        struct weights w;
        steno_error e = { 0 };
        const int rc = open_zip(&w, entry, 2, &file, &e);
        if (rc != bad[i].rc || !strstr(e.text, bad[i].says)) fail_msg("%zu: %d, %s", i, rc, e.text);
        buf_free(&file);
    }
    free(version);
    free(length);
    buf_free(&good);
}

/* ---- packed ---- */

static void test_packed_arrays_are_those_that_were_packed(void **state)
{
    (void)state;
    enum { LARGE = 300000 }; /* many pieces */
    struct buf plain = { 0 }, large = { 0 }, packed[2] = { { 0 } }, file = { 0 };
    struct weights w;
    steno_error e;
    put_array(&plain, HEAD("<f4", "False", "(2, 3)"), 24);
    put_array(&large, HEAD("<f2", "True", "(300, 500)"), LARGE);
    for (size_t i = large.len - LARGE; i < large.len; i++) large.p[i] = (char)(i * 2654435761u >> 17 & (i % 3 ? 0x3f : 0)); /* it packs */
    struct put_entry entry[] = { { .name = "a.npy", .data = plain.p, .n = plain.len },
                                 { .name = "b.npy", .data = large.p, .n = large.len },
                                 { .name = "c.npy", .data = plain.p, .n = plain.len },
                                 { .name = "d.npy", .data = plain.p, .n = plain.len } };
    put_deflated(&entry[1], &packed[0]);
    put_deflated(&entry[2], &packed[1]);
    entry[2].flags = 8; /* sizes behind */
    entry[3].zip64 = 1;
    assert_true(packed[0].len < large.len);
    if (open_zip(&w, entry, 4, &file, &e)) fail_msg("%s", e.text);
    float *got = malloc(LARGE * 2);
    assert_non_null(got);
    for (int i = 0; i < 4; i++) {
        const struct tensor *t = weights_find(&w, (char[]){ (char)('a' + i), '\0' });
        assert_non_null(t);
        if (i == 1) {
            uint16_t want;
            assert_true(t->dim[0] == 300 && t->dim[1] == 500);
            if (tensor_read_rows(t, 0, 300, got, &e)) fail_msg("%s", e.text); /* it lies column by column, and is turned */
            for (int k = 0; k < LARGE / 2; k += 7) {
                memcpy(&want, large.p + large.len - LARGE + 2 * (size_t)(k / 500 + k % 500 * 300), 2);
                if (((const uint16_t *)(const void *)got)[k] != want) fail_msg("number %d", k);
            }
            continue;
        }
        uint8_t bytes[24];
        assert_int_equal(file_read(t->file, t->offset, bytes, 24, &e), STENO_OK);
        assert_memory_equal(bytes, plain.p + plain.len - 24, 24);
    }
    free(got);
    weights_close(&w);
    buf_free(&plain);
    buf_free(&large);
    buf_free(&packed[0]);
    buf_free(&packed[1]);
    buf_free(&file);
}

/* Values that are stated twice have to agree, and a stated size is never trusted. */
static void test_packed_entries_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct { int64_t size, n, crc; const char *says; } lie[] = {
        { .size = 1, .says = "unpacks to fewer bytes than its entry has" },
        { .size = -1, .says = "unpacks to more bytes than its entry has" },
        { .crc = 1, .says = "does not match its checksum" },
        { .n = -1, .says = "or does not end" },
        { .n = -20, .says = "cannot be unpacked" },
        { .size = 50000, .says = "unpacks to fewer bytes than its entry has" },
        { .size = 2000000, .n = -60, .says = "has a size that its bytes cannot have" },
    };
    struct buf plain = { 0 };
    put_array(&plain, HEAD("<f4", "False", "(2, 3)"), 24);
    for (size_t i = 0; i < sizeof lie / sizeof *lie; i++) {
        struct put_entry entry = { .name = "a.npy", .data = plain.p, .n = plain.len };
        struct buf packed = { 0 }, file = { 0 };
        struct weights w;
        steno_error e = { 0 };
        put_deflated(&entry, &packed);
        entry.unpacked += (uint64_t)lie[i].size;
        entry.n += (uint64_t)lie[i].n;
        entry.crc += (uint32_t)lie[i].crc;
        if (open_zip(&w, &entry, 1, &file, &e) != STENO_EFORMAT || !strstr(e.text, lie[i].says)) fail_msg("%zu: %s", i, e.text);
        buf_free(&packed);
        buf_free(&file);
    }
    for (size_t i = 0; i < 200; i++) { /* any byte of the text may be damaged */
        struct put_entry entry = { .name = "a.npy", .data = plain.p, .n = plain.len };
        struct buf packed = { 0 }, file = { 0 };
        struct weights w;
        steno_error e = { 0 };
        put_deflated(&entry, &packed);
        if (i >= packed.len) i = 200;
        else packed.p[i] ^= (char)(1 << i % 8);
        const int rc = open_zip(&w, &entry, 1, &file, &e);
        if (i < 200 && rc == STENO_OK) fail_msg("byte %zu is damaged", i);
        if (rc == STENO_OK) weights_close(&w);
        buf_free(&packed);
        buf_free(&file);
    }
    buf_free(&plain);
}

/* An archive that unpacks to far more than weights do is refused before it is unpacked: just at the limit, and above it. */
static void test_a_bomb_is_refused(void **state)
{
    (void)state;
    struct buf plain = { 0 }, packed = { 0 }, file = { 0 };
    enum { N = 17, EACH = 4 << 20, FREE = 64 << 20 };
    put_array(&plain, HEAD("<f4", "False", "(1048576,)"), 0);
    const size_t n_head = plain.len;
    char *zeros = calloc(1, EACH);
    assert_non_null(zeros);
    buf_add(&plain, zeros, EACH);
    struct put_entry entry[N] = { { .name = "t00.npy", .data = plain.p, .n = plain.len } };
    put_deflated(&entry[0], &packed);
    static char names[N][8];
    for (int i = 1; i < N; i++) {
        entry[i] = entry[0];
        snprintf(names[i], sizeof names[i], "t%02d.npy", i);
        entry[i].name = names[i];
    }
    for (int n = 15; n <= N; n++) {
        struct weights w;
        steno_error e = { 0 };
        const int rc = open_zip(&w, entry, (size_t)n, &file, &e);
        const int is_much = (uint64_t)n * (n_head + EACH) > file.len * 16 + FREE;
        const int is_told = rc == STENO_EFORMAT && strstr(e.text, "its entries unpack to more than");
        if (is_much ? !is_told : rc != STENO_OK) fail_msg("%d: %s", n, e.text);
        if (n == 15) assert_false(is_much);
        if (n == N) assert_true(is_much);
        if (rc == STENO_OK) weights_close(&w);
    }
    free(zeros);
    buf_free(&plain);
    buf_free(&packed);
    buf_free(&file);
}

static void test_a_cut_file_is_refused_at_every_length(void **state)
{
    (void)state;
    struct buf a = { 0 }, b = { 0 };
    struct weights w;
    steno_error e;
    put_array(&a, HEAD("<f4", "False", "(2, 3)"), 24);
    put_zip(&b, &(struct put_entry){ .name = "a.npy", .data = a.p, .n = a.len }, 1, NULL);
    for (size_t n = 0; n < b.len; n++) {
        struct file f;
        uint8_t *copy = malloc(n + !n);
        assert_non_null(copy);
        memcpy(copy, b.p, n);
        file_from_memory(&f, "x.npz", copy, n);
        assert_int_equal(weights_open(&w, &f, &e), STENO_EFORMAT);
        free(copy);
    }
    buf_free(&a);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_have_their_type_shape_and_bytes),
        cmocka_unit_test(test_arrays_that_lie_column_by_column_are_put_in_order),
        cmocka_unit_test(test_entries_are_read_as_numpy_writes_them),
        cmocka_unit_test(test_small_tables_of_whole_numbers_are_lists),
        cmocka_unit_test(test_arrays_that_lie_are_refused_with_place_and_cause),
        cmocka_unit_test(test_entries_that_are_no_arrays_are_refused),
        cmocka_unit_test(test_packed_arrays_are_those_that_were_packed),
        cmocka_unit_test(test_packed_entries_that_lie_are_refused),
        cmocka_unit_test(test_a_bomb_is_refused),
        cmocka_unit_test(test_a_cut_file_is_refused_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
