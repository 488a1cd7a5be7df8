/* steno tests: the models of a server: names, unloading, memory, faults, language models. SPDX-License-Identifier: MIT */
#include "engines_rig.h"
#include "api/bert_model.h"
#include "api/lm_model.h"

static struct folder folder;
static struct folder_file one, long_one, other;
static struct sink_memory want;

static int keep_output(void *user, const struct job_input *in, struct transcript *t)
{
    (void)in;
    write_both(user, t);
    return 0;
}

static int open_all(void **state)
{
    (void)state;
    folder = folder_new();
    one = wav_put(&folder, "one.wav", 1, 3 * RATE, 0, 1);
    long_one = wav_put(&folder, "long.wav", 1, 95 * RATE, 0, 1);
    other = folder_at(&folder, "other.bin");
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 2);
    struct job j = rig_job(m);
    char *files[] = { one.path };
    j.events.user = &want;
    j.events.output = keep_output;
    job_run(&j, s, files, 1);
    assert_int_equal(j.n_ok, 1);
    steno_session_close(s);
    steno_model_close(m);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    free(want.p);
    folder_remove(&folder);
    return 0;
}

/* Transcribes the recording with a model. */
static void expect_text(struct engine *g)
{
    struct piece x;
    piece_init(&x, g, "c");
    piece_go(&x, one.path);
    expect_code(&x, API_OK, "");
    assert_int_equal(x.text.n, want.n);
    assert_memory_equal(x.text.p, want.p, want.n);
    piece_free(&x);
}

static void expect_failure(struct engine *g, enum api_code code, const char *message)
{
    struct piece x;
    piece_init(&x, g, "c");
    piece_go(&x, one.path);
    expect_code(&x, code, message);
    piece_free(&x);
}

/* ---- names ---- */

