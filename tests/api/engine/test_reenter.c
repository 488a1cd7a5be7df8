/* steno tests: calls from callbacks. SPDX-License-Identifier: MIT
 *
 * Every callback of every kind of call, in every family, calls back all there is. What would change the call at work is refused, what only
 * reads finds results whole, other sessions work, on the same team too; and the call goes on as if nothing had been. */
#include "parakeet_model.h"
#include "small_pair.h"

enum callback { READ, REWIND, SEGMENT, PROGRESS, WINDOW, ABORT, ATTEMPT, FILTER, FRAME, SPAN, DONE, CALLBACKS };

static const char *const callback_name[CALLBACKS] = { "read", "rewind", "on_segment", "on_progress", "on_window", "should_abort",
                                                      "on_attempt", "logits_filter", "on_frame", "on_span", "on_done" };

enum { LANES = 2, TRIES = 4, HEARD = 3 * RATE / 2, TWICE = 12 * RATE /* more than a session keeps: it is read twice */ };
static int const tried[TRIES] = { 0, 1, 5, 23 }; /* which of a callback's calls call back */

/* One call at work, and what its callbacks may lay hands on. */
struct scene {
    const steno_model *m;
    steno_team *team;
    steno_batch *b;              /* NULL: the session has one of its own */
    steno_session *self, *other; /* other: in the same batch, NULL without one */
    steno_session *stranger;     /* of the same team, in a batch of its own */
    uint64_t strange;            /* digest of the stranger's audio */
    enum callback when;
    int calls[CALLBACKS], calling;
    struct tap tap;
    const char *kind;
};

static struct audio noisy, talk; /* [HEARD], for the CTC and VAD models; [TWICE] at least */

/* ---- what may be called ---------------------------------------------------------------------------------------------------------- */

enum change {
    TRANSCRIBE, NOTHING, SOURCE, ALIGN, DETECT, FIND, ENCODE, GENERATE, CONTINUE, MEL, TOTAL, SELECT, SELECT_OTHER, RUN, ADD, CHANGES
};

static const char *const change_name[CHANGES] = {
    "steno_transcribe", "steno_transcribe of nothing", "steno_transcribe_source", "steno_align", "steno_detect_language",
    "steno_find_speech", "steno_encode", "steno_generate", "steno_generate_continue", "steno_bench_phase mel", "steno_bench_phase total",
    "steno_result_select", "steno_result_select of the other", "steno_batch_run", "steno_batch_add",
};

static int64_t change(const struct scene *x, steno_session *s, enum change c)
{
    static const int32_t ids[] = { 1, 2 };
    struct tap t = { .pcm = demo.pcm, .n = RATE / 2 };
    const steno_source src = tap_source(&t);
    switch (c) {
    case TRANSCRIBE: return steno_transcribe(s, demo.pcm, RATE / 2, NULL);
    case NOTHING: return steno_transcribe(s, NULL, 7, NULL);
    case SOURCE: return steno_transcribe_source(s, &src, NULL);
    case ALIGN: return steno_align(s, &src, "a b", NULL);
    case DETECT: return steno_detect_language(s, &src, NULL, 0);
    case FIND: return steno_find_speech(s, &src, NULL);
    case ENCODE: return steno_encode(s, demo.pcm, RATE / 2);
    case GENERATE: return steno_generate(s, ids, 2, NULL);
    case CONTINUE: return steno_generate_continue(s, ids, 2, NULL);
    case MEL: return steno_bench_phase(s, "mel", 1);
    case TOTAL: return steno_bench_phase(s, "total", 2);
    case SELECT: return steno_result_select(s, STENO_TRANSCRIBE);
    case SELECT_OTHER: return steno_result_select(s, STENO_TRANSLATE);
    case RUN: return steno_batch_run(x->b);
    case ADD: return steno_batch_add(x->b, s, &src, NULL);
    case CHANGES: break;
    }
    return 0;
}

