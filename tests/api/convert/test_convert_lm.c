/* steno tests: language models as GGUF files. SPDX-License-Identifier: MIT */
#include <math.h>
#include "bert_model.h"
#include "convert.h"
#include "funasr_model.h"
#include "heap.h"
#include "lm_folder.h"
#include "lm_model.h"

enum { ALLOCATIONS_MAX = 3000, TENSORS_MAX = 100 };

/* The tensors that are reported, and the bytes. */
struct heard { struct buf bytes; steno_convert_tensor t[TENSORS_MAX]; char name[TENSORS_MAX][64]; int n, stop_at, wanted; };

static int tap_take(void *user, const void *data, size_t n)
{
    struct heard *t = user;
    return convert_take(&t->bytes, data, n);
}

static int tap_tensor(void *user, const steno_convert_tensor *t)
{
    struct heard *to = user;
    assert_int_equal(t->size, sizeof *t);
    assert_int_equal(t->i, to->n);
    assert_in_range(t->n, 1, TENSORS_MAX);
    if (to->n == to->stop_at) return 1;
    snprintf(to->name[to->n], sizeof to->name[0], "%s", t->name);
    to->wanted += t->wanted != NULL;
    to->t[to->n++] = *t;
    return 0;
}

static int tapped(struct heard *t, const char *path, const char *type, int again, const char *imatrix, steno_error *e)
{
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.type = type;
    p.write = tap_take;
    p.tensor = tap_tensor;
    p.user = t;
    p.allow_requantize = again;
    p.imatrix = imatrix;
    p.n_threads = 1;
    return steno_model_convert(path, &p, e);
}

