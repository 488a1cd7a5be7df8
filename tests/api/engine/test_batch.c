/* steno tests: batches. SPDX-License-Identifier: MIT
 *
 * What a request gives may not depend on what decodes beside it. Requests of random lengths and options are carried out alone, then in
 * batches of several sizes, orders, classes and numbers of threads, some of them while others are at work; everything that results say must
 * be the same to the bit. Sources have nothing now and then, and one request is canceled. */
#include "api/shipped.h"

enum { CALLS = 13, LANES = 3, MOST_SESSIONS = 16 };

static steno_model *model;
static struct audio audio; /* 3.7 s of digits in 5 s, ten times over */

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    audio = demo_audio(6000, 14000, 10);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    free(audio.pcm);
    return 0;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------- */

struct line;
static int somebody_comes(struct line *l);

struct reading { const float *x; int64_t n, at; struct line *line; };

static int64_t read_some(void *user, float *pcm, int64_t n)
{
    struct reading *r = user;
    if (r->line && somebody_comes(r->line)) return STENO_SOURCE_WAIT;
    const int64_t take = r->n - r->at < n ? r->n - r->at : n;
    if (take > 0) memcpy(pcm, r->x + r->at, (size_t)take * sizeof *pcm);
    r->at += take;
    return take;
}

static int rewind_it(void *user)
{
    ((struct reading *)user)->at = 0;
    return 0;
}

struct request {
    struct reading audio;
    steno_transcribe_params p;
    double clips[4];
    uint64_t want;
};

/* Times are not written, however probable they are. */
static void lift_times(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user, (void)at, (void)tokens;
    if (n == 2 || n == 3) logits[steno_token_id(model, STENO_TOKEN_TIMESTAMP) + 50] = 1e4f;
}

/* Any length, and one of the ways to decode. */
static void request_make(struct request *r, uint32_t *seed, int kind)
{
    memset(r, 0, sizeof *r);
    const int64_t from = next_random(seed) % 60000, most = kind == 3 || kind == 6 || kind > 9 ? audio.n - from : 4 * RATE;
    r->audio = (struct reading){ .x = audio.pcm + from, .n = kind == 9 ? 0 : most / 2 + next_random(seed) % (uint32_t)(most / 2) };
    r->p = params_new();
    r->p.seed = next_random(seed);
    switch (kind) {
    case 1: r->p.beam_size = LANES; break;
    case 2: r->p.temperature = 0.7, r->p.best_of = 2, r->p.temperature_increment_on_fallback = 0; break;
    case 3: r->p.chunk_ms = 6000, r->p.condition_on_previous_text = 0; break;
    case 4: r->p.without_timestamps = 1, r->p.initial_prompt = "one two"; break;
    case 5: r->p.task = STENO_TRANSCRIBE_AND_TRANSLATE; break;
    case 6: /* clips that know nothing of each other */
        r->clips[0] = 1, r->clips[1] = 4.5, r->clips[2] = 6, r->clips[3] = 12.25;
        r->p.clip_timestamps = r->clips, r->p.n_clip_timestamps = 4, r->p.independent_clips = 1, r->p.condition_on_previous_text = 0;
        break;
    case 7: r->p.language = "auto", r->p.guards = STENO_GUARDS_RETRY; break;
    case 8: r->p.logprob_threshold = -0.01, r->p.best_of = LANES; break; /* climbs the whole ladder */
    case 10: case 11: case 12: /* windows of 5 s whose begin is foreseen, but for the last kind, where a prompt may reach the second */
        r->p.without_timestamps = 1, r->p.condition_on_previous_text = 0, r->p.audio_ctx = 250;
        if (kind == 10) r->p.logits_filter = lift_times;
        if (kind == 10) break;
        r->clips[0] = 0, r->clips[1] = 12, r->clips[2] = 10, r->clips[3] = 24;
        r->p.clip_timestamps = r->clips, r->p.n_clip_timestamps = 4;
        r->p.carry_initial_prompt = kind == 11, r->p.initial_prompt = "one two";
        break;
    default: break;
    }
}

