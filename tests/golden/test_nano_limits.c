/* steno tests: Fun-ASR-Nano where memory is short, and rows are large. SPDX-License-Identifier: MIT
 *
 * The small model: every n-th allocation of opening, writing and transcribing fails once; the memory that sessions report;
 * an adaptor whose rows are a thousand times as large; encoders with impossible values. */
#define COUNT_LIBRARIES
#include <unistd.h>
#include "../api/convert.h"
#include "../api/heap.h"
#include "../api/resident.h"
#include "folder.h"
#include "funasr.h"
#include "internal.h"

static struct sound heard;

static int group_begin(void **state)
{
    (void)state;
    return sound_read(&heard, funasr_file("audio/%s.wav", "zh_synth").s);
}

static int group_end(void **state)
{
    (void)state;
    sound_free(&heard);
    return 0;
}

/* ---- allocations --------------------------------------------------------------------------------------------------------------- */

/* The text of a short file goes to text[100]. */
static int hear(const char *path, const char *llm, char text[100], steno_error *e)
{
    steno_model_params mp;
    steno_transcribe_params p;
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_model_params_init(&mp);
    steno_transcribe_params_init(&p);
    mp.llm = llm;
    p.itn = 1;
    p.hotwords = "seven\nalpha";
    p.repetition_penalty = 1.1;
    text[0] = 0;
    int rc = steno_model_open(&m, path, &mp, e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (!rc) {
        rc = steno_transcribe(s, heard.pcm, heard.n, &p);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
        else snprintf(text, 100, "%s", steno_text(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static int write_one(const char *path, const char *llm, char text[100], steno_error *e)
{
    struct buf b = { 0 };
    (void)llm;
    int rc = convert_to(&b, path, "q8_0", e);
    if (rc == STENO_ECANCELED) rc = STENO_ENOMEM; /* the buffer could not grow */
    snprintf(text, 100, "%zu bytes", rc ? 0 : b.len);
    buf_free(&b);
    return rc;
}

/* A way is gone once to the end, and then again and again with another allocation failing. */
static void each_fails(int (*way)(const char *path, const char *llm, char text[100], steno_error *e), const char *path, const char *llm,
                       int step)
{
    char right[100], text[100];
    steno_error e = { 0 };
    need_counting();
    if (way(path, llm, right, &e)) fail_msg("%s", e.text); /* what is made once only is there */
    count_begin(-1);
    way(path, llm, text, &e);
    const struct heap all = count_end();
    assert_int_equal(all.bytes, 0);
    print_message("%s: %d allocations, %s\n", path, (int)all.calls, right);
    for (int64_t i = 0; i < all.calls; i += step) {
        e.text[0] = 0;
        count_begin(i);
        const int rc = way(path, llm, text, &e);
        const struct heap h = count_end();
        if (h.bytes) fail_msg("allocation %d fails: %lld bytes are left", (int)i, (long long)h.bytes);
        if (!rc ? strcmp(text, right) != 0 : rc != STENO_ENOMEM || !e.text[0])
            fail_msg("allocation %d fails: status %d, \"%s\", \"%s\"", (int)i, rc, text, e.text);
    }
}

static void test_every_allocation_of_a_folder_may_fail(void **state)
{
    (void)state;
    each_fails(hear, funasr_file("%s", "models/nano/pt").s, NULL, 3);
}

static void test_every_allocation_of_two_files_may_fail(void **state)
{
    (void)state;
    const struct golden_path llm = funasr_file("%s", "models/nano/gguf/qwen3-mini-q8_0.gguf");
    each_fails(hear, funasr_file("%s", "models/nano/gguf/funasr-encoder-mini-q8.gguf").s, llm.s, 1);
}

static void test_every_allocation_of_writing_one_file_may_fail(void **state)
{
    (void)state;
    each_fails(write_one, funasr_file("%s", "models/nano/pt").s, NULL, 7);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------------- */

/* A session used to the full: windows and a span as long as any may be, texts that go on until there is no room. */
static void measure(const char *path, const char *llm, int threads)
{
    enum { SECONDS = 130, POSITIONS = 200 };
    char what[300];
    steno_model_params mp;
    steno_transcribe_params p;
    steno_vad_params v;
    steno_model *m, *vad;
    steno_session *s;
    steno_team *team;
    steno_error e;
    snprintf(what, sizeof what, "%.200s, %d threads", path, threads);
    steno_model_params_init(&mp);
    steno_transcribe_params_init(&p);
    steno_vad_params_init(&v);
    const int64_t n = SECONDS * 16000;
    float *pcm = calloc((size_t)n, sizeof *pcm);
    for (int64_t i = 0; i < n; i++) pcm[i] = heard.pcm[i % heard.n];
    assert_int_equal(steno_team_open(&team, threads, &e), 0);
    mp.team = team;
    mp.llm = llm;
    mp.text_ctx = POSITIONS;
    if (steno_model_open(&vad, funasr_file("%s", "fsmn-vad/pt").s, NULL, &e)) fail_msg("%s", e.text);
    if (steno_model_open(&m, path, &mp, &e)) fail_msg("%s", e.text);
    const int64_t said = steno_session_memory(m, team, NULL), before = resident();
    int64_t took = 0;
    assert_int_equal(steno_session_open(&s, m, team, NULL, NULL), 0);
    v.threshold = -1;
    p.repetition_penalty = 0.05;
    for (int i = 0; i < 4 && took + took / 20 < said; i++) {
        p.vad_model = i ? NULL : vad; /* the next call gives back what that needed */
        p.vad = i ? NULL : &v;
        if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
        took = i ? resident() - before : 0;
    }
    print_message("%s: %lld bytes reported, %lld resident\n", what, (long long)said, (long long)took);
    assert_said(what, said, took);
    steno_session_close(s);
    steno_model_close(m);
    steno_model_close(vad);
    steno_team_close(team);
    free(pcm);
}

static void test_a_session_takes_the_memory_it_reports(void **state)
{
    (void)state;
    need_resident();
    const struct golden_path folder = funasr_file("%s", "models/nano/pt");
    const struct golden_path enc = funasr_file("%s", "models/nano/gguf/funasr-encoder-mini-q8.gguf");
    const struct golden_path llm = funasr_file("%s", "models/nano/gguf/qwen3-mini-q8_0.gguf");
    for (int threads = 1; threads <= 2; threads++) measure(folder.s, NULL, threads);
    measure(enc.s, llm.s, 2);
}

/* ---- large rows ---------------------------------------------------------------------------------------------------------------- */

struct told { float most; int n, bad; };

static void on_rows(void *user, const steno_rows *r)
{
    struct told *t = user;
    if (strcmp(r->name, "adaptor") != 0) return;
    for (int32_t i = 0; i < r->n_rows; i++)
        for (int32_t k = 0; k < r->width; k++) {
            const float x = r->rows[i * r->stride + k];
            t->bad += !isfinite(x);
            if (fabsf(x) > t->most) t->most = fabsf(x);
            t->n++;
        }
}

/* The adaptor's second linear, multiplied: in the f32 file its weights and biases lie one behind the other. */
static void scale_file(const struct folder *d, float by)
{
    static const char name[] = "audio_adaptor.linear2.weight";
    struct file f;
    struct weights w;
    steno_error e;
    const struct golden_path from = funasr_file("%s", "models/nano/gguf/funasr-encoder-mini.gguf");
    if (file_open(&f, from.s, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    char *bytes = malloc((size_t)f.size);
    assert_int_equal(file_read(&f, 0, bytes, (size_t)f.size, &e), 0);
    const struct tensor *t = weights_find(&w, name);
    assert_non_null(t);
    float *x = (float *)(void *)(bytes + t->offset);
    for (uint64_t i = 0; i < t->size / sizeof *x; i++) x[i] *= by;
    folder_put(d, "enc.gguf", bytes, (size_t)f.size);
    weights_close(&w);
    file_close(&f);
    free(bytes);
}

static void test_rows_of_a_thousand_are_finite_in_every_arithmetic(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct golden_path llm = funasr_file("%s", "models/nano/gguf/qwen3-mini-f16.gguf");
    scale_file(&d, 2000);
    for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
        struct told told = { 0 };
        steno_model_params mp;
        steno_transcribe_params p;
        steno_model *m;
        steno_session *s;
        steno_error e;
        steno_model_params_init(&mp);
        steno_transcribe_params_init(&p);
        mp.llm = llm.s;
        mp.compute = compute;
        p.on_rows = on_rows;
        p.user = &told;
        if (steno_model_open(&m, folder_at(&d, "enc.gguf").path, &mp, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        if (steno_transcribe(s, heard.pcm, heard.n, &p)) fail_msg("%s", steno_last_error(s));
        steno_segment g = { .size = sizeof g };
        if (!steno_segment_get(s, 0, &g)) assert_true(isfinite(g.avg_logprob));
        print_message("compute %d: up to %g, text \"%s\"\n", compute, (double)told.most, steno_text(s));
        assert_true(told.n && !told.bad && told.most > 1200);
        steno_session_close(s);
        steno_model_close(m);
    }
    folder_remove(&d);
}

/* ---- what a file cannot say ---------------------------------------------------------------------------------------------------- */

static char *encoder_bytes(size_t *n)
{
    struct file f;
    steno_error e;
    if (file_open(&f, funasr_file("%s", "models/nano/gguf/funasr-encoder-mini.gguf").s, &e)) fail_msg("%s", e.text);
    char *bytes = malloc((size_t)f.size);
    assert_int_equal(file_read(&f, 0, bytes, *n = (size_t)f.size, &e), 0);
    file_close(&f);
    return bytes;
}

static char *find(char *bytes, size_t n, const char *what)
{
    const size_t len = strlen(what);
    for (size_t i = 0; i + len <= n; i++)
        if (!memcmp(bytes + i, what, len)) return bytes + i;
    fail_msg("%s is not in the file", what);
    return NULL;
}

/* A tensor of another name, or a setting of another value (its four bytes stand behind its name and type). */
static void test_encoders_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *what; uint32_t value; const char *why; } wrong[] = {
        { "audio_adaptor.linear1.weight", 0, "tensor audio_adaptor.linear1.weight is missing" },
        { "audio_adaptor.blocks.1.self_attn.linear_k.bias", 0, "blocks.1.self_attn.linear_k.bias is missing" },
        { "audio_encoder.tp_norm.bias", 0, "encoder.tp_norm.bias is missing" },
        { "funasr.adp.llm_dim", 96, "is [64, 256], want [96, 256]" },
        { "funasr.adp.encoder_dim", 64, "the adaptor reads rows of 64 numbers, but the encoder's have 128" },
        { "funasr.adp.downsample_rate", 2, "funasr.adp.downsample_rate" },
        { "funasr.adp.attention_heads", 7, "7 heads do not divide" },
        { "funasr.enc.num_blocks", 5, "encoders.3" },
        { "funasr.enc.sanm_shfit", 3, "funasr.enc.sanm_shfit" },
    };
    const struct folder d = folder_new();
    const struct folder_file enc = folder_at(&d, "enc.gguf");
    const struct golden_path llm = funasr_file("%s", "models/nano/gguf/qwen3-mini-f16.gguf");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t n;
        char *bytes = encoder_bytes(&n), *at = find(bytes, n, wrong[i].what), text[100];
        steno_error e = { 0 };
        if (wrong[i].value) memcpy(at + strlen(wrong[i].what) + 4, &wrong[i].value, 4);
        else at[strlen(wrong[i].what) - 1] = '_';
        folder_put(&d, "enc.gguf", bytes, n);
        free(bytes);
        const int rc = hear(enc.path, llm.s, text, &e);
        if (rc != STENO_EFORMAT || !strstr(e.text, wrong[i].why))
            fail_msg("%s: status %d, \"%s\", want \"%s\"", wrong[i].what, rc, e.text, wrong[i].why);
    }
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_of_a_folder_may_fail),
        cmocka_unit_test(test_every_allocation_of_two_files_may_fail),
        cmocka_unit_test(test_every_allocation_of_writing_one_file_may_fail),
        cmocka_unit_test(test_a_session_takes_the_memory_it_reports),
        cmocka_unit_test(test_rows_of_a_thousand_are_finite_in_every_arithmetic),
        cmocka_unit_test(test_encoders_that_do_not_fit_are_refused_by_name),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, group_end);
}
