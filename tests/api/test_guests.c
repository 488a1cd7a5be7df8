/* steno tests: models with a CTC head and voice-activity models through the public calls. SPDX-License-Identifier: MIT
 *
 * Small models of random weights: what is said means nothing, but it must not depend on how audio arrives, on threads or on calls that
 * were ended before. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "guest_model.h"

static steno_model *ctc, *vad;
static struct audio audio; /* 31 s */

static int open_all(void **state)
{
    (void)state;
    ctc = guest_open(ctc_folder, NULL);
    vad = guest_open(vad_folder, NULL);
    audio = bursts(31 * RATE);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(ctc);
    steno_model_close(vad);
    free(audio.pcm);
    return 0;
}

/* Whether a model was read from a file of this name. */
static int has_file(const steno_model *m, const char *name)
{
    const char *path;
    for (int i = 0; (path = steno_model_file(m, i)) != NULL; i++)
        if (strrchr(path, '/') && strcmp(strrchr(path, '/') + 1, name) == 0) return 1;
    return 0;
}

static void test_a_model_tells_the_files_it_was_read_from(void **state)
{
    (void)state;
    static const char *const files[] = { "model.safetensors", "config.json", "am.mvn", "tokens.json" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!has_file(ctc, files[i])) fail_msg("the model does not tell %s", files[i]);
    assert_true(has_file(vad, "am.mvn"));
    assert_false(has_file(vad, "tokens.json"));
    assert_null(steno_model_file(ctc, -1));
    assert_null(steno_model_file(ctc, 1000));
    assert_null(steno_model_file(NULL, 0));
}

static steno_transcribe_params ctc_params(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    return p;
}

static uint64_t ctc_run(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, pcm, n, p)) fail_msg("%s", steno_last_error(s));
    return result_digest(s);
}

static uint64_t vad_run(steno_session *s, const float *pcm, int64_t n, int64_t piece)
{
    struct tap t = { pcm, n, 0, piece, 0, 0 };
    const steno_source src = tap_source(&t);
    if (steno_find_speech(s, &src, NULL)) fail_msg("%s", steno_last_error(s));
    return spans_digest(s);
}

static uint64_t ids_digest(const steno_session *s)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        for (int j = 0; j < g.n_tokens; j++) h = (h ^ (uint64_t)g.tokens[j]) * 1099511628211u;
    }
    return h;
}

static steno_segment segment_at(const steno_session *s, int i)
{
    steno_segment g = { .size = sizeof g };
    if (steno_segment_get(s, i, &g)) fail_msg("there is no segment %d", i);
    return g;
}

/* ---- one result, however it comes about ---- */

static void test_results_do_not_depend_on_pieces_threads_or_level(void **state)
{
    (void)state;
    static const int64_t piece[] = { 0, 1, 399, 15999 };
    const char *level[LEVELS_MAX];
    uint64_t ids = 0, spans = 0;
    levels_for_models(level);
    for (int l = 0; level[l]; l++) {
        steno_model *c = guest_open(ctc_folder, level[l]), *v = guest_open(vad_folder, level[l]);
        uint64_t digest = 0;
        for (int k = 0; k < 4; k++) {
            steno_team *team = NULL;
            if (k) assert_int_equal(steno_team_open(&team, k, NULL), 0);
            steno_session *s = session_new(c, team, 1);
            struct tap t = { audio.pcm, audio.n, 0, piece[k], 0, 0 };
            const steno_source src = tap_source(&t);
            if (steno_transcribe_source(s, &src, NULL)) fail_msg("%s", steno_last_error(s));
            if (k && result_digest(s) != digest) fail_msg("%s: pieces of %lld give another text", level[l], (long long)piece[k]);
            digest = result_digest(s);
            if ((l || k) && ids_digest(s) != ids) fail_msg("%s: other ids than those of c", level[l]);
            ids = ids_digest(s);
            assert_true(steno_segment_count(s) == 2 && strlen(steno_text(s)) > 20);
            steno_session_close(s);
            s = session_new(v, team, 1);
            const uint64_t d = vad_run(s, audio.pcm, audio.n, piece[k]);
            if ((l || k) && d != spans) fail_msg("%s, pieces of %lld: other spans", level[l], (long long)piece[k]);
            spans = d;
            assert_true(steno_span_count(s) >= 5);
            steno_session_close(s);
            steno_team_close(team);
        }
        steno_model_close(c);
        steno_model_close(v);
    }
}