/* Results as they are now: every byte that is offered can be read. */
static uint64_t read_all(const steno_session *s)
{
    uint64_t h = result_digest(s) ^ spans_digest(s) ^ strlen(steno_language(s)) ^ (uint64_t)steno_duration_ms(s);
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        h += strlen(g.text);
    }
    int32_t rows = 0, width = 0;
    const float *f = steno_audio_features(s, &rows, &width);
    for (int64_t i = 0; f && i < (int64_t)rows * width; i++) h += f[i] > 0;
    int n;
    const int32_t *ids = steno_generated(s, &n);
    for (int i = 0; i < n; i++) h += (uint64_t)ids[i];
    for (int i = -1; i < 101; i++) h += steno_language_prob(s, i) > 0;
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), 0);
    const char *label;
    int64_t ns, calls;
    for (int i = 0; steno_profile_get(s, i, &label, &ns, &calls) == STENO_OK; i++) h += strlen(label);
    return h + strlen(steno_last_error(s));
}

static void refuse_all(struct scene *x, steno_session *s)
{
    for (int c = 0; c < CHANGES; c++) {
        if (x->when == DONE && (c == ADD || c == SELECT || (s == x->self && c == SELECT_OTHER))) continue; /* allowed there */
        if ((c == ADD || c == SELECT) && s == x->other) continue; /* and everywhere, see test_schedule.c: it has no request */
        const int64_t rc = change(x, s, (enum change)c);
        if (rc != STENO_EARG) fail_msg("%s: %s from %s gives %lld", x->kind, change_name[c], callback_name[x->when], (long long)rc);
        read_all(s);
    }
    assert_true(strlen(steno_last_error(s)) > 0);
}

static void call_back(struct scene *x)
{
    refuse_all(x, x->self);
    if (x->other) refuse_all(x, x->other);
    steno_timings_reset(x->self);
    steno_profile_enable(x->self, 1);
    steno_profile_enable(x->self, 0);
    steno_batch_close(x->b);
    if (x->when != DONE) steno_session_close(x->self);
    steno_session *visitor;
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = x->b;
    assert_int_equal(steno_session_open(&visitor, x->m, x->team, &sp, NULL), 0);
    steno_session_close(visitor);
    struct tap t = { .pcm = noisy.pcm, .n = RATE / 2 };
    const steno_source src = tap_source(&t);
    if (x->stranger) {
        assert_int_equal(steno_find_speech(x->stranger, &src, NULL), 0);
        assert_true(spans_digest(x->stranger) == x->strange);
    }
}

static void on(struct scene *x, enum callback c)
{
    if (x->calling) return;
    const int n = x->calls[c]++;
    for (int i = 0; i < TRIES && c == x->when; i++) {
        if (n != tried[i]) continue;
        x->calling = 1;
        call_back(x);
        x->calling = 0;
    }
}

/* ---- the callbacks --------------------------------------------------------------------------------------------------------------- */

static int64_t scene_read(void *user, float *pcm, int64_t n)
{
    struct scene *x = user;
    on(x, READ);
    return tap_read(&x->tap, pcm, n);
}

static int scene_rewind(void *user)
{
    struct scene *x = user;
    on(x, REWIND);
    return tap_rewind(&x->tap);
}

static void on_segment(void *user, const steno_segment *seg)
{
    const size_t len = strlen(seg->text);
    int64_t sum = 0;
    for (int i = 0; i < seg->n_tokens; i++) sum += seg->tokens[i];
    on(user, SEGMENT);
    assert_int_equal(strlen(seg->text), len); /* what was handed over stays as it was */
    for (int i = 0; i < seg->n_tokens; i++) sum -= seg->tokens[i];
    assert_int_equal(sum, 0);
}

static void on_progress(void *user, int64_t done, int64_t total) { (void)done, (void)total; on(user, PROGRESS); }
static int on_window(void *user, int64_t at) { (void)at; on(user, WINDOW); return 1; }
static int should_abort(void *user) { on(user, ABORT); return 0; }
static void on_attempt(void *user, const steno_attempt *a) { (void)a; on(user, ATTEMPT); }
static void on_frame(void *user, int64_t t, float p) { (void)t, (void)p; on(user, FRAME); }
static void on_span(void *user, const steno_span *span) { (void)span; on(user, SPAN); }

static void filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at, (void)logits, (void)tokens, (void)n;
    on(user, FILTER);
}

static void on_done(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    assert_int_equal(status, 0);
    if (s == x->self) on(x, DONE);
}

