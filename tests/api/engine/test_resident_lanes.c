/* steno tests: what lanes of texts and streams hold is what is reported. SPDX-License-Identifier: MIT
 *
 * As test_resident.c: texts to the end of their context, whose layers look back a window or see all, and streams that look back as far as
 * any. */
#include "folder.h"
#include "internal.h"
#include "lm_folder.h"
#include "model/parts.h"
#include "noise_source.h"
#include "resident.h"

/* A prompt that takes all rows of a run; then each lane to the end of its context, behind another from which it could be gone on in other
 * words. */
static void measure_texts(const char *name, int windows, int kv_type)
{
    enum { PROMPT = 600, SHORT = 200, CTX = 1024 };
    char what[200];
    snprintf(what, sizeof what, "%s, %d texts, kv_type %d", name, windows, kv_type);
    steno_model *m;
    steno_batch *b;
    steno_error e;
    steno_model_params mp;
    steno_batch_params bp;
    steno_session_params sp;
    steno_generate_params p;
    steno_session *s[16];
    int32_t ids[PROMPT];
    steno_model_params_init(&mp);
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    steno_generate_params_init(&p);
    mp.kv_type = kv_type;
    bp.max_windows = windows;
    p.ignore_eos = 1;
    if (steno_model_open(&m, name, &mp, &e)) fail_msg("%s", e.text);
    const int64_t before = resident();
    if (steno_batch_open(&b, m, NULL, &bp, &e)) fail_msg("%s", e.text);
    sp.batch = b;
    const int64_t said = steno_batch_memory(m, NULL, &bp);
    for (int i = 0; i < windows; i++) {
        if (steno_session_open(&s[i], m, NULL, &sp, &e)) fail_msg("%s", e.text);
        for (int k = 0; k < PROMPT; k++) ids[k] = 10 + (k * 37 + i * 11) % 500;
        steno_request_params r;
        steno_request_params_init(&r);
        r.ids = ids;
        r.generate = &p;
        for (int k = 0; k < 2; k++) {
            r.n_ids = k ? SHORT : PROMPT;
            p.max_tokens = k ? 0 : 2;
            if (steno_batch_submit(b, s[i], NULL, &r) || steno_batch_run(b)) fail_msg("%s", steno_last_error(s[i]));
        }
        int made;
        (void)steno_generated(s[i], &made);
        assert_int_equal(made, CTX + 1 - SHORT);
    }
    for (int i = 0; i < windows; i++) steno_session_close(s[i]); /* with their results */
    assert_said(what, said, resident() - before);
    steno_batch_close(b);
    steno_model_close(m);
}

static void test_texts_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    static const int windows[] = { 1, 4, 16 };
    for (int i = 0; i < 3; i++)
        for (int type = STENO_KV_AUTO; type <= STENO_KV_Q8_0; type++) measure_texts("tests/data/lm/gemma3-q4_0.gguf", windows[i], type);
}

/* Texts of a model whose rows of logits are a megabyte each, all of which drafts fill: a draft model drafts as many ids as there may be.
 * It has what it takes itself reported with the session. */
static void measure_large_vocabulary(int windows)
{
    enum { VOCAB = 262144, PROMPT = 560, MADE = 70 }; /* a prompt that takes all rows of a run */
    char what[60];
    steno_model *m;
    steno_batch *b;
    steno_error e;
    steno_batch_params bp;
    steno_session_params sp;
    steno_generate_params p;
    steno_session *s[2];
    int32_t ids[PROMPT];
    const struct folder d = lm_folder_of(VOCAB);
    snprintf(what, sizeof what, "a vocabulary of %d, %d texts", VOCAB, windows);
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    steno_generate_params_init(&p);
    if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
    for (int k = 0; k < PROMPT; k++) ids[k] = 'a' + k % 7;
    bp.max_windows = windows;
    bp.draft_model = m;
    p.ignore_eos = 1;
    p.max_tokens = MADE;
    p.draft_max = 15;
    const int64_t before = resident(), said = steno_batch_memory(m, NULL, &bp);
    if (steno_batch_open(&b, m, NULL, &bp, &e)) fail_msg("%s", e.text);
    sp.batch = b;
    for (int i = 0; i < windows; i++) {
        steno_request_params r;
        steno_request_params_init(&r);
        r.ids = ids;
        r.n_ids = PROMPT;
        r.generate = &p;
        if (steno_session_open(&s[i], m, NULL, &sp, &e)) fail_msg("%s", e.text);
        if (steno_batch_submit(b, s[i], NULL, &r)) fail_msg("%s", steno_last_error(s[i]));
    }
    if (steno_batch_run(b)) fail_msg("%s", steno_last_error(s[0]));
    for (int i = 0; i < windows; i++) {
        steno_timings t = { .size = sizeof t };
        assert_int_equal(steno_timings_get(s[i], &t), 0);
        assert_true(t.n_drafted >= 15);
        steno_session_close(s[i]);
    }
    assert_said(what, said, resident() - before);
    steno_batch_close(b);
    steno_model_close(m);
    folder_remove(&d);
}