static steno_source source_of(struct request *r)
{
    r->audio.at = 0;
    return (steno_source){ read_some, rewind_it, &r->audio };
}

/* Transcript, and translation where there is one. */
static uint64_t digest_of(steno_session *s)
{
    const uint64_t h = result_digest(s);
    if (steno_result_select(s, STENO_TRANSCRIBE) || steno_result_select(s, STENO_TRANSLATE)) return h;
    return h * 31 + result_digest(s);
}

static void requests_make(struct request *r, uint32_t seed)
{
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = LANES;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, NULL), 0);
    for (int i = 0; i < CALLS; i++) {
        request_make(&r[i], &seed, i);
        const steno_source src = source_of(&r[i]);
        if (steno_transcribe_source(s, &src, &r[i].p)) fail_msg("alone, kind %d: %s", i, steno_last_error(s));
        r[i].want = digest_of(s);
        if (i != 9) assert_true(steno_segment_count(s) > 0);
    }
    steno_session_close(s);
}

/* ---- batches ----------------------------------------------------------------------------------------------------------------- */

struct line {
    steno_batch *b;
    struct request *r;
    steno_session *session[CALLS];
    int order[CALLS], next; /* of those that are queued already */
    uint32_t seed;
    int done, bad;
    int victim, canceled; /* the one that is canceled at some time, and whether it was */
};

/* The next one, of any class. */
static void add_next(struct line *l)
{
    const int k = l->order[l->next++];
    const steno_source src = source_of(&l->r[k]);
    steno_request_params rp;
    steno_request_params_init(&rp);
    l->r[k].audio.line = l;
    rp.transcribe = &l->r[k].p;
    rp.priority = (int32_t)(next_random(&l->seed) % 5) - 1;
    if (steno_batch_submit(l->b, l->session[k], &src, &rp)) fail_msg("kind %d: %s", k, steno_last_error(l->session[k]));
}

/* @return 1: and the source that was asked has nothing yet */
static int somebody_comes(struct line *l)
{
    if (l->next < CALLS && !(next_random(&l->seed) % 4)) add_next(l);
    if (!l->canceled && !(next_random(&l->seed) % 50)) {
        steno_cancel(l->session[l->victim]);
        l->canceled = 1;
    }
    return !(next_random(&l->seed) % 6);
}

static int call_of(const struct line *l, const steno_session *s)
{
    int i = 0;
    while (l->session[i] != s) i++;
    return i;
}

static void on_done(void *user, steno_session *s, int status)
{
    struct line *l = user;
    const int i = call_of(l, s);
    l->done++;
    l->r[i].audio.line = NULL;
    if (l->next < CALLS) add_next(l);
    if (i == l->victim && l->canceled && status == STENO_ECANCELED) return;
    if (status) print_error("kind %d: status %d: %s\n", i, status, steno_last_error(s));
    else if (digest_of(s) != l->r[i].want) print_error("kind %d differs: '%s'\n", i, steno_text(s));
    else return;
    l->bad++;
}

