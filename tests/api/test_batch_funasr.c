/* steno tests: batches of FunASR's models. SPDX-License-Identifier: MIT
 *
 * As test_batch.c for those whose clips share runs of an encoder, and those whose streams take turns in one state: what a request gives may
 * not depend on what is carried out beside it. Sources have nothing now and then, one fails in the middle, and one request is canceled. */
#include "base/cpu.h"
#include "funasr_model.h"
#include "internal.h"

enum { REQUESTS = 12, FAILS = 3 /* number of the request whose source fails */ };

static steno_model *ctc, *cif, *vad;
static struct audio audio;

static int open_all(void **state)
{
    (void)state;
    ctc = funasr_open(ctc_folder, NULL);
    cif = funasr_open(cif_folder, NULL);
    vad = funasr_open(vad_folder, NULL);
    audio = bursts(70 * RATE);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(ctc);
    steno_model_close(cif);
    steno_model_close(vad);
    free(audio.pcm);
    return 0;
}

struct scene;

struct asked {
    struct tap tap;
    steno_transcribe_params p;
    steno_vad_params v;
    uint64_t frames;       /* of what on_frame said */
    int64_t done, windows; /* of what on_progress said, and how often on_window was asked */
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
    if (m == ctc && i % 3 == 1) r->p.language = "en", r->p.ban_unknown_emotion = 1;
    if (m == ctc && i % 3 == 2) r->p.itn = 1;
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

/* ---- one run for several ------------------------------------------------------------------------------------------------------- */

static void *batch_new(const steno_model *m, int windows, steno_session **s, int n)
{
    steno_batch *b;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = windows;
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
    sp.batch = b;
    for (int i = 0; i < n; i++) assert_int_equal(steno_session_open(&s[i], m, NULL, &sp, NULL), 0);
    return b;
}

static void batch_free(steno_batch *b, steno_session **s, int n)
{
    for (int i = 0; i < n; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

/* Operations of the encoder that a session is told of. */
static int64_t encoder_calls(const steno_session *s)
{
    int64_t ns, calls = 0;
    const char *label;
    assert_int_equal(steno_profile_get(s, 0, &label, &ns, &calls), 0);
    return calls;
}

static void test_short_clips_share_runs_of_the_encoder(void **state)
{
    (void)state;
    enum { N = 8 };
    /* Rows of a run are at most 504, keys of a clip take blocks of 32, the head goes over all rows at once. Clips have 21, 54, 488 rows. */
    static const struct { int windows, seconds, runs; } scene[] = { { 1, 1, N * 2 }, { 4, 1, 2 * 2 }, { 8, 1, 2 }, { 8, 29, N * 2 },
                                                                    { 128, 3, 2 }, { 5, 3, 2 + 2 } };
    for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
        steno_session *s[N];
        struct tap tap[N];
        steno_batch *b = batch_new(ctc, scene[k].windows, s, N);
        int64_t encodes = 0;
        for (int i = 0; i < N; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = (int64_t)scene[k].seconds * RATE };
            const steno_source src = tap_source(&tap[i]);
            steno_profile_enable(s[i], 1);
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        steno_request_timings t = { .size = sizeof t };
        for (int i = 0; i < N; i++) {
            assert_int_equal(steno_request_timings_get(s[i], &t), 0);
            assert_true(t.n_windows == 1 && t.queued_us >= 0 && t.first_window_us >= t.queued_us && t.total_us >= t.first_window_us);
            assert_true(t.encode_us >= 0 && t.decode_us >= 0);
            encodes += encoder_calls(s[i]);
        }
        assert_int_equal(encodes, N);
        assert_int_equal(inside_runs(s[0]), scene[k].runs);
        batch_free(b, s, N);
    }
}

static void test_short_clips_share_all_phases_where_tokens_are_integrated(void **state)
{
    (void)state;
    enum { N = 8 };
    /* Frames of a run are at most 1000, of a clip 17 here; a clip has a few tokens, logits exist for 64 at a time. */
    for (int together = 0; together < 2; together++) {
        steno_session *s[N];
        struct tap tap[N];
        steno_batch *b = batch_new(cif, together ? N : 1, s, N);
        for (int i = 0; i < N; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = RATE };
            const steno_source src = tap_source(&tap[i]);
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        for (int i = 0; i < N; i++) assert_true(strlen(steno_text(s[i])) > 1);
        assert_in_range(inside_runs(s[0]), together ? 3 : 3 * N, together ? 4 : 3 * N);
        batch_free(b, s, N);
    }
}

/* ---- who goes first, who waits ----------------------------------------------------------------------------------------------------- */

struct turn { int n, id[64]; };
struct member { struct turn *t; int id; struct tap tap; int64_t stops_at; int status; };

static int64_t member_read(void *user, float *pcm, int64_t n)
{
    struct member *m = user;
    if (m->stops_at && m->tap.at >= m->stops_at) return STENO_SOURCE_WAIT;
    return tap_read(&m->tap, pcm, m->stops_at && m->stops_at - m->tap.at < n ? m->stops_at - m->tap.at : n);
}

static int member_window(void *user, int64_t at_ms)
{
    const struct member *m = user;
    (void)at_ms;
    assert_true(m->t->n < 64);
    m->t->id[m->t->n++] = m->id;
    return 1;
}

static void test_whoever_was_served_least_goes_first(void **state)
{
    (void)state;
    steno_session *s[3];
    struct turn t = { 0 };
    struct member m[3];
    steno_transcribe_params p[3];
    steno_batch *b = batch_new(ctc, 1, s, 3);
    for (int i = 0; i < 3; i++) {
        m[i] = (struct member){ .t = &t, .id = i, .tap = { .pcm = audio.pcm, .n = i ? RATE : 65 * RATE } };
        const steno_source src = { member_read, NULL, &m[i] };
        steno_request_params r;
        steno_request_params_init(&r);
        steno_transcribe_params_init(&p[i]);
        p[i].user = &m[i];
        p[i].on_window = member_window;
        r.transcribe = &p[i];
        r.priority = i == 2 ? STENO_PRIORITY_LIVE : STENO_PRIORITY_AUTO;
        assert_int_equal(steno_batch_submit(b, s[i], &src, &r), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    assert_true(t.n >= 5 && t.id[0] == 2 && t.id[1] == 0 && t.id[2] == 1);
    batch_free(b, s, 3);
}

static void test_a_source_that_waits_stops_nobody_and_gives_what_it_has(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        steno_session *s[2];
        struct turn t = { 0 };
        struct member m[2];
        steno_batch *b = batch_new(k ? vad : ctc, 2, s, 2);
        for (int i = 0; i < 2; i++) {
            m[i] = (struct member){ .t = &t, .id = i, .tap = { .pcm = audio.pcm, .n = 50 * RATE }, .stops_at = i ? 0 : 40 * RATE };
            const steno_source src = { member_read, NULL, &m[i] };
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run_as(b, STENO_RUN_POLL), 1);
        int n[2];
        for (int i = 0; i < 2; i++) n[i] = k ? steno_span_count(s[i]) : steno_segment_count(s[i]);
        assert_true(n[0] > 0 && n[0] < n[1]);
        m[0].stops_at = 0;
        assert_int_equal(steno_batch_run_as(b, STENO_RUN_POLL), 0);
        assert_true(result_digest(s[0]) == result_digest(s[1]) && spans_digest(s[0]) == spans_digest(s[1]));
        m[0] = (struct member){ .t = &t, .tap = { .pcm = audio.pcm, .n = RATE }, .stops_at = 100 };
        const steno_source src = { member_read, NULL, &m[0] };
        if (k) assert_int_equal(steno_find_speech(s[0], &src, NULL), STENO_ESOURCE); /* a call of its own does not wait */
        else assert_int_equal(steno_transcribe_source(s[0], &src, NULL), STENO_ESOURCE);
        batch_free(b, s, 2);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------------- */

static void assert_refused(steno_batch *b, steno_session *s, const steno_request_params *r, const char *what)
{
    struct tap t = { .pcm = audio.pcm, .n = RATE };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_batch_submit(b, s, &src, r), STENO_EARG);
    if (!strstr(steno_last_error(s), what)) fail_msg("'%s' does not say '%s'", steno_last_error(s), what);
    assert_int_equal(t.reads, 0);
    assert_int_equal(steno_batch_run(b), 0);
}

static void test_requests_that_a_model_cannot_serve_are_refused_by_name(void **state)
{
    (void)state;
    steno_transcribe_params p;
    steno_vad_params v;
    steno_transcribe_params_init(&p);
    steno_vad_params_init(&v);
    const steno_heard heard = { .size = sizeof heard, .samples = 100 };
    for (int k = 0; k < 2; k++) {
        steno_session *s;
        steno_request_params r;
        steno_batch *b = batch_new(k ? vad : ctc, 1, &s, 1);
        steno_request_params_init(&r);
        r.heard = &heard;
        assert_refused(b, s, &r, "heard");
        steno_request_params_init(&r);
        if (k) r.transcribe = &p;
        else r.find_speech = &v;
        assert_refused(b, s, &r, k ? "does not transcribe" : "does not find speech");
        steno_request_params_init(&r);
        p.best_of = 2;
        v.threshold = 3;
        if (k) r.find_speech = &v;
        else r.transcribe = &p;
        assert_refused(b, s, &r, k ? "threshold" : "best_of");
        p.best_of = 0;
        batch_free(b, s ? &s : NULL, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clips_of_several_requests_give_what_each_gives_alone),
        cmocka_unit_test(test_clips_whose_tokens_are_integrated_give_what_each_gives_alone),
        cmocka_unit_test(test_integrated_clips_give_the_same_at_every_level),
        cmocka_unit_test(test_streams_of_several_requests_give_what_each_gives_alone),
        cmocka_unit_test(test_short_clips_share_runs_of_the_encoder),
        cmocka_unit_test(test_short_clips_share_all_phases_where_tokens_are_integrated),
        cmocka_unit_test(test_whoever_was_served_least_goes_first),
        cmocka_unit_test(test_a_source_that_waits_stops_nobody_and_gives_what_it_has),
        cmocka_unit_test(test_requests_that_a_model_cannot_serve_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