/* ---- the calls at work ----------------------------------------------------------------------------------------------------------- */

static steno_transcribe_params params_of(struct scene *x, int is_funasr)
{
    static double const clips[] = { 0, 0.5, 0.3, 1.2 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = x;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    p.on_window = on_window;
    p.should_abort = should_abort;
    if (strstr(x->kind, "align by clips")) p.on_window = NULL; /* it has none */
    if (is_funasr || strstr(x->kind, "align")) return p; /* nothing of what follows is for them */
    p.on_attempt = on_attempt;
    p.logits_filter = filter;
    p.keep_audio_features = 1;
    p.no_speech_threshold = (double)NAN;
    p.logprob_threshold = 0; /* every attempt fails: the ladder is climbed */
    p.temperature_increment_on_fallback = 0.5;
    p.without_timestamps = 1;
    p.sample_len = 6;
    if (strstr(x->kind, "words")) p.word_timestamps = 1;
    if (strstr(x->kind, "beams")) p.beam_size = LANES;
    if (strstr(x->kind, "both")) p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    if (strstr(x->kind, "clips")) {
        p.clip_timestamps = clips;
        p.n_clip_timestamps = 4;
        p.independent_clips = 1;
        p.condition_on_previous_text = 0;
    }
    return p;
}

static int work(struct scene *x)
{
    const steno_source src = { scene_read, scene_rewind, x };
    const int is_funasr = x->m != speaks_all;
    const steno_transcribe_params p = params_of(x, is_funasr);
    x->tap = (struct tap){ .pcm = is_funasr ? noisy.pcm : talk.pcm, .n = is_funasr ? HEARD : TWICE, .piece = 4000 };
    memset(x->calls, 0, sizeof x->calls);
    steno_vad_params v;
    steno_vad_params_init(&v);
    v.user = x;
    v.on_frame = on_frame;
    v.on_span = on_span;
    v.should_abort = should_abort;
    if (strstr(x->kind, "find")) return steno_find_speech(x->self, &src, &v);
    if (strstr(x->kind, "align")) return steno_align(x->self, &src, "one two three", &p);
    if (strstr(x->kind, "detect")) return steno_detect_language(x->self, &src, NULL, 0) < 0;
    if (!strstr(x->kind, "line")) return steno_transcribe_source(x->self, &src, &p);
    assert_int_equal(steno_batch_add(x->b, x->self, &src, &p), 0);
    return steno_batch_run(x->b);
}

static void scene_open(struct scene *x, const steno_model *m, steno_team *team, const steno_model *stranger)
{
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = LANES;
    x->m = m;
    x->team = team;
    if (strstr(x->kind, "batch")) {
        steno_batch_params bp;
        steno_batch_params_init(&bp);
        bp.max_windows = 2;
        bp.max_lanes = LANES;
        bp.user = x;
        bp.on_done = on_done;
        assert_int_equal(steno_batch_open(&x->b, m, team, &bp, NULL), 0);
        sp.batch = x->b;
        assert_int_equal(steno_session_open(&x->other, m, team, &sp, NULL), 0);
    }
    assert_int_equal(steno_session_open(&x->self, m, team, &sp, NULL), 0);
    if (!stranger) return;
    x->stranger = session_new(stranger, team, 1);
    struct tap t = { .pcm = noisy.pcm, .n = RATE / 2 };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_find_speech(x->stranger, &src, NULL), 0);
    x->strange = spans_digest(x->stranger);
}

static void scene_close(struct scene *x)
{
    steno_session_close(x->stranger);
    steno_session_close(x->self);
    steno_session_close(x->other);
    steno_batch_close(x->b);
}

/* Which callbacks there are in a kind of call. */
static unsigned callbacks_of(const char *kind)
{
    const unsigned heard = 1u << READ | 1u << PROGRESS | 1u << ABORT;
    if (strstr(kind, "find")) return 1u << READ | 1u << ABORT | 1u << FRAME | 1u << SPAN;
    if (strstr(kind, "detect")) return 1u << READ;
    if (strstr(kind, "align by clips")) return heard | 1u << SEGMENT;
    if (strstr(kind, "align")) return heard | 1u << REWIND;
    if (strstr(kind, "ctc")) return heard | 1u << SEGMENT | 1u << WINDOW;
    return heard | 1u << REWIND | 1u << SEGMENT | 1u << WINDOW | 1u << ATTEMPT | 1u << FILTER | (strstr(kind, "line") ? 1u << DONE : 0);
}

