/* steno tests: the reader of ONNX files. SPDX-License-Identifier: MIT */
#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/weights.h"

enum { MOST = 4096 };

/* A message, written from its end to its beginning, so that lengths are known. */
struct message { uint8_t at[MOST]; size_t n; };

static void put(struct message *m, const void *p, size_t n)
{
    assert_true(m->n + n <= MOST);
    memmove(m->at + n, m->at, m->n);
    memcpy(m->at, p, n);
    m->n += n;
}

static void put_varint(struct message *m, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    for (; v > 127; v >>= 7) b[n++] = (uint8_t)(v | 128);
    b[n++] = (uint8_t)v;
    put(m, b, n);
}

/* The bytes so far become field `field` of a message around them. */
static void wrap(struct message *m, uint32_t field)
{
    put_varint(m, m->n);
    put_varint(m, field << 3 | 2);
}

static void number(struct message *m, uint32_t field, uint64_t v)
{
    put_varint(m, v);
    put_varint(m, field << 3);
}

static void bytes(struct message *m, uint32_t field, const void *p, size_t n)
{
    put(m, p, n);
    put_varint(m, n);
    put_varint(m, field << 3 | 2);
}

struct made { const char *name; uint64_t rows, n, type; size_t sz; uint32_t field; /* of its numbers: 9 raw, 4 a list of f32 */ };
static const float numbers[] = { 1, 2, 3, 4, 5, 6 };

static void tensor(struct message *m, const struct made *t)
{
    bytes(m, t->field, numbers, t->sz);
    if (t->name) bytes(m, 8, t->name, strlen(t->name));
    number(m, 2, t->type);
    number(m, 1, t->n);
    number(m, 1, t->rows);
}

static const struct made basis = { "a.stft.forward_basis_buffer", 2, 3, 1, 24, 9 };

static void model(struct message *m)
{
    wrap(m, 7);
    number(m, 1, 8);
}

static int open_as(struct weights *w, const struct message *m, steno_error *e)
{
    struct file f;
    uint8_t *own = malloc(m->n ? m->n : 1); /* without room behind it */
    assert_non_null(own);
    memcpy(own, m->at, m->n);
    file_from_memory(&f, "m.onnx", own, m->n);
    *e = (steno_error){ 0 };
    const int rc = weights_open(w, &f, e);
    if (!rc) {
        float x[6] = { 0 };
        struct tensor *t = &w->tensor[0];
        assert_int_equal(tensor_read_f32(t, x, e), 0);
        assert_memory_equal(x, numbers, t->size);
        weights_close(w);
    }
    free(own);
    return rc;
}

static void refused(const struct message *m, int status, const char *says)
{
    struct weights w;
    steno_error e;
    assert_int_equal(open_as(&w, m, &e), status);
    if (!strstr(e.text, says)) fail_msg("\"%s\" does not say \"%s\"", e.text, says);
}

static void test_tensors_of_graphs_and_constants_are_found(void **state)
{
    (void)state;
    struct weights w;
    steno_error e;
    static struct message m;
    m.n = 0;
    tensor(&m, &basis);
    wrap(&m, 5);
    model(&m);
    if (open_as(&w, &m, &e)) fail_msg("%s", e.text);

    m.n = 0;
    struct made list = basis;
    list.field = 4;
    tensor(&m, &list);
    wrap(&m, 5);
    model(&m);
    if (open_as(&w, &m, &e)) fail_msg("%s", e.text);

    /* A constant of a branch of a branch; its name is what its node gives. */
    m.n = 0;
    struct made nameless = basis;
    nameless.name = NULL;
    tensor(&m, &nameless);
    wrap(&m, 5);
    wrap(&m, 5);
    bytes(&m, 2, basis.name, strlen(basis.name));
    wrap(&m, 1);
    for (int i = 0; i < 2; i++) {
        wrap(&m, 6);
        wrap(&m, 5);
        wrap(&m, 1);
    }
    model(&m);
    if (open_as(&w, &m, &e)) fail_msg("%s", e.text);
}

/* Each is refused by name, or is no more than the beginning of something else. */
static void test_a_file_that_ends_early_is_refused(void **state)
{
    (void)state;
    static struct message m;
    m.n = 0;
    tensor(&m, &basis);
    wrap(&m, 5);
    model(&m);
    const size_t whole = m.n;
    for (m.n = 0; m.n < whole; m.n++) {
        struct weights w;
        steno_error e;
        assert_true(open_as(&w, &m, &e) != 0);
        assert_non_null(strstr(e.text, "m.onnx"));
    }
}

static void one_tensor(struct message *m, struct made t, uint64_t elsewhere)
{
    m->n = 0;
    tensor(m, &t);
    if (elsewhere) number(m, 14, elsewhere);
    wrap(m, 5);
    model(m);
}

static void test_damaged_tensors_are_refused_by_name(void **state)
{
    (void)state;
    static struct message m;
    struct made t = basis;
    t.sz = 20;
    one_tensor(&m, t, 0);
    refused(&m, STENO_EFORMAT, "a.stft.forward_basis_buffer has 20 bytes of numbers, want 24");
    t = basis;
    t.type = 10; /* f16 is no list of f32, however many bytes there are */
    t.sz = 12;
    t.field = 4;
    one_tensor(&m, t, 0);
    refused(&m, STENO_EFORMAT, "a.stft.forward_basis_buffer: f16 in a list of f32");
    t = basis;
    t.rows = 0;
    one_tensor(&m, t, 0);
    refused(&m, STENO_EFORMAT, "extent 0 is out of range");
    t.rows = UINT64_MAX / 2;
    one_tensor(&m, t, 0);
    refused(&m, STENO_EFORMAT, "is out of range");
    one_tensor(&m, basis, 1);
    refused(&m, STENO_EUNSUPPORTED, "is in another file");
    t = basis;
    t.name = "a.weight";
    one_tensor(&m, t, 0);
    refused(&m, STENO_EUNSUPPORTED, "an ONNX model");
}

static void test_graphs_that_nest_too_deep_are_refused(void **state)
{
    (void)state;
    static struct message m;
    m.n = 0;
    for (int i = 0; i < 40; i++) {
        wrap(&m, 6);
        wrap(&m, 5);
        wrap(&m, 1);
    }
    model(&m);
    refused(&m, STENO_EFORMAT, "nest too deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_of_graphs_and_constants_are_found),
        cmocka_unit_test(test_a_file_that_ends_early_is_refused),
        cmocka_unit_test(test_damaged_tensors_are_refused_by_name),
        cmocka_unit_test(test_graphs_that_nest_too_deep_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
