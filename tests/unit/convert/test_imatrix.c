/* steno tests: files that say how much errors in columns count. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "harness.h"
#include "gguf_file.h"
#include "convert/imatrix.h"

static void put_f32(struct buf *b, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put(b, bits, 4);
}

static void put_name(struct buf *b, const char *name)
{
    put(b, strlen(name), 4);
    buf_str(b, name);
}

static void put_entry(struct buf *b, const char *name, int32_t calls, const float *v, uint32_t n)
{
    put_name(b, name);
    put(b, (uint32_t)calls, 4);
    put(b, n, 4);
    for (uint32_t i = 0; i < n; i++) put_f32(b, v[i]);
}

static int read_bytes(struct imatrix *m, const struct buf *b, steno_error *e)
{
    struct file f;
    file_from_memory(&f, "some/where/text.dat", b->p, b->len);
    return imatrix_read(m, &f, e);
}

static void assert_values(const struct imatrix *m, const char *name, const float *want, uint64_t n)
{
    uint64_t found = 0;
    const float *v = imatrix_find(m, name, &found);
    assert_non_null(v);
    assert_int_equal(found, n);
    for (uint64_t i = 0; i < n; i++) assert_true(v[i] == want[i]);
}

static void test_the_older_form_is_divided_by_its_calls(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct imatrix m;
    steno_error e;
    uint64_t n;
    put(&b, 2, 4);
    put_entry(&b, "blk.1.ffn_down.weight", 4, (const float[]){ 4, 8, 0 }, 3);
    put_entry(&b, "blk.0.attn_v.weight", 0, (const float[]){ 3, 5 }, 2);
    for (int end = 0; end < 3; end++) {
        if (end == 1) put(&b, 7, 4); /* chunks, and nothing of a dataset */
        if (end == 2) put_name(&b, "wiki.txt");
        if (read_bytes(&m, &b, &e)) fail_msg("%s", e.text);
        assert_int_equal(m.n, 2);
        assert_string_equal(m.name, "text.dat");
        assert_int_equal(m.chunks, end ? 7 : 0);
        if (end == 2) assert_string_equal(m.dataset, "wiki.txt");
        else assert_null(m.dataset);
        assert_values(&m, "blk.1.ffn_down.weight", (const float[]){ 1, 2, 0 }, 3);
        assert_values(&m, "blk.0.attn_v.weight", (const float[]){ 3, 5 }, 2);
        assert_null(imatrix_find(&m, "blk.0.attn_v", &n));
        assert_null(imatrix_find(NULL, "blk.0.attn_v.weight", &n));
        imatrix_close(&m);
    }
    buf_free(&b);
}

enum form { WHOLE, NO_COUNTS, NO_SUMS, F16_SUMS, UNEVEN, OTHER, TWO_EXPERTS, NEGATIVE };

/* "q.weight" with four columns, or two experts of two. */
static void put_gguf(struct buf *b, enum form form)
{
    const uint64_t sums[4] = { form == TWO_EXPERTS ? 2 : 4, form == TWO_EXPERTS ? 2 : 0 }, counts[4] = { 1, form == TWO_EXPERTS ? 2 : 0 };
    const uint64_t uneven[4] = { 3 };
    put_header(b, 3, form == NO_COUNTS || form == NO_SUMS ? 1 : 2, 3);
    put_word(b, "general.type", "imatrix");
    put_u32(b, "imatrix.chunk_count", 9);
    put_key(b, "imatrix.datasets", GGUF_LIST);
    put(b, GGUF_TEXT, 4);
    put(b, 2, 8);
    put_text(b, "first");
    put_text(b, "second");
    if (form != NO_SUMS) put_tensor(b, form == OTHER ? "q.weight" : "q.weight.in_sum2", sums, form == F16_SUMS ? 1 : 0, 0);
    if (form != NO_COUNTS) put_tensor(b, "q.weight.counts", form == UNEVEN ? uneven : counts, 0, form == NO_SUMS ? 0 : 32);
    while (b->len % 32) put(b, 0, 1);
    for (int i = 0; i < 4 && form != NO_SUMS; i++) put_f32(b, form == NEGATIVE ? -1 : (float)(i + 1));
    while (b->len % 32) put(b, 0, 1);
    put_f32(b, 2);
    put_f32(b, 0);
    put_f32(b, 1);
}

