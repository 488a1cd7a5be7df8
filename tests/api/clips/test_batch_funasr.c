/* steno tests: batches of models whose clips share runs. SPDX-License-Identifier: MIT
 *
 * As test_batch.c for those whose clips share runs of an encoder, and those whose streams share them or take turns: what a request gives
 * may not depend on what is carried out beside it. Sources have nothing now and then, one fails in the middle, and one request is
 * canceled. */
#include "base/cpu.h"
#include "funasr_families.h"
#include "parakeet_model.h"

enum { REQUESTS = 12, FAILS = 3 /* number of the request whose source fails */ };

struct scene;
static steno_model *chunks; /* a streaming transducer */

struct asked {
    struct tap tap;
    steno_transcribe_params p;
    steno_vad_params v;
    uint64_t frames;       /* digest of the frames from on_frame */
    int64_t done, windows; /* the last from on_progress; the number of calls of on_window */
    struct scene *x;       /* NULL: alone */
    steno_session *s;
    int status, want_status;
    uint64_t want;
};

struct scene {
    const steno_model *m;
    steno_batch *b;
    struct asked r[REQUESTS];
    int order[REQUESTS], next, ended, bad, victim, canceled;
    uint32_t seed;
};

static uint32_t chance(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* ---- requests ---- */

static int somebody_comes(struct scene *x);

static int64_t request_read(void *user, float *pcm, int64_t n)
{
    struct asked *r = user;
    if (r->x && somebody_comes(r->x)) return STENO_SOURCE_WAIT;
    return tap_read(&r->tap, pcm, n);
}

static void on_frame(void *user, int64_t t_ms, float p)
{
    struct asked *r = user;
    uint32_t bits;
    memcpy(&bits, &p, sizeof bits);
    r->frames = (r->frames ^ bits ^ (uint64_t)t_ms << 32) * 1099511628211u;
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct asked *r = user;
    (void)total_ms;
    if (done_ms < r->done) r->status = 1;
    r->done = done_ms;
}

static int on_window(void *user, int64_t at_ms)
{
    struct asked *r = user;
    (void)at_ms;
    r->windows++;
    return 1;
}

/* Any length, from nothing to more than two clips; most are short. */
static void request_make(struct asked *r, const steno_model *m, int i, uint32_t *seed)
{
    static const int64_t most[] = { 3 * RATE, RATE / 2, 10 * RATE, 65 * RATE };
    *r = (struct asked){ .tap = { .pcm = audio.pcm + chance(seed, 4 * RATE), .n = chance(seed, (uint32_t)most[chance(seed, 4)]) } };
    r->tap.piece = chance(seed, 2) ? 0 : 1 + chance(seed, 5000);
    if (i == 1) r->tap.n = 0;
    if (i == 2) r->tap.n = 66 * RATE;
    if (i == FAILS) r->tap.n = 45 * RATE, r->tap.fail_at = 40 * RATE;
    steno_transcribe_params_init(&r->p);
    steno_vad_params_init(&r->v);
    r->p.user = r->v.user = r;
    r->p.on_progress = on_progress;
    r->p.on_window = on_window;
    r->v.on_frame = on_frame;
    if (i % 3 == 1) r->p.word_timestamps = 1, r->v.max_end_silence_ms = 500;
    if (i % 3 == 2) r->p.offset_ms = 700, r->p.duration_ms = 30000, r->v.threshold = 0.1;
    if (steno_serves(m, STENO_CALL_TRANSCRIBE, "repetition_penalty")) r->p.word_timestamps = 0, r->p.sample_len = 1 + i;
    if (m == chunks && i % 4 < 2) r->p.lookahead = i % 4;
    if (m == chunks && i % 3 == 1) r->p.language = "de";
    if (m == chunks) r->p.on_window = NULL; /* called for each run */
    if (m == ctc && i % 3 == 1) r->p.language = "en", r->p.ban_unknown_emotion = 1;
    if (m == ctc && i % 3 == 2) r->p.itn = 1;
    if (m == live && i % 4 == 1) r->p.chunk_size = "0,8,4";
    if (m == live && i % 4 == 2) r->p.chunk_size = "5,10,5", r->p.encoder_chunk_look_back = -1, r->p.decoder_chunk_look_back = 3;
    if (m == live && i % 4 == 3) r->p.chunk_size = "10,90,40", r->p.encoder_chunk_look_back = 1, r->p.decoder_chunk_look_back = 0;
}

static uint64_t digest_of(const struct asked *r, const steno_session *s)
{
    uint64_t h = spans_digest(s) * 31 + result_digest(s);
    for (const char *p = steno_language(s); *p; p++) h = h * 31 + (uint8_t)*p;
    return ((h * 31 + r->frames) * 31 + (uint64_t)steno_duration_ms(s)) * 31 + (uint64_t)r->windows;
}

static void request_alone(struct asked *r, const steno_model *m)
{
    const steno_source src = { request_read, NULL, r };
    steno_session *s = session_new(m, NULL, 1);
    r->want_status = m == vad ? steno_find_speech(s, &src, &r->v) : steno_transcribe_source(s, &src, &r->p);
    r->want = digest_of(r, s);
    steno_session_close(s);
}

/* ---- together ---- */

static void submit(struct asked *r)
{
    const steno_source src = { request_read, NULL, r };
    steno_request_params p;
    steno_request_params_init(&p);
    r->tap.at = r->done = r->windows = 0;
    r->frames = 0;
    p.priority = (int32_t)chance(&r->x->seed, 5) - 1;
    if (r->x->m == vad) p.find_speech = &r->v;
    else p.transcribe = &r->p;
    if (steno_batch_submit(r->x->b, r->s, &src, &p)) fail_msg("%s", steno_last_error(r->s));
}

/* @return 1: and the source that was asked has nothing yet */
static int somebody_comes(struct scene *x)
{
    if (x->next < REQUESTS && !chance(&x->seed, 6)) submit(&x->r[x->order[x->next++]]);
    if (!x->canceled && !chance(&x->seed, 40)) {
        steno_cancel(x->r[x->victim].s);
        x->canceled = 1;
    }
    return !chance(&x->seed, 6);
}

static void on_done(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    int i = 0;
    while (x->r[i].s != s) i++;
    const struct asked *r = &x->r[i];
    x->ended++;
    if (x->next < REQUESTS) submit(&x->r[x->order[x->next++]]);
    if (i == x->victim && status == STENO_ECANCELED) return;
    if (status == r->want_status && x->m == chunks && i == FAILS) return; /* rows that are in no run yet are lost */
    if (status == r->want_status && !r->status && digest_of(r, s) == r->want) return;
    print_error("request %d: status %d, want %d (%s)\n", i, status, r->want_status, steno_last_error(s));
    x->bad++;
}

static void run_together(struct scene *x, int windows, int threads)
{
    steno_team *team;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = windows;
    bp.max_lanes = 3; /* as many as a model of this kind has: one */
    bp.user = x;
    bp.on_done = on_done;
    assert_int_equal(steno_team_open(&team, threads, NULL), 0);
    assert_int_equal(steno_batch_open(&x->b, x->m, team, &bp, NULL), 0);
    sp.batch = x->b;
    x->next = x->ended = x->bad = x->canceled = 0;
    x->victim = (int)chance(&x->seed, REQUESTS);
    for (int i = 0; i < REQUESTS; i++) {
        x->order[i] = i;
        x->r[i].x = x;
        assert_int_equal(steno_session_open(&x->r[i].s, x->m, NULL, &sp, NULL), 0);
    }
    for (int i = REQUESTS - 1; i > 0; i--) {
        const int k = (int)chance(&x->seed, (uint32_t)i + 1), t = x->order[i];
        x->order[i] = x->order[k];
        x->order[k] = t;
    }
    while (x->next < REQUESTS / 2) submit(&x->r[x->order[x->next++]]);
    int left;
    while ((left = steno_batch_run_as(x->b, STENO_RUN_POLL)) > 0) {}
    assert_int_equal(left, 0);
    if (x->bad) fail_msg("%d of %d requests differ in a batch of %d windows, %d threads", x->bad, REQUESTS, windows, threads);
    assert_int_equal(x->ended, REQUESTS);
    for (int i = 0; i < REQUESTS; i++) steno_session_close(x->r[i].s);
    steno_batch_close(x->b);
    steno_team_close(team);
}

static void check_mixture(const steno_model *m, uint32_t seed)
{
    static const int windows[] = { 1, 2, 4, 16 };
    static struct scene x;
    x = (struct scene){ .m = m, .seed = seed };
    for (int i = 0; i < REQUESTS; i++) {
        request_make(&x.r[i], m, i, &x.seed);
        request_alone(&x.r[i], m);
        assert_int_equal(x.r[i].want_status, i == FAILS ? STENO_ESOURCE : STENO_OK);
    }
    for (int i = 0; i < 4; i++) run_together(&x, windows[i], 1 + (i + (int)seed) % 2);
}

static void check_mixtures(const steno_model *m)
{
    for (uint32_t seed = 1; seed <= (SANITIZED ? 1 : 4); seed++) check_mixture(m, seed);
}

static void test_clips_of_several_requests_give_what_each_gives_alone(void **state)
{
    (void)state;
    check_mixtures(ctc);
}

/* Clips that are decoded token by token. */
static void test_clips_of_a_transducer_give_what_each_gives_alone(void **state)
{
    static struct folder (*const head[])(void) = { pk_ctc_folder, pk_tdt_folder, pk_rnnt_folder };
    (void)state;
    for (int i = 0; i < 3; i++) {
        steno_model *m = funasr_open(head[i], NULL);
        for (uint32_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++) check_mixture(m, 50 + seed);
        steno_model_close(m);
    }
}

static void test_clips_of_a_transducer_give_the_same_at_every_level(void **state)
{
    (void)state;
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!cpu_level_usable(level)) continue;
        steno_model *m = funasr_open(pk_tdt_folder, cpu_level_name(level));
        check_mixture(m, 60 + (uint32_t)level);
        steno_model_close(m);
    }
}