static void run_batch(struct request *r, int windows, int threads, uint32_t seed)
{
    struct line l = { .r = r, .seed = seed };
    steno_team *team;
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    bp.max_lanes = LANES;
    bp.user = &l;
    bp.on_done = on_done;
    bp.steps_between_encodes = (int32_t)(seed % 3 * 5);
    assert_int_equal(steno_team_open(&team, threads, NULL), 0);
    assert_int_equal(steno_batch_open(&l.b, model, team, &bp, NULL), 0);
    int *order = l.order;
    for (int i = 0; i < CALLS; i++) order[i] = i;
    for (int i = CALLS - 1; i > 0; i--) {
        const int k = (int)(next_random(&seed) % (uint32_t)(i + 1)), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = l.b;
    for (int i = 0; i < CALLS; i++) assert_int_equal(steno_session_open(&l.session[i], model, NULL, &sp, NULL), 0);
    for (int i = 0; i < CALLS / 2; i++) add_next(&l); /* the others come while these are at work */
    l.victim = (int)(next_random(&l.seed) % CALLS);
    int left;
    while ((left = steno_batch_run_as(l.b, STENO_RUN_POLL)) > 0) {}
    assert_int_equal(left, 0);
    if (l.bad) fail_msg("%d of %d calls differ in a batch of %d windows, %d threads", l.bad, CALLS, windows, threads);
    assert_int_equal(l.done, CALLS);
    for (int i = 0; i < CALLS; i++) steno_session_close(l.session[i]);
    steno_batch_close(l.b);
    steno_team_close(team);
}

static void test_results_do_not_depend_on_what_decodes_beside_them(void **state)
{
    (void)state;
    static const int windows[] = { 1, 2, 8, 32 };
    for (uint32_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++) {
        struct request r[CALLS];
        requests_make(r, seed);
        for (int i = 0; i < (SANITIZED ? 3 : 4); i++) run_batch(r, windows[i], 1 + (i & 1), seed + (uint32_t)i);
    }
}

/* ---- one after the other, and out of turn -------------------------------------------------------------------------------------- */

struct again { steno_batch *b; struct request *r; int left, bad; };

static void add_again(void *user, steno_session *s, int status)
{
    struct again *a = user;
    a->bad += status || digest_of(s) != a->r->want;
    if (!a->left--) return;
    const steno_source src = source_of(a->r);
    a->bad += steno_batch_add(a->b, s, &src, &a->r->p) != 0;
}

static void test_a_call_that_ends_may_be_followed_by_another_from_its_callback(void **state)
{
    (void)state;
    struct request r[CALLS];
    requests_make(r, 7);
    struct again a = { .r = &r[0], .left = 3 };
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = 2;
    bp.user = &a;
    bp.on_done = add_again;
    assert_int_equal(steno_batch_open(&a.b, model, NULL, &bp, NULL), 0);
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = a.b;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, NULL), 0);
    const steno_source src = source_of(&r[0]);
    assert_int_equal(steno_batch_add(a.b, s, &src, &r[0].p), 0);
    assert_int_equal(steno_batch_run(a.b), 0);
    assert_int_equal(a.left, -1);
    assert_int_equal(a.bad, 0);
    steno_session_close(s);
    steno_batch_close(a.b);
}

struct stop { steno_session *victim; int status[2], n; };

static void note_status(void *user, steno_session *s, int status)
{
    struct stop *t = user;
    t->status[s != t->victim] = status;
    t->n++;
}

static int cancel_late(void *user, int64_t at_ms)
{
    struct stop *t = user;
    if (at_ms > 0) steno_cancel(t->victim);
    return 1;
}