static void test_nothing_and_next_to_nothing_and_silence_are_heard(void **state)
{
    (void)state;
    static const int64_t n[] = { 0, 1, 399, 400, 401, 16000, 480000 };
    float *quiet = calloc(480000, sizeof *quiet);
    assert_non_null(quiet);
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        ctc_run(c, quiet, n[i], NULL);
        assert_int_equal(steno_duration_ms(c), n[i] / 16);
        assert_true(steno_segment_count(c) <= 1);
        if (n[i] < 400) assert_int_equal(steno_segment_count(c), 0);
        if (n[i] < 400) assert_string_equal(steno_text(c), "");
        vad_run(v, quiet, n[i], 0);
        assert_int_equal(steno_span_count(v), 0);
        assert_int_equal(steno_duration_ms(v), n[i] / 16);
        ctc_run(c, audio.pcm, n[i], NULL); /* and so is sound as short as that */
        vad_run(v, audio.pcm, n[i], 0);
    }
    steno_session_close(c);
    steno_session_close(v);
    free(quiet);
}

/* Segment i is what its stretch of the audio gives alone. */
static void expect_alone(const steno_session *s, steno_session *other, const float *pcm, int i)
{
    const steno_segment g = segment_at(s, i);
    assert_true(g.start * RATE == floor(g.start * RATE) && g.end > g.start); /* whole samples, or at least close to */
    assert_int_equal(g.t0_ms, (int64_t)(g.start * 1000));
    assert_int_equal(g.t1_ms, (int64_t)(g.end * 1000));
    const int64_t from = llround(g.start * RATE), to = llround(g.end * RATE);
    ctc_run(other, pcm + from, to - from, NULL);
    assert_int_equal(steno_segment_count(other), 1);
    const steno_segment h = segment_at(other, 0);
    assert_int_equal(h.n_tokens, g.n_tokens);
    assert_memory_equal(h.tokens, g.tokens, (size_t)g.n_tokens * sizeof *g.tokens);
}

static void test_a_clip_longer_than_the_model_knows_is_cut_where_it_is_quiet(void **state)
{
    (void)state;
    enum { SECONDS = 95, CLIP = 30 * RATE };
    static const struct { double from, to; } pause[] = { { 15, 16 }, { 24.2, 24.9 }, { 49.5, 50.5 }, { 70.1, 70.9 } };
    static const int64_t n[] = { CLIP - 1, CLIP, CLIP + 1, CLIP + 160, 2 * CLIP + 1, SECONDS * RATE };
    float *pcm = malloc(SECONDS * RATE * sizeof *pcm);
    assert_non_null(pcm);
    for (int64_t i = 0; i < SECONDS * RATE; i++) pcm[i] = 0.02f * audio.pcm[i % audio.n] + 0.2f * (float)sin((double)i * 0.1);
    for (size_t i = 0; i < sizeof pause / sizeof *pause; i++)
        memset(pcm + (int64_t)(pause[i].from * RATE), 0, (size_t)((pause[i].to - pause[i].from) * RATE) * sizeof *pcm);
    steno_session *s = session_new(ctc, NULL, 1), *other = session_new(ctc, NULL, 1);
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        ctc_run(s, pcm, n[k], NULL);
        const int count = steno_segment_count(s);
        assert_int_equal(count, n[k] <= CLIP ? 1 : n[k] == SECONDS * RATE ? 4 : n[k] > 2 * CLIP ? 3 : 2);
        assert_int_equal(steno_duration_ms(s), n[k] / 16);
        double at = 0;
        for (int i = 0; i < count; i++) {
            const steno_segment g = segment_at(s, i);
            assert_true(g.start == at); /* nothing is left out, nothing is heard twice */
            at = g.end;
            if (i + 1 < count && !(at > pause[i + 1].from && at < pause[i + 1].to)) fail_msg("%zu: cut %d is at %f", k, i, at);
            expect_alone(s, other, pcm, i);
        }
        assert_true(at == (double)n[k] / RATE);
    }
    steno_session_close(s);
    steno_session_close(other);
    free(pcm);
}