static void test_each_tensor_is_reported_before_it_is_written_and_may_end_the_call(void **state)
{
    (void)state;
    static struct heard t, stopped;
    steno_error e = { 0 };
    t.stop_at = -1;
    if (tapped(&t, small_lm, "q4_0", 0, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(t.n, t.t[0].n);
    assert_true(t.n > 20);
    int64_t sum = 0;
    for (int i = 0; i < t.n; i++) {
        assert_int_equal(t.t[i].n, t.n);
        assert_int_equal(t.t[i].from_bytes, t.t[i].to_bytes); /* the types that it has */
        sum += (t.t[i].to_bytes + 31) / 32 * 32;
    }
    assert_true((size_t)sum < t.bytes.len && t.bytes.len - (size_t)sum < 30000); /* the rest is its header */
    for (int i = 0; i < t.n; i += 7) {
        stopped.n = 0;
        stopped.stop_at = i;
        stopped.bytes.len = 0;
        assert_int_equal(tapped(&stopped, small_lm, "q4_0", 0, NULL, &e), STENO_ECANCELED);
        assert_int_equal(stopped.n, i);
        assert_non_null(strstr(e.text, "was ended at tensor"));
    }
    t.n = t.wanted = 0;
    t.bytes.len = 0;
    if (tapped(&t, small_lm, "q4_k_m", 1, NULL, &e)) fail_msg("%s", e.text);
    assert_true(t.wanted > 10); /* rows of 64 */
    buf_free(&t.bytes);
    buf_free(&stopped.bytes);
}

static steno_model *model_of(const struct buf *b)
{
    steno_model *m;
    steno_error e;
    if (steno_model_open_memory(&m, b->p, b->len, NULL, &e)) fail_msg("%s", e.text);
    return m;
}

static void embed(float out[BERT_D], steno_model *m)
{
    static const char *const text = "ab c hello.";
    steno_session *s;
    steno_error e;
    steno_embedding v = { .size = sizeof v };
    if (steno_session_open(&s, m, NULL, NULL, &e)) fail_msg("%s", e.text);
    if (steno_embed(s, &text, 1, NULL)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_embedding_get(s, 0, &v), 0);
    assert_int_equal(v.n, BERT_D);
    memcpy(out, v.vector, BERT_D * sizeof *out);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_a_folder_of_bert_and_its_file_give_the_same_vector_and_the_file_itself_again(void **state)
{
    (void)state;
    const struct folder d = bert_folder(), two = folder_new();
    struct buf file = { 0 }, again = { 0 };
    float want[BERT_D], got[BERT_D];
    steno_error e;
    steno_model *m;
    if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
    embed(want, m);
    if (convert_to(&file, d.path, NULL, &e)) fail_msg("%s", e.text);
    embed(got, model_of(&file));
    for (int i = 0; i < BERT_D; i++) assert_true(got[i] == want[i]);
    folder_put(&two, "m.gguf", file.p, file.len);
    if (convert_to(&again, folder_at(&two, "m.gguf").path, "f32", &e)) fail_msg("%s", e.text);
    assert_int_equal(again.len, file.len);
    assert_memory_equal(again.p, file.p, file.len);
    again.len = 0;
    if (convert_to(&again, d.path, "F16", &e)) fail_msg("%s", e.text);
    assert_true(again.len < file.len);
    embed(got, model_of(&again));
    for (int i = 0; i < BERT_D; i++) assert_true(fabsf(got[i] - want[i]) < 0.01f);
    buf_free(&file);
    buf_free(&again);
    folder_remove(&two);
    folder_remove(&d);
}

/* Its file could read no text. Nothing is written. */
static void test_a_folder_without_a_tokenizer_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct folder d = i ? lm_folder() : bert_folder();
        struct buf b = { 0 };
        steno_error e = { 0 };
        assert_int_equal(remove(folder_at(&d, i ? "tokenizer.json" : "vocab.txt").path), 0);
        assert_int_equal(convert_to(&b, d.path, "f32", &e), STENO_ENOVOCAB);
        if (!strstr(e.text, "no tokenizer in it or beside it")) fail_msg("%s", e.text);
        assert_int_equal(b.len, 0);
        buf_free(&b);
        folder_remove(&d);
    }
}

static void test_unsupported_parameters_are_refused_by_name(void **state)
{
    (void)state;
    const struct folder ctc = ctc_folder();
    static struct heard t;
    steno_error e = { 0 };
    steno_convert_params p;
    t.stop_at = -1;
    assert_int_equal(tapped(&t, ctc.path, "q4_k_m", 0, NULL, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "q4_k_m is for language models; of sensevoice f32, f16, bf16"));
    assert_int_equal(tapped(&t, ctc.path, "f16", 0, "any.dat", &e), STENO_EARG);
    assert_non_null(strstr(e.text, "imatrix, the importance of columns, is for language models"));
    assert_int_equal(tapped(&t, small_lm, "q8_0", 0, NULL, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "is q4_0 already, and would be rounded again, to q8_0"));
    assert_int_equal(tapped(&t, small_lm, "q4_0", 0, "no/such/file", &e), STENO_EIO);
    assert_int_equal(tapped(&t, small_lm, "q4_0", 0, small_lm, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "is not part of an importance file: is it a model?"));
    assert_int_equal(t.bytes.len, 0);
    steno_convert_params_init(&p);
    p.write = tap_take;
    p.user = &t;
    p.n_threads = 257;
    assert_int_equal(steno_model_convert(small_lm, &p, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "n_threads is 257"));
    folder_remove(&ctc);
}

/* importance[n] of a tensor, in the older form. */
static void importance_put(const struct folder *d, const char *name, uint32_t n)
{
    char file[4096];
    const uint32_t head[] = { 1, (uint32_t)strlen(name) }, tail[] = { 1, n };
    size_t at = 0;
    memcpy(file, head, sizeof head), at += sizeof head;
    memcpy(file + at, name, head[1]), at += head[1];
    memcpy(file + at, tail, sizeof tail), at += sizeof tail;
    for (uint32_t i = 0; i < n; i++, at += 4) memcpy(file + at, &(const float){ i % 5 ? 0.1f : 3 }, 4);
    folder_put(d, "importance.dat", file, at);
}

static void test_importance_changes_its_tensor_alone_and_must_fit(void **state)
{
    (void)state;
    static struct heard plain, weighed;
    const struct folder d = folder_new();
    steno_error e = { 0 };
    plain.stop_at = weighed.stop_at = -1;
    importance_put(&d, "blk.0.attn_q.weight", 64);
    if (tapped(&plain, small_lm, "q5_1", 1, NULL, &e)) fail_msg("%s", e.text);
    if (tapped(&weighed, small_lm, "q5_1", 1, folder_at(&d, "importance.dat").path, &e)) fail_msg("%s", e.text);
    size_t at[2] = { plain.bytes.len, weighed.bytes.len };
    assert_int_equal(plain.n, weighed.n);
    for (int i = plain.n; i-- > 0;) { /* from the end, where both are alike */
        const size_t n = (size_t)(plain.t[i].to_bytes + 31) / 32 * 32;
        at[0] -= n, at[1] -= n;
        const int same = !memcmp(plain.bytes.p + at[0], weighed.bytes.p + at[1], n);
        assert_int_equal(same, strcmp(plain.name[i], "blk.0.attn_q.weight") != 0);
    }
    importance_put(&d, "blk.0.attn_q.weight", 32);
    assert_int_equal(tapped(&weighed, small_lm, "q5_1", 1, folder_at(&d, "importance.dat").path, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "imatrix has 32 numbers for blk.0.attn_q.weight, whose rows have 64"));
    buf_free(&plain.bytes);
    buf_free(&weighed.bytes);
    folder_remove(&d);
}

/* ---- failed allocations */

struct sum { uint64_t hash; };

static int sum_take(void *user, const void *data, size_t n)
{
    struct sum *sum = user;
    for (size_t i = 0; i < n; i++) sum->hash = (sum->hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return 0;
}

static int summed(uint64_t *hash, const char *path, const char *type, const char *imatrix, steno_error *e)
{
    struct sum sum = { 1 };
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.type = type;
    p.write = sum_take;
    p.user = &sum;
    p.imatrix = imatrix;
    p.allow_requantize = 1;
    p.n_threads = 1;
    const int rc = steno_model_convert(path, &p, e);
    *hash = sum.hash;
    return rc;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    need_counting();
    const struct folder bert = bert_folder(), d = folder_new();
    importance_put(&d, "blk.0.attn_q.weight", 64);
    const struct folder_file importance = folder_at(&d, "importance.dat");
    const struct { const char *path, *type, *imatrix; } way[] = { { bert.path, "f16", NULL }, { small_lm, "q5_k_m", importance.path } };
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        uint64_t want, got;
        steno_error e = { 0 };
        if (summed(&want, way[i].path, way[i].type, way[i].imatrix, &e)) fail_msg("%s", e.text);
        int64_t n = 0;
        for (int rc = -1; rc; n++) {
            e = (steno_error){ 0 };
            count_begin(n);
            rc = summed(&got, way[i].path, way[i].type, way[i].imatrix, &e);
            const struct heap h = count_end();
            if (rc && (rc != STENO_ENOMEM || !*e.text)) fail_msg("allocation %lld fails: %d \"%s\"", (long long)n, rc, e.text);
            if (h.bytes) fail_msg("%s, allocation %lld fails: %lld bytes stay behind", way[i].path, (long long)n, (long long)h.bytes);
            if (!rc && got != want) fail_msg("%s, allocation %lld fails: another file", way[i].path, (long long)n);
            if (!rc && h.calls > n) rc = -1;
            assert_true(n < ALLOCATIONS_MAX);
        }
        print_message("%s: %lld allocations\n", way[i].path, (long long)n - 1);
    }
    folder_remove(&bert);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tensor_is_reported_before_it_is_written_and_may_end_the_call),
        cmocka_unit_test(test_a_folder_of_bert_and_its_file_give_the_same_vector_and_the_file_itself_again),
        cmocka_unit_test(test_a_folder_without_a_tokenizer_is_refused),
        cmocka_unit_test(test_unsupported_parameters_are_refused_by_name),
        cmocka_unit_test(test_importance_changes_its_tensor_alone_and_must_fit),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