/* Clips whose rows attend within windows, and become part of prompts. */
static void test_clips_of_an_audio_language_model_give_what_each_gives_alone(void **state)
{
    (void)state;
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, "tests/data/qwen3_asr", NULL, &e)) fail_msg("%s", e.text);
    for (uint32_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++) check_mixture(m, 70 + seed);
    steno_model_close(m);
}

/* Frames of several clips beside each other, and tokens of several clips, each with times of words. */
static void test_clips_whose_tokens_are_integrated_give_what_each_gives_alone(void **state)
{
    (void)state;
    check_mixtures(cif);
}

/* At every level. */
static void test_integrated_clips_give_the_same_at_every_level(void **state)
{
    (void)state;
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!cpu_level_usable(level)) continue;
        steno_model *m = funasr_open(cif_folder, cpu_level_name(level));
        check_mixture(m, 100 + (uint32_t)level);
        steno_model_close(m);
    }
}

static void test_streams_of_several_requests_give_what_each_gives_alone(void **state)
{
    (void)state;
    check_mixtures(vad);
}

/* Chunks of a look-ahead of its own, and a language. A file's run has any number of chunks. */
static void test_chunks_of_a_transducer_give_what_each_gives_alone_at_every_level(void **state)
{
    (void)state;
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!cpu_level_usable(level)) continue;
        chunks = funasr_open(pk_stream_folder, cpu_level_name(level));
        check_mixture(chunks, 300 + (uint32_t)level);
        steno_model_close(chunks);
    }
    chunks = NULL;
}