static void test_offset_and_duration_cut_what_is_heard(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    steno_transcribe_params p = ctc_params();
    ctc_run(s, audio.pcm + RATE, 2 * RATE, NULL);
    const uint64_t want = ids_digest(s);
    p.offset_ms = 1000;
    p.duration_ms = 2000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_true(ids_digest(s) == want);
    assert_int_equal(segment_at(s, 0).t0_ms, 1000);
    assert_int_equal(segment_at(s, 0).t1_ms, 3000);
    p.offset_ms = 31000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(steno_segment_count(s), 0);
    p.offset_ms = 30000;
    p.duration_ms = 1000000000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(segment_at(s, 0).t0_ms, 30000);
    steno_session_close(s);
}

/* ---- callbacks ---- */

struct order { char seen[32]; int n; int64_t done, total; int asked, after, wrong; int64_t frames, last_span; };

static int order_add(struct order *o, char c)
{
    if (o->n < (int)sizeof o->seen - 1) o->seen[o->n++] = c;
    return 1;
}

static int on_window(void *user, int64_t at_ms)
{
    struct order *o = user;
    o->wrong += at_ms != o->done;
    return order_add(o, 'w');
}

static void on_segment(void *user, const steno_segment *seg)
{
    ((struct order *)user)->wrong += seg->size != sizeof *seg || !*seg->text;
    order_add(user, 's');
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct order *o = user;
    o->wrong += done_ms < o->done;
    o->wrong += total_ms ? done_ms > total_ms : done_ms >= 31000; /* 0: not known yet */
    o->done = done_ms;
    o->total = total_ms;
    order_add(o, 'p');
}

static int abort_after(void *user)
{
    struct order *o = user;
    return ++o->asked > o->after;
}

static int end_second(void *user, int64_t at_ms)
{
    (void)user;
    return at_ms == 0;
}

static void test_callbacks_of_a_transcription_come_in_order(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    struct order o = { .after = 1 << 30 };
    steno_transcribe_params p = ctc_params();
    p.user = &o;
    p.on_window = on_window;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    p.should_abort = abort_after;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_string_equal(o.seen, "wspwsp");
    assert_int_equal(o.wrong, 0);
    assert_int_equal(o.done, 31000);
    assert_int_equal(o.total, 31000);
    assert_true(o.asked > 20);
    p.on_window = end_second;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(steno_segment_count(s), 1);
    steno_session_close(s);
}

static void on_frame(void *user, int64_t t_ms, float p_speech)
{
    struct order *o = user;
    o->wrong += t_ms != o->frames * 10 || !(p_speech >= 0 && p_speech <= 1);
    o->frames++;
}

static void on_span(void *user, const steno_span *span)
{
    struct order *o = user;
    o->wrong += span->size != sizeof *span || span->t0_ms < o->last_span || span->t1_ms <= span->t0_ms;
    o->wrong += span->t0_ms > o->frames * 10; /* speech that has not been heard yet */
    o->last_span = span->t1_ms;
    o->n++;
}

static steno_vad_params watched(struct order *o)
{
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.user = o;
    p.on_frame = on_frame;
    p.on_span = on_span;
    p.should_abort = abort_after;
    return p;
}

static void test_frames_and_spans_are_told_once_and_in_order(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    struct order o = { .after = 1 << 30 };
    const steno_vad_params p = watched(&o);
    struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_find_speech(s, &src, &p), 0);
    assert_int_equal(o.wrong, 0);
    assert_int_equal(o.n, steno_span_count(s));
    assert_int_equal(o.frames, (audio.n - 400) / 160 + 1);
    assert_true(o.asked > 20);
    steno_session_close(s);
}