static void try_kind(const char *kind, const steno_model *m, steno_team *team, const steno_model *stranger)
{
    struct scene x = { .kind = kind, .when = CALLBACKS };
    scene_open(&x, m, team, stranger);
    if (work(&x)) fail_msg("%s: %s", kind, steno_last_error(x.self));
    const uint64_t want = read_all(x.self) - strlen(steno_last_error(x.self));
    for (int c = 0; c < CALLBACKS; c++) {
        if (!(callbacks_of(kind) >> c & 1)) continue;
        x.when = (enum callback)c;
        const int rc = work(&x);
        if (rc || !x.calls[c])
            fail_msg("%s: status %d, %d calls of %s: %s", kind, rc, x.calls[c], callback_name[c], steno_last_error(x.self));
        x.when = CALLBACKS;
        const uint64_t got = read_all(x.self) - strlen(steno_last_error(x.self));
        if (got != want) fail_msg("%s: another result after calls from %s", kind, callback_name[c]);
    }
    scene_close(&x);
}

static void test_calls_from_callbacks_are_refused_and_change_nothing(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "transcribe", "transcribe words", "transcribe beams", "transcribe both", "align", "detect",
        "line in a batch", "line of beams in a batch", "line of clips in a batch", "transcribe clips in a batch", "align in a batch",
    };
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    steno_model *vad = funasr_open(vad_folder, NULL), *ctc = funasr_open(ctc_folder, NULL), *tdt = funasr_open(pk_tdt_folder, NULL);
    steno_model *chunks = funasr_open(pk_stream_folder, NULL), *lm, *aligner;
    assert_int_equal(steno_model_open(&lm, "tests/data/qwen3_asr", NULL, NULL), 0);
    assert_int_equal(steno_model_open(&aligner, "tests/data/qwen3_aligner", NULL, NULL), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) try_kind(kinds[i], speaks_all, i % 2 ? team : NULL, vad);
    for (int i = 0; i < 2; i++) {
        try_kind("transcribe ctc", ctc, i ? team : NULL, vad);
        try_kind("transcribe ctc, but token by token", tdt, i ? team : NULL, vad);
        try_kind("transcribe ctc, but chunk by chunk", chunks, i ? team : NULL, vad);
        try_kind("transcribe ctc, but with a language model", lm, i ? team : NULL, vad);
        try_kind("transcribe ctc, but with a language model in a batch", lm, i ? team : NULL, vad);
        try_kind("align by clips", aligner, i ? team : NULL, vad);
        try_kind("find speech", vad, i ? team : NULL, vad);
    }
    steno_model_close(vad);
    steno_model_close(ctc);
    steno_model_close(tdt);
    steno_model_close(chunks);
    steno_model_close(lm);
    steno_model_close(aligner);
    steno_team_close(team);
}

/* ---- closing --------------------------------------------------------------------------------------------------------------------- */

struct owner { steno_model *m; steno_team *team; int closed; };

static void close_owned(void *user, const steno_segment *seg)
{
    struct owner *o = user;
    (void)seg;
    if (o->closed++) return;
    steno_model_close(o->m);
    steno_team_close(o->team);
}

static void test_a_session_keeps_its_model_until_it_is_closed(void **state)
{
    (void)state;
    struct owner o = { random_model(&small_dims, DT_F16, 3, NULL), NULL, 0 };
    assert_int_equal(steno_team_open(&o.team, 2, NULL), 0);
    steno_session *s = session_new(o.m, o.team, 1);
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.without_timestamps = 1;
    p.sample_len = 6;
    p.user = &o;
    p.on_segment = close_owned;
    assert_int_equal(steno_transcribe(s, demo.pcm, HEARD, &p), 0);
    assert_true(o.closed > 1);
    p.on_segment = NULL;
    assert_int_equal(steno_transcribe(s, demo.pcm, HEARD, &p), 0);
    steno_session_close(s);
    steno_batch *b; /* a batch with sessions waits for them */
    s = session_in_batch(&b, model, 2, 1);
    steno_batch_close(b);
    assert_int_equal(steno_transcribe(s, demo.pcm, HEARD, NULL), 0);
    steno_session_close(s);
}