static void test_names_of_models(void **state)
{
    (void)state;
    static char const *const aliases[] = { "small", "de", NULL };
    struct rig r;
    rig_init(&r, 3);
    r.model[1].aliases = aliases;
    r.model[1].path = "/models/whisper-base/";
    r.model[2].path = "/models/ggml-tiny.en.bin";
    rig_open(&r);
    const struct { const char *name; int i; } cases[] = {
        { "digits", 0 }, { "whisper-digits.bin", 0 }, { "whisper-digits", 0 }, { "second", 1 }, { "small", 1 }, { "de", 1 },
        { "whisper-base", 1 }, { "org/third", 2 }, { "third", 2 }, { "ggml-tiny.en.bin", 2 }, { "ggml-tiny.en", 2 }, { "whisper-1", 0 },
        { "gpt-4o-transcribe", 0 }, { "gpt-4o-mini-transcribe", 0 }, { "default", 0 }, { "", 0 }, { "Digits", -1 }, { "whisper", -1 },
        { "models", -1 },
        { "/models/whisper-base/", -1 }, { "ggml-tiny", -1 }, { "org/", -1 }, { ".", -1 }, { "third/", -1 }, { "gpt-4", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct engine *g = engines_find(r.es, cases[i].name), *w = engines_at(r.es, cases[i].i);
        if (g != w) fail_msg("%s: model %s", cases[i].name, g ? engine_id(g) : "none");
    }
    assert_ptr_equal(engines_find(r.es, NULL), engines_at(r.es, 0));
    assert_null(engines_at(r.es, 3));
    assert_true(engine_created(engines_at(r.es, 0)) > 1000000000);
    assert_int_equal(engine_calls(engines_at(r.es, 0)), ENGINE_TRANSCRIBES);
    assert_true(engines_ready(r.es));
    r.p.any_model = 1;
    assert_ptr_equal(engines_find(r.es, "gpt-4"), engines_at(r.es, 0));
    r.p.any_model = 0;
    struct api_error e = { 0 };
    assert_null(engines_for(r.es, "gpt-4", ENGINE_TRANSCRIBES, &e));
    assert_int_equal(e.code, API_model_not_found);
    assert_non_null(strstr(e.message, "\"gpt-4\" is not served here"));
    e = (struct api_error){ 0 };
    assert_null(engines_for(r.es, "default", ENGINE_GENERATES, &e));
    assert_int_equal(e.code, API_model_not_found);
    assert_non_null(strstr(e.message, "no model of this server can generate texts"));
    rig_close(&r);
}

static void test_languages_of_a_request_are_those_of_its_model(void **state)
{
    (void)state;
    static const struct { const char *name, *code; int error; } cases[] = {
        { NULL, NULL, 0 }, { "", NULL, 0 }, { "en", "en", 0 }, { "German", "de", 0 }, { "xx", NULL, 1 },
    };
    struct rig r;
    rig_init(&r, 1);
    rig_open(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_error e = { 0 };
        const char *code;
        const int rc = engine_language(engines_at(r.es, 0), cases[i].name, &code, &e);
        assert_int_equal(rc, cases[i].error ? API_invalid_value : API_OK);
        if (!rc && cases[i].code) assert_string_equal(code, cases[i].code);
        if (!rc && !cases[i].code) assert_null(code);
        if (rc) assert_string_equal(e.param, "language");
    }
    rig_close(&r);
}

/* ---- unloading and memory ---- */

static void test_an_idle_model_is_closed_and_the_next_request_opens_it(void **state)
{
    (void)state;
    struct rig r;
    steno_model_info info = { .size = sizeof info };
    rig_init(&r, 2);
    r.p.idle_unload_s = 0.05;
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    wait_loaded(g, 0);
    wait_loaded(engines_at(r.es, 1), 0);
    assert_int_equal(engine_info(g, &info), 0);
    assert_string_equal(info.family, "whisper");
    for (int i = 0; i < 3; i++) {
        expect_text(g);
        wait_loaded(g, 0);
    }
    assert_int_equal(r.n_opened, 5); /* the other one stayed closed */
    static struct piece x[8]; /* at any moment of the closing */
    for (int i = 0; i < 8; i++) {
        piece_init(&x[i], g, "c");
        piece_go(&x[i], one.path);
        sleep_ms(40 + 4 * i);
    }
    for (int i = 0; i < 8; i++) {
        expect_code(&x[i], API_OK, "");
        piece_free(&x[i]);
    }
    rig_close(&r);
}

static void test_the_least_used_model_gives_its_memory(void **state)
{
    (void)state;
    struct rig r;
    struct api_error e;
    rig_init(&r, 3);
    r.weigh = 1000 * 1000000LL;
    r.p.memory_max = 2800LL << 20; /* for two models and their batches */
    r.p.parallel = 2;
    rig_open(&r);
    struct engine *g[] = { engines_at(r.es, 0), engines_at(r.es, 1), engines_at(r.es, 2) };
    assert_true(engine_is_loaded(g[0]) && engine_is_loaded(g[1]) && !engine_is_loaded(g[2]));
    assert_int_equal(engines_now(r.es).loaded, 2);
    expect_text(g[0]);
    expect_text(g[2]); /* the second one goes */
    assert_true(engine_is_loaded(g[0]) && !engine_is_loaded(g[1]) && engine_is_loaded(g[2]));
    expect_text(g[1]);
    assert_true(!engine_is_loaded(g[0]) && engine_is_loaded(g[1]) && engine_is_loaded(g[2]));
    static struct piece x[2];
    for (int i = 0; i < 2; i++) {
        piece_init(&x[i], g[1 + i], "c");
        piece_go(&x[i], long_one.path);
    }
    struct piece late;
    piece_init(&late, g[0], "c");
    assert_int_equal(piece_submit(&late, one.path, &e), API_loading);
    assert_true(e.retry_after_s > 0 && strstr(e.message, "digits"));
    for (int i = 0; i < 2; i++) {
        expect_code(&x[i], API_OK, "");
        piece_free(&x[i]);
    }
    expect_text(g[0]);
    rig_close(&r);
    rig_init(&r, 1);
    r.weigh = 1000 * 1000000LL;
    r.p.memory_max = 900 * 1000000LL;
    steno_error err;
    assert_int_equal(spool_open(&r.spool, NULL, 1000, &err), STENO_OK);
    assert_int_equal(engines_open(&r.es, &r.p, r.spool, &err), STENO_EARG);
    assert_non_null(strstr(err.text, "900 MB"));
    assert_int_equal(r.n_opened, r.n_closed);
    spool_close(r.spool);
}

/* ---- faults ---- */

static void test_a_model_that_cannot_be_opened_again_fails_alone(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r, 2);
    r.p.idle_unload_s = 0.05;
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    wait_loaded(g, 0);
    r.path[0] = "/nonexistent/model.bin";
    expect_failure(g, API_internal_error, "/nonexistent/model.bin");
    expect_failure(g, API_internal_error, "/nonexistent/model.bin");
    expect_text(engines_at(r.es, 1));
    folder_text(&folder, "other.bin", "these bytes are no model, and they have replaced one");
    r.path[0] = other.path;
    expect_failure(g, API_internal_error, "other.bin");
    r.path[0] = small_lm; /* a model of another kind */
    r.text_ctx = 64;
    expect_failure(g, API_invalid_value, "does not transcribe audio");
    wait_loaded(g, 0);
    r.path[0] = shipped_model;
    r.text_ctx = 0;
    expect_text(g);
    rig_close(&r);
    rig_init(&r, 2);
    r.path[1] = "/nonexistent/model.bin";
    steno_error e;
    assert_int_equal(spool_open(&r.spool, NULL, 1000, &e), STENO_OK);
    assert_int_equal(engines_open(&r.es, &r.p, r.spool, &e), STENO_EIO);
    assert_non_null(strstr(e.text, "/nonexistent/model.bin"));
    assert_int_equal(r.n_opened, r.n_closed);
    spool_close(r.spool);
}