static void test_samples_that_are_no_numbers_spoil_nothing_but_their_place(void **state)
{
    (void)state;
    const float strange[] = { NAN, INFINITY, -INFINITY, 3e38f, -1e30f };
    steno_session *s = session_new(vad, NULL, 1), *c = session_new(ctc, NULL, 1);
    const uint64_t want = vad_run(s, audio.pcm, audio.n, 0);
    float *pcm = malloc((size_t)audio.n * sizeof *pcm);
    assert_non_null(pcm);
    for (size_t k = 0; k < sizeof strange / sizeof *strange; k++) {
        memcpy(pcm, audio.pcm, (size_t)audio.n * sizeof *pcm);
        for (int64_t i = 0; i < audio.n; i += 16000) pcm[i] = strange[k];
        struct order o = { .after = 1 << 30 };
        const steno_vad_params p = watched(&o);
        struct tap t = { pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        assert_int_equal(steno_find_speech(s, &src, &p), 0);
        if (o.wrong) fail_msg("a sample of %g every second: %d frames or spans are out of range", (double)strange[k], o.wrong);
        for (int i = 0; i < steno_span_count(s); i++) {
            steno_span v = { .size = sizeof v };
            steno_span_get(s, i, &v);
            assert_true(v.t0_ms >= 0 && v.t0_ms < v.t1_ms && v.t1_ms <= 31000);
        }
        ctc_run(c, pcm, audio.n, NULL);
        for (int64_t i = 0; i < audio.n; i++) pcm[i] = strange[k];
        vad_run(s, pcm, audio.n, 0);
        ctc_run(c, pcm, audio.n, NULL);
    }
    assert_true(vad_run(s, audio.pcm, audio.n, 0) == want); /* nothing of it stays in the state */
    free(pcm);
    steno_session_close(s);
    steno_session_close(c);
}

/* ---- calls that end early ---- */

static void test_a_callback_ends_a_guest_wherever_it_is_asked(void **state)
{
    (void)state;
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    const uint64_t text = ctc_run(c, audio.pcm, audio.n, NULL), spans = vad_run(v, audio.pcm, audio.n, 0);
    struct order o = { .after = 1 << 30 };
    steno_transcribe_params p = ctc_params();
    p.user = &o;
    p.should_abort = abort_after;
    ctc_run(c, audio.pcm, audio.n, &p);
    const int all = o.asked;
    for (int i = 0; i < 20; i++) {
        o = (struct order){ .after = i < 5 ? i : all * (i - 4) / 17 };
        assert_int_equal(steno_transcribe(c, audio.pcm, audio.n, &p), STENO_ECANCELED);
        assert_int_equal(o.asked, o.after + 1);
        assert_non_null(strstr(steno_last_error(c), "cancel"));
        assert_true(steno_segment_count(c) <= 1);
    }
    assert_true(ctc_run(c, audio.pcm, audio.n, NULL) == text);
    o = (struct order){ .after = 1 << 30 };
    const steno_vad_params q = watched(&o);
    for (int i = 0, every = 0; i < 20; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        const int rc = steno_find_speech(v, &src, &q);
        if (!i) every = o.asked;
        assert_int_equal(rc, i ? STENO_ECANCELED : 0);
        if (i) assert_int_equal(o.asked, o.after + 1);
        assert_int_equal(steno_span_count(v), o.n);
        o = (struct order){ .after = every * i / 20 };
    }
    assert_true(vad_run(v, audio.pcm, audio.n, 0) == spans);
    steno_session_close(c);
    steno_session_close(v);
}

/* Audio without end: only a request to stop ends the call. */
struct endless { steno_session *s; _Atomic int reads; };

static int64_t endless_read(void *user, float *pcm, int64_t n)
{
    struct endless *e = user;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    atomic_fetch_add(&e->reads, 1);
    return n;
}

static void *cancel_later(void *arg)
{
    struct endless *e = arg;
    while (atomic_load(&e->reads) < 5) usleep(100);
    steno_cancel(e->s);
    return NULL;
}

static void test_another_thread_ends_a_guest_that_would_listen_for_ever(void **state)
{
    (void)state;
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    for (int k = 0; k < 2; k++) {
        steno_session *s = session_new(k ? vad : ctc, team, 1);
        struct endless e = { .s = s };
        const steno_source src = { endless_read, NULL, &e };
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, cancel_later, &e), 0);
        assert_int_equal(k ? steno_find_speech(s, &src, NULL) : steno_transcribe_source(s, &src, NULL), STENO_ECANCELED);
        pthread_join(id, NULL);
        assert_non_null(strstr(steno_last_error(s), "cancel"));
        if (k) vad_run(s, audio.pcm, audio.n, 0);
        else ctc_run(s, audio.pcm, audio.n, NULL);
        steno_session_close(s);
    }
    steno_team_close(team);
}