struct closing { steno_session *s[4]; int n, kept; };

/* The first that is done closes all the others, at work and waiting, and one that another closes. */
static void close_all(void *user, steno_session *s, int status)
{
    struct closing *c = user;
    (void)status;
    for (int i = 0; i < 4; i++) {
        if (i == c->kept || !c->s[i]) continue;
        steno_session_close(c->s[i]);
        c->s[i] = NULL;
        c->n++;
    }
    (void)s;
}

static void test_on_done_may_close_all_sessions_of_its_batch(void **state)
{
    (void)state;
    for (int kept = 0; kept <= 4; kept++) { /* 4: none, but one that is transcribed directly */
        struct closing c = { .kept = kept };
        struct tap t[4];
        steno_batch_params bp;
        steno_session_params sp;
        steno_batch *b;
        steno_batch_params_init(&bp);
        steno_session_params_init(&sp);
        bp.max_windows = 2;
        bp.user = &c;
        bp.on_done = close_all;
        assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
        sp.batch = b;
        steno_transcribe_params p = params_new();
        p.sample_len = 6;
        for (int i = 0; i < 4; i++) {
            assert_int_equal(steno_session_open(&c.s[i], model, NULL, &sp, NULL), 0);
            t[i] = (struct tap){ .pcm = demo.pcm, .n = RATE + 1600 * i };
            const steno_source src = tap_source(&t[i]);
            assert_int_equal(steno_batch_add(b, c.s[i], &src, &p), 0);
        }
        if (kept < 4) {
            assert_int_equal(steno_batch_run(b), 0);
        } else {
            steno_session *direct;
            assert_int_equal(steno_session_open(&direct, model, NULL, &sp, NULL), 0);
            steno_session_close(c.s[3]); /* waiting, and no callback is called */
            c.s[3] = direct;             /* its caller looks at it again: closing it does nothing */
            assert_int_equal(steno_transcribe(direct, demo.pcm, HEARD, &p), 0);
            c.s[3] = direct;
        }
        assert_int_equal(c.n, kept < 4 ? 3 : 4);
        if (kept < 4) assert_int_equal(steno_transcribe(c.s[kept], demo.pcm, HEARD, &p), 0);
        steno_session_close(c.s[kept < 4 ? kept : 3]);
        steno_batch_close(b);
    }
}

/* ---- a session that waits -------------------------------------------------------------------------------------------------------- */

static void test_a_session_that_waits_is_left_alone_by_every_other_call(void **state)
{
    (void)state;
    struct scene x = { .kind = "waits in a batch", .when = CALLBACKS };
    scene_open(&x, speaks_all, NULL, NULL);
    struct tap t = { .pcm = demo.pcm, .n = HEARD };
    const steno_source src = tap_source(&t);
    steno_transcribe_params p = params_new();
    p.sample_len = 6;
    assert_int_equal(steno_transcribe_source(x.self, &src, &p), 0);
    const uint64_t want = result_digest(x.self);
    t.at = 0;
    assert_int_equal(steno_batch_add(x.b, x.self, &src, &p), 0);
    for (int c = 0; c < CHANGES; c++) {
        const int64_t rc = c == RUN ? STENO_EARG : change(&x, x.self, (enum change)c);
        if (rc != STENO_EARG) fail_msg("%s gives %lld", change_name[c], (long long)rc);
    }
    assert_int_equal(steno_batch_run(x.b), 0);
    assert_true(result_digest(x.self) == want);
    scene_close(&x);
}

static int all_open(void **state)
{
    noisy = bursts(HEARD);
    talk = demo_audio(0, 0, 4);
    return pair_open(state);
}

static int all_close(void **state)
{
    free(noisy.pcm);
    free(talk.pcm);
    return pair_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_from_callbacks_are_refused_and_change_nothing),
        cmocka_unit_test(test_a_session_keeps_its_model_until_it_is_closed),
        cmocka_unit_test(test_on_done_may_close_all_sessions_of_its_batch),
        cmocka_unit_test(test_a_session_that_waits_is_left_alone_by_every_other_call),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