/* Chunks of any size that look back on any number of others; of more streams than there are lanes, too. */
static void test_chunks_of_several_streams_give_what_each_gives_alone(void **state)
{
    (void)state;
    check_mixtures(live);
}

static void test_chunks_of_streams_give_the_same_at_every_level(void **state)
{
    (void)state;
    steno_model *const best = live;
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!cpu_level_usable(level)) continue;
        live = funasr_open(live_folder, cpu_level_name(level));
        check_mixture(live, 200 + (uint32_t)level);
        steno_model_close(live);
    }
    live = best;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clips_of_several_requests_give_what_each_gives_alone),
        cmocka_unit_test(test_clips_of_a_transducer_give_what_each_gives_alone),
        cmocka_unit_test(test_clips_of_a_transducer_give_the_same_at_every_level),
        cmocka_unit_test(test_clips_of_an_audio_language_model_give_what_each_gives_alone),
        cmocka_unit_test(test_clips_whose_tokens_are_integrated_give_what_each_gives_alone),
        cmocka_unit_test(test_integrated_clips_give_the_same_at_every_level),
        cmocka_unit_test(test_streams_of_several_requests_give_what_each_gives_alone),
        cmocka_unit_test(test_chunks_of_a_transducer_give_what_each_gives_alone_at_every_level),
        cmocka_unit_test(test_chunks_of_several_streams_give_what_each_gives_alone),
        cmocka_unit_test(test_chunks_of_streams_give_the_same_at_every_level),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