static int64_t too_much(void *user, float *pcm, int64_t n)
{
    (void)user;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    return n + 1;
}

static void test_a_source_that_fails_is_told_and_earlier_results_stay(void **state)
{
    (void)state;
    static const int64_t at[] = { 1, 16000, 16001, 490000 };
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    const steno_source liar = { too_much, NULL, NULL };
    for (int i = 0; i < 4; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 1000, at[i], 0 };
        const steno_source src = tap_source(&t);
        assert_int_equal(steno_transcribe_source(c, &src, NULL), STENO_ESOURCE);
        assert_non_null(strstr(steno_last_error(c), "source"));
        assert_int_equal(steno_segment_count(c), i == 3);
        t.at = 0;
        assert_int_equal(steno_find_speech(v, &src, NULL), STENO_ESOURCE);
        assert_true(i < 3 || steno_span_count(v) > 2);
    }
    assert_int_equal(steno_transcribe_source(c, &liar, NULL), STENO_ESOURCE);
    assert_int_equal(steno_find_speech(v, &liar, NULL), STENO_ESOURCE);
    ctc_run(c, audio.pcm, audio.n, NULL);
    vad_run(v, audio.pcm, audio.n, 0);
    assert_string_equal(steno_last_error(c), "");
    steno_session_close(c);
    steno_session_close(v);
}

/* ---- calls that a model does not serve ---- */

static void assert_declined(const steno_session *s, int64_t rc, const char *what)
{
    if (rc != STENO_EARG && rc != STENO_EUNSUPPORTED) fail_msg("%s: status %lld", what, (long long)rc);
    if (s && !*steno_last_error(s)) fail_msg("%s: no reason", what);
}

static void assert_no_results(const steno_session *s)
{
    int32_t n = 7;
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    steno_span v = { .size = sizeof v };
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_span_count(s), 0);
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, 0, &t), STENO_EARG);
    assert_int_equal(steno_span_get(s, 0, &v), STENO_EARG);
    assert_string_equal(steno_text(s), "");
    assert_string_equal(steno_language(s), "");
    assert_null(steno_audio_features(s, &n, &n));
    assert_true(steno_language_prob(s, 0) < 0);
}

static void test_guests_decline_what_only_whisper_does(void **state)
{
    (void)state;
    static const char *const phase[] = { "mel", "encode", "cross", "prompt", "decode", "beam5", "dance" };
    steno_model *const model[] = { ctc, vad };
    for (int k = 0; k < 2; k++) {
        const steno_model *m = model[k];
        steno_session *s = session_new(m, NULL, 32);
        struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        float probs[4], frames[80];
        int32_t id = 0;
        assert_no_results(s);
        assert_declined(s, steno_detect_language(s, &src, probs, 4), "detect_language");
        for (int i = 0; i < 7; i++) assert_declined(s, steno_bench_phase(s, phase[i], 1), phase[i]);
        assert_declined(NULL, steno_tokenize(m, "one", &id, 1), "tokenize");
        assert_declined(NULL, steno_mel(m, audio.pcm, RATE, frames, 1), "mel");
        assert_int_equal(steno_language_id(m, "en"), -1);
        assert_null(steno_model_language(m, 0));
        for (int w = STENO_TOKEN_END; w <= STENO_TOKEN_TIMESTAMP; w++) assert_int_equal(steno_token_id(m, (enum steno_special)w), -1);
        if (m == vad) {
            assert_declined(s, steno_transcribe(s, audio.pcm, RATE, NULL), "transcribe");
            assert_declined(s, steno_transcribe_source(s, &src, NULL), "transcribe_source");
            assert_declined(NULL, steno_detokenize(m, &id, 1, NULL, 0), "detokenize");
        } else {
            assert_declined(s, steno_find_speech(s, &src, NULL), "find_speech");
        }
        assert_no_results(s);
        steno_session_close(s);
    }
    steno_model *w = shipped_open();
    steno_session *s = session_new(w, NULL, 1);
    struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_declined(s, steno_find_speech(s, &src, NULL), "find_speech with a model that transcribes");
    assert_no_results(s);
    assert_int_equal(t.reads, 0);
    steno_session_close(s);
    steno_model_close(w);
}