static void test_cancelling_one_call_leaves_the_others_alone(void **state)
{
    (void)state;
    struct request r[CALLS];
    requests_make(r, 3);
    struct stop t = { .n = 0 };
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = 2;
    bp.user = &t;
    bp.on_done = note_status;
    steno_batch *b;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = b;
    steno_session *s[2];
    for (int i = 0; i < 2; i++) assert_int_equal(steno_session_open(&s[i], model, NULL, &sp, NULL), 0);
    t.victim = s[0];
    struct request whole = r[0];
    whole.audio = (struct reading){ .x = audio.pcm, .n = audio.n };
    whole.p.user = &t;
    whole.p.on_window = cancel_late;
    const steno_source first = source_of(&whole), second = source_of(&r[4]);
    assert_int_equal(steno_batch_add(b, s[0], &first, &whole.p), 0);
    assert_int_equal(steno_batch_add(b, s[1], &second, &r[4].p), 0);
    assert_int_equal(steno_batch_run(b), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.status[0], STENO_ECANCELED);
    assert_true(steno_segment_count(s[0]) > 0); /* what was finished can be read */
    assert_int_equal(t.status[1], 0);
    assert_true(digest_of(s[1]) == r[4].want);
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

static void test_wrong_calls_are_refused_and_the_others_of_a_batch_are_not_changed(void **state)
{
    (void)state;
    steno_error e;
    steno_batch *b = NULL, *other = NULL;
    steno_batch_params bp;
    static const struct { int windows, lanes; const char *what; } bad[] = {
        { 0, 1, "max_windows" }, { 129, 1, "max_windows" }, { 1, 0, "max_lanes" }, { 1, 33, "max_lanes" }, { 43, 6, "256" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_batch_params_init(&bp);
        bp.max_windows = bad[i].windows;
        bp.max_lanes = bad[i].lanes;
        assert_int_equal(steno_batch_open(&b, model, NULL, &bp, &e), STENO_EARG);
        if (!strstr(e.text, bad[i].what)) fail_msg("'%s' does not name %s", e.text, bad[i].what);
        assert_int_equal(steno_batch_memory(model, NULL, &bp), STENO_EARG);
    }
    assert_int_equal(steno_batch_open(&b, model, NULL, NULL, &e), 0);
    assert_int_equal(steno_batch_open(&other, model, NULL, NULL, &e), 0);
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = b;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, &e), 0);
    struct request r[1];
    uint32_t seed = 5;
    request_make(r, &seed, 0);
    const steno_source src = source_of(r);
    assert_int_equal(steno_batch_add(other, s, &src, &r->p), STENO_EARG);
    steno_transcribe_params p = r->p;
    p.beam_size = 2; /* the batch has one lane a window */
    assert_int_equal(steno_batch_add(b, s, &src, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "max_lanes"));
    const steno_heard heard = { .size = sizeof heard, .samples = 100 };
    steno_request_params rp;
    steno_request_params_init(&rp);
    p = r->p;
    p.chunk_ms = 2000, p.condition_on_previous_text = 0;
    rp.transcribe = &p;
    rp.heard = &heard;
    assert_int_equal(steno_batch_submit(b, s, &src, &rp), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "chunk_ms"));
    assert_int_equal(steno_batch_add(b, s, &src, &r->p), 0);
    assert_int_equal(steno_batch_add(b, s, &src, &r->p), STENO_EARG);
    assert_int_equal(steno_transcribe(s, audio.pcm, 100, &r->p), STENO_EARG);
    assert_int_equal(steno_batch_run(b), 0);
    assert_true(steno_segment_count(s) > 0);
    assert_int_equal(steno_batch_add(b, s, &src, &r->p), 0);
    steno_session_close(s); /* out of line */
    assert_int_equal(steno_batch_run(b), 0);
    assert_int_equal(steno_batch_run(NULL), STENO_EARG);
    steno_batch_close(b);
    steno_batch_close(other);
    steno_batch_close(NULL);
}

static void test_memory_of_a_batch_is_known_before_it_is_taken_and_grows_with_it(void **state)
{
    (void)state;
    int64_t last = 0;
    for (int windows = 1; windows <= 32; windows *= 2) {
        steno_batch_params bp;
        steno_batch_params_init(&bp);
        bp.max_windows = windows;
        const int64_t n = steno_batch_memory(model, NULL, &bp);
        assert_true(n > last);
        last = n;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_do_not_depend_on_what_decodes_beside_them),
        cmocka_unit_test(test_a_call_that_ends_may_be_followed_by_another_from_its_callback),
        cmocka_unit_test(test_cancelling_one_call_leaves_the_others_alone),
        cmocka_unit_test(test_wrong_calls_are_refused_and_the_others_of_a_batch_are_not_changed),
        cmocka_unit_test(test_memory_of_a_batch_is_known_before_it_is_taken_and_grows_with_it),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