/* ---- language models ---- */

struct answer {
    struct lm_work w;
    int32_t ids[40];
    const char *const *texts;
    int n_texts, n_tokens, stop_at, is_over;
    struct lm_made made;
    float first[64];
    int n_vectors, width;
    struct api_error error;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static int answer_prepare(struct lm_work *w, const steno_model *m, struct api_error *e)
{
    struct answer *x = w->user;
    (void)m, (void)e;
    w->ids = x->ids;
    w->n_ids = 40;
    w->texts = x->texts;
    w->n_texts = x->n_texts;
    w->generate.max_tokens = 20;
    w->generate.ignore_eos = 1;
    return API_OK;
}

static int answer_token(struct lm_work *w, const struct steno_token *tok, const char *text, size_t n)
{
    struct answer *x = w->user;
    (void)text, (void)n;
    if (!tok) return 0; /* the rest of the text */
    return ++x->n_tokens == x->stop_at;
}

static void answer_output(struct lm_work *w)
{
    struct answer *x = w->user;
    steno_embedding v = { .size = sizeof v };
    if (!x->texts) {
        lm_made_of(&x->made, w->session, 20);
        return;
    }
    x->n_vectors = steno_embedding_count(w->session);
    for (int i = 0; i < x->n_vectors && i < 4; i++) {
        assert_int_equal(steno_embedding_get(w->session, i, &v), STENO_OK);
        x->first[i] = v.vector[0];
        x->width = v.n;
    }
}

static void answer_ended(struct lm_work *w, const struct api_error *e)
{
    struct answer *x = w->user;
    pthread_mutex_lock(&x->lock);
    x->error = *e;
    x->is_over++;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static void answer_go(struct answer *x, struct engine *g, int seed, const char *const *texts, int n_texts)
{
    struct api_error e = { 0 };
    *x = (struct answer){ .texts = texts, .n_texts = n_texts };
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    lm_ids(x->ids, 40, (uint32_t)seed);
    x->w = (struct lm_work){ .user = x, .engine = g, .client = "c", .prepare = answer_prepare, .token = answer_token,
                             .output = answer_output, .ended = answer_ended };
    if (lm_work_submit(&x->w, &e)) fail_msg("%s", e.message);
}

static void answer_wait(struct answer *x, enum api_code code)
{
    pthread_mutex_lock(&x->lock);
    while (!x->is_over) pthread_cond_wait(&x->changed, &x->lock);
    pthread_mutex_unlock(&x->lock);
    if (x->error.code != code) fail_msg("%s: %s", api_code_name(x->error.code), x->error.message);
    assert_int_equal(x->is_over, 1);
}

/* A name that stands for the default means the first model that can do the work. */
static void expect_models_for_work(struct engines *es, const struct engine *lm, const struct engine *vectors, const struct engine *audio)
{
    struct api_error e = { 0 };
    assert_ptr_equal(engines_for(es, "", ENGINE_GENERATES, &e), lm);
    assert_ptr_equal(engines_for(es, NULL, ENGINE_TRANSCRIBES, &e), audio); /* the default does not transcribe */
    assert_ptr_equal(engines_for(es, "gpt-4o-transcribe", ENGINE_TRANSCRIBES, &e), audio);
    assert_ptr_equal(engines_for(es, engine_id(vectors), ENGINE_EMBEDS, &e), vectors);
    assert_int_equal(e.code, API_OK);
    assert_null(engines_for(es, engine_id(vectors), ENGINE_TRANSCRIBES, &e));
    assert_int_equal(e.code, API_invalid_value);
    assert_non_null(strstr(e.message, "does not transcribe"));
}

static void test_texts_and_vectors_of_language_models(void **state)
{
    (void)state;
    enum { N = 8 };
    static struct answer x[N], v[3], gone;
    static struct lm_made alone;
    static char const *const texts[] = { "the first text", "another one", "ab" };
    struct folder bert = bert_folder();
    struct rig r;
    rig_init(&r, 3);
    r.path[0] = small_lm;
    r.path[1] = bert.path;
    r.text_ctx = 256;
    rig_open(&r);
    struct engine *lm = engines_at(r.es, 0), *vectors = engines_at(r.es, 1), *audio = engines_at(r.es, 2);
    assert_int_equal(engine_calls(lm), ENGINE_GENERATES | ENGINE_EMBEDS);
    assert_int_equal(engine_calls(vectors), ENGINE_EMBEDS);
    expect_models_for_work(r.es, lm, vectors, audio);
    for (int i = 0; i < N; i++) answer_go(&x[i], lm, i, NULL, 0);
    answer_go(&gone, lm, 9, NULL, 0);
    lm_work_cancel(&gone.w);
    answer_go(&v[0], vectors, 0, texts, 3);
    answer_go(&v[1], lm, 0, texts, 3);
    expect_text(audio);
    steno_model *m = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 256);
    steno_session *s = lm_session(m, NULL, NULL);
    for (int i = 0; i < N; i++) {
        answer_wait(&x[i], API_OK);
        steno_generate_params p;
        steno_generate_params_init(&p);
        p.max_tokens = 20;
        p.ignore_eos = 1;
        lm_made_of(&alone, s, steno_generate(s, x[i].ids, 40, &p));
        if (lm_differ(&alone, &x[i].made)) fail_msg("text %d: '%s', alone '%s'", i, x[i].made.text, alone.text);
        assert_int_equal(x[i].n_tokens, 20);
    }
    pthread_mutex_lock(&gone.lock);
    while (!gone.is_over) pthread_cond_wait(&gone.changed, &gone.lock);
    pthread_mutex_unlock(&gone.lock);
    assert_true(gone.error.code == API_cancelled || gone.error.code == API_OK);
    for (int i = 0; i < 2; i++) {
        answer_wait(&v[i], API_OK);
        assert_int_equal(v[i].n_vectors, 3);
        assert_true(v[i].width > 0 && v[i].first[0] != v[i].first[1]);
    }
    assert_int_equal(v[0].width, BERT_D);
    assert_int_equal(steno_embed(s, texts, 3, NULL), STENO_OK);
    steno_embedding of = { .size = sizeof of };
    assert_int_equal(steno_embedding_get(s, 1, &of), STENO_OK);
    assert_memory_equal(&of.vector[0], &v[1].first[1], sizeof(float));
    answer_go(&v[2], audio, 0, texts, 1);
    answer_wait(&v[2], API_invalid_value);
    answer_go(&v[2], vectors, 0, NULL, 0);
    answer_wait(&v[2], API_invalid_value);
    expect_failure(lm, API_invalid_value, "does not transcribe");
    steno_session_close(s);
    steno_model_close(m);
    rig_close(&r);
    folder_remove(&bert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_models),
        cmocka_unit_test(test_languages_of_a_request_are_those_of_its_model),
        cmocka_unit_test(test_an_idle_model_is_closed_and_the_next_request_opens_it),
        cmocka_unit_test(test_the_least_used_model_gives_its_memory),
        cmocka_unit_test(test_a_model_that_cannot_be_opened_again_fails_alone),
        cmocka_unit_test(test_texts_and_vectors_of_language_models),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