static void test_a_request_that_the_model_cannot_meet_is_refused_by_name(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    steno_transcribe_params p = ctc_params();
    p.language = "klingon";
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "language");
    assert_non_null(strstr(steno_last_error(s), "klingon"));
    p = ctc_params();
    p.task = STENO_TRANSLATE;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "task");
    assert_non_null(strstr(steno_last_error(s), "task"));
    p = ctc_params();
    p.offset_ms = -1;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "offset_ms");
    assert_non_null(strstr(steno_last_error(s), "offset_ms"));
    static const int64_t far[] = { INT64_MAX, INT64_MIN, INT64_C(1000000000000001) };
    for (int i = 0; i < 6; i++) {
        p = ctc_params();
        *(i % 2 ? &p.offset_ms : &p.duration_ms) = far[i / 2];
        assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "offset_ms or duration_ms");
        assert_non_null(strstr(steno_last_error(s), i % 2 ? "offset_ms" : "duration_ms"));
    }
    p = ctc_params();
    p.keep_audio_features = 1;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "keep_audio_features");
    assert_non_null(strstr(steno_last_error(s), "keep_audio_features"));
    p = ctc_params();
    p.language = "en";
    p.itn = p.ban_unknown_emotion = 1;
    ctc_run(s, audio.pcm, RATE, &p);
    steno_session_close(s);
}

static void test_vad_parameters_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    static const struct { double threshold; int64_t end_silence, segment; uint32_t size; const char *what; } wrong[] = {
        { 1.1, -1, -1, 0, "threshold" },       { -1.1, -1, -1, 0, "threshold" },       { (double)INFINITY, -1, -1, 0, "threshold" },
        { 0.5, INT64_MAX, -1, 0, "silence" },  { 0.5, -1, 0, 0, "max_segment_ms" },    { 0.5, -1, INT64_MAX, 0, "max_segment_ms" },
        { 0.5, -2, -1, 0, "silence" },         { 0.5, INT64_MIN, -1, 0, "silence" },  { 0.5, -1, -2, 0, "max_segment_ms" },
        { 0.5, -1, -1, 4, "steno_vad_params" }, { 0.5, -1, -1, 31, "steno_vad_params" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t), none = { NULL, NULL, NULL };
        steno_vad_params p;
        steno_vad_params_init(&p);
        p.threshold = wrong[i].threshold;
        p.max_end_silence_ms = wrong[i].end_silence;
        p.max_segment_ms = wrong[i].segment;
        if (wrong[i].size) p.size = wrong[i].size;
        assert_declined(s, steno_find_speech(s, &src, &p), wrong[i].what);
        if (!strstr(steno_last_error(s), wrong[i].what)) fail_msg("want %s: %s", wrong[i].what, steno_last_error(s));
        assert_int_equal(t.reads, 0);
        assert_declined(s, steno_find_speech(s, &none, NULL), "no read function");
        assert_declined(s, steno_find_speech(s, NULL, NULL), "no source");
    }
    vad_run(s, audio.pcm, audio.n, 0);
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.threshold = -1; /* everything is speech */
    struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_find_speech(s, &src, &p), 0);
    steno_span v = { .size = sizeof v };
    assert_int_equal(steno_span_count(s), 1);
    steno_span_get(s, 0, &v);
    assert_true(v.t0_ms == 0 && v.t1_ms > 30900);
    steno_session_close(s);
}