static void test_texts_of_a_large_vocabulary_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    measure_large_vocabulary(1);
    measure_large_vocabulary(2);
}

/* The streaming Paraformer of the collection: the weights are those of the one for whole clips. */
static struct folder online_folder(void)
{
    static const char *const from[] = { "paraformer-online/safetensors/config.json", "paraformer/safetensors/model.safetensors",
                                        "paraformer-online/pt/am.mvn", "paraformer-online/pt/tokens.json" };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        char path[700];
        snprintf(path, sizeof path, "%.400s/material/funasr/models/%s", shared_dir(), from[i]);
        if (symlink(path, folder_at(&d, strrchr(from[i], '/') + 1).path)) fail_msg("cannot link %s", path);
    }
    return d;
}

/* Bytes that the states of a stream grow by, where it looks back on that number of rows in place of the usual ones. */
static int64_t grown(const steno_model *m, uint32_t frames, uint32_t of_decoder)
{
    int64_t n = 0;
    for (int i = STATE_PAST; i <= STATE_CROSS_PAST; i++) {
        struct state_desc more = *inside_state_desc(m, i);
        const size_t usual = state_pool_sz(&more, KV_F32, 1);
        const uint32_t rows = i == STATE_PAST ? frames : of_decoder;
        if (rows > more.positions) more.positions = rows;
        n += (int64_t)(state_pool_sz(&more, KV_F32, 1) - usual);
    }
    return n;
}

/* A stream in chunks as large as any, which looks back as far as any may: what is reported, and what that takes more than looking back as
 * usual. */
static void measure_stream(int threads)
{
    enum { CHUNK = 200, MOST = 1024, SECONDS = 90 };
    char what[40];
    steno_model *m;
    steno_team *team;
    steno_session *s;
    steno_error e;
    steno_model_params p;
    steno_transcribe_params tp;
    const struct folder d = online_folder();
    snprintf(what, sizeof what, "a stream, %d threads", threads);
    steno_model_params_init(&p);
    steno_transcribe_params_init(&tp);
    assert_int_equal(steno_team_open(&team, threads, &e), 0);
    p.team = team;
    tp.chunk_size = "0,200,40";
    tp.encoder_chunk_look_back = -1;
    tp.decoder_chunk_look_back = MOST / CHUNK;
    if (steno_model_open(&m, d.path, &p, &e)) fail_msg("%s", e.text);
    const int64_t before = resident(), said = steno_session_memory(m, team, NULL) + grown(m, MOST, MOST / CHUNK * CHUNK);
    if (steno_session_open(&s, m, team, NULL, &e)) fail_msg("%s", e.text);
    int64_t took = 0;
    for (int i = 0; i < 10 && took + took / 20 < said; i++) {
        struct noise audio = { 1, SECONDS * RATE, 0 };
        const steno_source src = { noise_read, noise_rewind, &audio };
        if (steno_transcribe_source(s, &src, &tp)) fail_msg("%s: %s", what, steno_last_error(s));
        took = resident() - before;
    }
    assert_said(what, said, took);
    steno_session_close(s);
    steno_model_close(m);
    steno_team_close(team);
    folder_remove(&d);
}

static void test_streams_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    if (!getenv("STENO_SHARED")) skip();
    for (int threads = 1; threads <= 3; threads++) measure_stream(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_take_what_is_reported),
        cmocka_unit_test(test_texts_of_a_large_vocabulary_take_what_is_reported),
        cmocka_unit_test(test_streams_take_what_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
