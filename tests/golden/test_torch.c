/* steno tests: the shipped model as a PyTorch file. SPDX-License-Identifier: MIT
 *
 * The .bin file's tensors are put into an archive as OpenAI's files have them, with the dimensions in a dictionary and without filters and
 * vocabulary; the result must then be the .bin file's to the last bit. */
#include "api/shipped.h"
#include "load/weights.h"
#include "unit/torch_file.h"

/* {"dims": {…}, "model_state_dict": {…}}; bytes of tensor i are entry data/i. */
static void put_pickle(struct buf *b, const struct weights *w)
{
    put_begin(b);
    buf_str(b, "}(");
    put_text(b, "dims");
    buf_str(b, "}(");
    for (int i = 0; i < WHISPER_DIMS; i++) {
        int32_t v;
        memcpy(&v, (const char *)&w->whisper + whisper_dim[i].at, sizeof v);
        put_text(b, whisper_dim[i].name);
        put_int(b, v);
    }
    buf_str(b, "u");
    put_text(b, "model_state_dict");
    buf_str(b, "}(");
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        char key[16];
        snprintf(key, sizeof key, "%u", (unsigned)i);
        struct put_tensor p = { .name = t->name, .key = key, .storage = t->type == DT_F16 ? "HalfStorage" : "FloatStorage", .n_stored = 1,
                                .n_size = (size_t)t->n_dims, .n_stride = (size_t)t->n_dims };
        assert_true(t->type == DT_F16 || t->type == DT_F32);
        for (int k = t->n_dims; k-- > 0;) {
            p.size[k] = (int64_t)t->dim[k];
            p.stride[k] = p.n_stored;
            p.n_stored *= p.size[k];
        }
        put_tensor(b, &p);
    }
    buf_str(b, "uu.");
}

static struct buf torch_file(const char *path)
{
    enum { MOST = 200 };
    static char name[MOST][24];
    struct put_entry entry[MOST] = { { .name = "m/data.pkl" } };
    struct file f;
    struct weights w;
    steno_error e;
    if (file_open(&f, path, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    assert_true(w.n_tensors < MOST);
    struct buf pickle = { 0 }, b = { 0 };
    put_pickle(&pickle, &w);
    entry[0].data = pickle.p;
    entry[0].n = pickle.len;
    uint8_t *bytes = malloc(f.size);
    assert_non_null(bytes);
    assert_int_equal(file_read(&f, 0, bytes, f.size, &e), 0);
    for (uint32_t i = 0; i < w.n_tensors; i++) {
        snprintf(name[i], sizeof name[i], "m/data/%u", (unsigned)i);
        entry[i + 1] = (struct put_entry){ .name = name[i], .data = bytes + w.tensor[i].offset, .n = w.tensor[i].size };
    }
    put_zip(&b, entry, w.n_tensors + 1, &(struct put_end){ .zip64 = 1 });
    free(bytes);
    buf_free(&pickle);
    weights_close(&w);
    file_close(&f);
    return b;
}

static uint64_t digest_of(steno_model *m)
{
    const struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    steno_session *s = session_new(m, NULL, 1);
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
    assert_string_equal(steno_text(s), demo_text);
    const uint64_t digest = result_digest(s);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
    return digest;
}

static void test_the_shipped_model_as_a_pytorch_file_says_the_same(void **state)
{
    (void)state;
    struct buf b = torch_file(shipped_model);
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    assert_int_equal(steno_model_open_memory(&m, b.p, b.len, &p, &e), STENO_ENOVOCAB);
    p.vocab = shipped_model;
    if (steno_model_open_memory(&m, b.p, b.len, &p, &e)) fail_msg("%s", e.text);
    steno_model_info info = { .size = sizeof info };
    assert_int_equal(steno_model_info_get(m, &info), 0);
    assert_string_equal(info.format, "PyTorch .pt");
    assert_true(digest_of(m) == digest_of(shipped_open()));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_shipped_model_as_a_pytorch_file_says_the_same) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