/* The same call from programs built against the first header and against one to come; spans are filled as far as there is room. */
static void test_vad_structs_of_older_and_newer_callers_are_served(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    union { steno_vad_params p; uint8_t bytes[sizeof(steno_vad_params) + 16]; } u;
    union { steno_span v; uint8_t bytes[sizeof(steno_span) + 16]; } v;
    const uint64_t want = vad_run(s, audio.pcm, audio.n, 0);
    const uint32_t size[] = { offsetof(steno_vad_params, user), sizeof(steno_vad_params), sizeof u };
    for (int i = 0; i < 3; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        memset(&u, 0, sizeof u);
        steno_vad_params_init(&u.p);
        u.p.size = size[i];
        memset(u.bytes + size[i], 0xff, sizeof u - size[i]);
        assert_int_equal(steno_find_speech(s, &src, &u.p), 0);
        assert_true(spans_digest(s) == want);
    }
    memset(&v, 0xee, sizeof v);
    v.v.size = offsetof(steno_span, t1_ms);
    assert_int_equal(steno_span_get(s, 0, &v.v), 0);
    for (size_t i = offsetof(steno_span, t1_ms); i < sizeof v; i++) assert_int_equal(v.bytes[i], 0xee);
    v.v.size = sizeof v;
    assert_int_equal(steno_span_get(s, 0, &v.v), 0);
    assert_int_equal(v.v.size, sizeof v.v);
    v.v.size = 0;
    assert_int_equal(steno_span_get(s, 0, &v.v), STENO_EARG);
    assert_int_equal(steno_span_get(s, -1, &v.v), STENO_EARG);
    v.v.size = sizeof v.v;
    assert_int_equal(steno_span_get(s, steno_span_count(s), &v.v), STENO_EARG);
    assert_int_equal(steno_span_get(s, 0, NULL), STENO_EARG);
    steno_session_close(s);
}

static void test_alignment_heads_are_refused_where_nothing_attends_to_audio(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct folder d = i ? vad_folder() : ctc_folder();
        steno_model *m;
        steno_error e;
        steno_model_params p;
        steno_model_params_init(&p);
        p.alignment_heads = "0,0";
        assert_int_equal(steno_model_open(&m, d.path, &p, &e), STENO_EARG);
        assert_non_null(strstr(e.text, "alignment_heads"));
        p.alignment_heads = "";
        assert_int_equal(steno_model_open(&m, d.path, &p, &e), 0);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), 0);
        assert_null(info.alignment_heads);
        steno_model_close(m);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_tells_the_files_it_was_read_from),
        cmocka_unit_test(test_results_do_not_depend_on_pieces_threads_or_level),
        cmocka_unit_test(test_nothing_and_next_to_nothing_and_silence_are_heard),
        cmocka_unit_test(test_alignment_heads_are_refused_where_nothing_attends_to_audio),
        cmocka_unit_test(test_a_clip_longer_than_the_model_knows_is_cut_where_it_is_quiet),
        cmocka_unit_test(test_offset_and_duration_cut_what_is_heard),
        cmocka_unit_test(test_callbacks_of_a_transcription_come_in_order),
        cmocka_unit_test(test_frames_and_spans_are_told_once_and_in_order),
        cmocka_unit_test(test_samples_that_are_no_numbers_spoil_nothing_but_their_place),
        cmocka_unit_test(test_a_callback_ends_a_guest_wherever_it_is_asked),
        cmocka_unit_test(test_another_thread_ends_a_guest_that_would_listen_for_ever),
        cmocka_unit_test(test_a_source_that_fails_is_told_and_earlier_results_stay),
        cmocka_unit_test(test_guests_decline_what_only_whisper_does),
        cmocka_unit_test(test_a_request_that_the_model_cannot_meet_is_refused_by_name),
        cmocka_unit_test(test_vad_parameters_out_of_range_are_refused_by_name),
        cmocka_unit_test(test_vad_structs_of_older_and_newer_callers_are_served),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