static void test_the_form_of_today_is_divided_by_counts(void **state)
{
    (void)state;
    steno_error e;
    for (int two = 0; two < 2; two++) {
        struct buf b = { 0 };
        struct imatrix m;
        put_gguf(&b, two ? TWO_EXPERTS : WHOLE);
        if (read_bytes(&m, &b, &e)) fail_msg("%s", e.text);
        assert_int_equal(m.n, 1);
        assert_int_equal(m.chunks, 9);
        assert_string_equal(m.dataset, "first");
        assert_values(&m, "q.weight", two ? (const float[]){ 0.5f, 1, 1, 1 } : (const float[]){ 0.5f, 1, 1.5f, 2 }, 4);
        imatrix_close(&m);
        buf_free(&b);
    }
}

static void assert_refused(const struct buf *b, const char *why)
{
    struct imatrix m;
    steno_error e = { 0 };
    assert_int_equal(read_bytes(&m, b, &e), STENO_EFORMAT);
    if (!strstr(e.text, why)) fail_msg("want \"%s\", got \"%s\"", why, e.text);
    imatrix_close(&m);
}

static void test_damaged_files_are_named(void **state)
{
    (void)state;
    static const struct { enum form form; const char *why; } gguf[] = {
        { NO_COUNTS, "q.weight.in_sum2 needs q.weight.counts beside it" },
        { NO_SUMS, "tensor q.weight.counts is not part of an importance file" },
        { UNEVEN, "with a count for each run of its columns" },
        { OTHER, "tensor q.weight is not part of an importance file: is it a model?" },
        { NEGATIVE, "value 0 of q.weight is -0.5, want 0 or more" },
    };
    for (size_t i = 0; i < sizeof gguf / sizeof *gguf; i++) {
        struct buf b = { 0 };
        put_gguf(&b, gguf[i].form);
        assert_refused(&b, gguf[i].why);
        buf_free(&b);
    }
    static const struct { int32_t entries, calls; const char *name; float v; int n, twice; const char *why; } older[] = {
        { 0, 1, "a", 1, 1, 0, "the number of entries at byte 0" },
        { -1, 1, "a", 1, 1, 0, "the number of entries at byte 0" },
        { 1 << 30, 1, "a", 1, 1, 0, "the number of entries at byte 0" },
        { 1, 1, "", 1, 1, 0, "the name of an entry at byte 4" },
        { 1, 1, "a b", 1, 1, 0, "a name that is not of printable characters, at byte 4" },
        { 1, 1, "a", 1, 0, 0, "the number of values of an entry" },
        { 1, 1, "a", -1, 1, 0, "value 0 of a is -1, want 0 or more" },
        { 1, 1, "a", NAN, 1, 0, "value 0 of a is" },
        { 1, 1, "a", INFINITY, 1, 0, "value 0 of a is inf" },
        { 2, 1, "a", 1, 1, 1, "a is written twice" },
    };
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        struct buf b = { 0 };
        put(&b, (uint32_t)older[i].entries, 4);
        for (int k = 0; k <= older[i].twice; k++) put_entry(&b, older[i].name, older[i].calls, &older[i].v, (uint32_t)older[i].n);
        while (b.len < 21) put(&b, 0, 1);
        assert_refused(&b, older[i].why);
        buf_free(&b);
    }
}

/* Cut anywhere it is refused, but where an end is one. */
static void test_truncated_files_are_refused(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        struct buf b = { 0 };
        size_t ends[2];
        if (form) put_gguf(&b, WHOLE);
        else {
            put(&b, 1, 4);
            put_entry(&b, "blk.0.attn_v.weight", 2, (const float[]){ 3, 5 }, 2);
        }
        ends[0] = b.len;
        if (!form) put(&b, 7, 4);
        ends[1] = b.len;
        if (!form) put_name(&b, "text");
        for (size_t n = 0; n < b.len; n++) {
            const struct buf cut = { .p = b.p, .len = n };
            struct imatrix m;
            steno_error e = { 0 };
            const int whole = n == ends[0] || n == ends[1] || (form && n + 8 >= b.len); /* behind the last count nothing is read */
            assert_int_equal(read_bytes(&m, &cut, &e), whole ? STENO_OK : STENO_EFORMAT);
            if (!whole) assert_true(e.text[0] != 0);
            imatrix_close(&m);
        }
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_older_form_is_divided_by_its_calls),
        cmocka_unit_test(test_the_form_of_today_is_divided_by_counts),
        cmocka_unit_test(test_damaged_files_are_named),
        cmocka_unit_test(test_truncated_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
