/* steno tests: word times of several transcripts by a forced aligner, in one call. SPDX-License-Identifier: MIT
 *
 * Segments of different transcripts share runs. Each transcript has the bits that it has alone, whatever becomes of the others. */
#include "api/segments_session.h"
#include "golden.h"
#include "internal.h"
#include "qwen3_asr.h"

enum { N = 9, LONG = 6, EMPTY = 3, SILENT = 4 };

static struct audio all[N];
static steno_model *speech, *aligner;
static steno_session *of[N];
static uint64_t alone[N], before[N];
static int64_t encodes_alone;

struct reader { const float *pcm; int64_t n, at, fails_at; int calls, stop_after; steno_session *cancels; };

static int64_t reader_read(void *user, float *to, int64_t n)
{
    struct reader *r = user;
    if (r->fails_at && r->at >= r->fails_at) return -5;
    if (r->cancels && r->at) steno_cancel(r->cancels);
    if (n > r->n - r->at) n = r->n - r->at;
    memcpy(to, r->pcm + r->at, (size_t)n * sizeof *to);
    r->at += n;
    return n;
}

static int reader_rewind(void *user)
{
    ((struct reader *)user)->at = 0;
    return 0;
}

/* Lengths differ; one is silent, one has no samples, and one is a single segment that is longer than a clip of the aligner. */
static struct audio recording_of(int i)
{
    static int const seconds[N] = { 9, 5, 21, 0, 5, 8, 47, 13, 4 };
    struct audio a = { NULL, (int64_t)seconds[i] * RATE + (seconds[i] ? 77 * i : 0) };
    if (a.n > audio.n) a.n = audio.n;
    a.pcm = calloc((size_t)a.n + 1, sizeof *a.pcm);
    assert_non_null(a.pcm);
    if (i != SILENT) memcpy(a.pcm, audio.pcm, (size_t)a.n * sizeof *a.pcm);
    return a;
}

static void transcribe(int i)
{
    steno_transcribe_params p = params_of(i == LONG ? NULL : vad);
    p.word_timestamps = i % 2;
    if (steno_transcribe(of[i], all[i].pcm, all[i].n, &p)) fail_msg("%s", steno_last_error(of[i]));
    if (i == LONG) inside_segment_move(of[i], 0, 0, 46);
    before[i] = result_digest(of[i]);
}

static void source_make(steno_source *src, struct reader *r, int i)
{
    *r = (struct reader){ .pcm = all[i].pcm, .n = all[i].n };
    *src = (steno_source){ reader_read, reader_rewind, r };
}

static int64_t encodes_of(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    steno_timings_get(s, &t);
    return t.n_encodes;
}

static int group_begin(void **state)
{
    open_all(state);
    speech = family[2];
    aligner = qwen_open(aligner_dir);
    steno_session *s = qwen_session(aligner);
    for (int i = 0; i < N; i++) {
        struct reader r;
        steno_source src;
        all[i] = recording_of(i);
        of[i] = session_new(speech, NULL, 1);
        transcribe(i);
        source_make(&src, &r, i);
        if (steno_align_result(s, of[i], &src, NULL)) fail_msg("%s", steno_last_error(s));
        alone[i] = result_digest(of[i]);
    }
    encodes_alone = encodes_of(s);
    for (int i = 0; i < N; i++) assert_true((steno_segment_count(of[i]) > 0) == (i != EMPTY && i != SILENT));
    assert_true(steno_segment_count(of[2]) > 5);
    steno_session_close(s);
    return 0;
}

static int group_end(void **state)
{
    for (int i = 0; i < N; i++) {
        steno_session_close(of[i]);
        free(all[i].pcm);
    }
    steno_model_close(aligner);
    return close_all(state);
}

/* The call for all transcripts, the first one being `first`. */
struct call {
    steno_align_item item[N], *at[N];
    steno_transcribe_params p[N];
    steno_source src[N];
    struct reader r[N];
    steno_error e[N];
};

static steno_align_item *item_new(struct call *c, int i)
{
    transcribe(i);
    source_make(&c->src[i], &c->r[i], i);
    c->p[i] = params_of(NULL);
    c->item[i] = (steno_align_item){ .size = sizeof c->item[i], .status = 99, .of = of[i], .src = &c->src[i], .params = &c->p[i],
                                     .error = &c->e[i] };
    return &c->item[i];
}

static void call_new(struct call *c, int first)
{
    for (int k = 0; k < N; k++) c->at[k] = item_new(c, (first + k) % N);
}

/* All but transcript `but` have their words; that one is as it was, with this status and reason. */
static void check(const struct call *c, int but, int status, const char *why)
{
    for (int i = 0; i < N; i++) {
        const uint64_t want = i == but ? before[i] : alone[i];
        if (c->item[i].status != (i == but ? status : 0)) fail_msg("transcript %d: status %d, %s", i, (int)c->item[i].status, c->e[i].text);
        if (result_digest(of[i]) != want) fail_msg("transcript %d of %d is not that of its own call", i, N);
        if (i == but && !strstr(c->e[i].text, why)) fail_msg("'%s' does not say '%s'", c->e[i].text, why);
    }
}

static void test_transcripts_that_share_runs_have_their_own_words(void **state)
{
    (void)state;
    static struct call c;
    static int const windows[] = { 0, 1, 2, 16 };
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
        for (int first = 0; first < N; first += 5) {
            steno_batch *b = NULL;
            steno_session *s;
            steno_batch_params bp;
            steno_session_params sp;
            steno_batch_params_init(&bp);
            steno_session_params_init(&sp);
            bp.max_windows = windows[k];
            if (windows[k]) assert_int_equal(steno_batch_open(&b, aligner, NULL, &bp, NULL), 0);
            sp.batch = b;
            assert_int_equal(steno_session_open(&s, aligner, NULL, &sp, NULL), 0);
            call_new(&c, first);
            if (steno_align_results(s, c.at, N)) fail_msg("%s", steno_last_error(s));
            check(&c, -1, 0, "");
            if (windows[k] != 1 && windows[k] != 2) assert_true(encodes_of(s) < encodes_alone);
            steno_session_close(s);
            steno_batch_close(b);
        }
}

static int stop_later(void *user)
{
    struct reader *r = user;
    return ++r->calls > r->stop_after;
}

static void stops_at(struct call *c, int i, int after)
{
    c->r[i].stop_after = after;
    c->p[i].user = &c->r[i];
    c->p[i].should_abort = stop_later;
}

/* Transcript `first` stops at its first question, or at a later one, with some of its clips in a run that the next one begins or fills. */
static void stop_at_any(steno_session *s, int first, int then)
{
    enum { FEW = 3, MANY = 20000 };
    static struct call c;
    int after = 0, status = STENO_ECANCELED;
    for (; status && after < MANY; after += 1 + after / 2) {
        steno_align_item *some[FEW] = { item_new(&c, first), item_new(&c, then), item_new(&c, 1) };
        stops_at(&c, first, after);
        steno_align_results(s, some, FEW);
        status = c.item[first].status;
        assert_int_equal(status, status ? STENO_ECANCELED : 0);
        assert_true(result_digest(of[first]) == (status ? before : alone)[first]);
        if (c.item[then].status || c.item[1].status) fail_msg("%d stops %d at %d: %s", first, then, after, c.e[then].text);
        assert_true(result_digest(of[then]) == alone[then] && result_digest(of[1]) == alone[1]);
    }
    assert_true(!status && after > 1);
}

static void test_a_transcript_that_stops_leaves_the_others_alone(void **state)
{
    (void)state;
    static int const windows[] = { 1, 4, 16 };
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        steno_batch *b;
        steno_session *s = session_of(aligner, windows[k], NULL, &b);
        stop_at_any(s, 2, 7);
        if (windows[k] == 4) stop_at_any(s, 2, LONG);
        session_gone(s, b);
    }
}

static void test_a_transcript_that_fails_leaves_the_others_alone(void **state)
{
    (void)state;
    static struct call c;
    steno_session *s = qwen_session(aligner);
    static int const failing[] = { 0, 1, 2, LONG, 8 };
    for (size_t k = 0; k < sizeof failing / sizeof *failing; k++) {
        const int i = failing[k];
        call_new(&c, i % 2 * 5);
        c.r[i].fails_at = i == LONG || i == 2 ? 15 * RATE : RATE / 2; /* behind segments that are in a run */
        assert_int_equal(steno_align_results(s, c.at, N), STENO_ESOURCE);
        check(&c, i, STENO_ESOURCE, "the audio source failed after");
        call_new(&c, 0);
        stops_at(&c, i, (int)k % 3);
        assert_int_equal(steno_align_results(s, c.at, N), STENO_ECANCELED);
        check(&c, i, STENO_ECANCELED, "cancel");
    }
    call_new(&c, 0);
    c.p[5].language = "nl";
    assert_int_equal(steno_align_results(s, c.at, N), STENO_EARG);
    check(&c, 5, STENO_EARG, "zh, en, yue");
    assert_non_null(strstr(steno_last_error(s), "zh, en, yue"));
    steno_session_close(s);
}

static void test_a_transcript_is_aligned_once_in_a_call(void **state)
{
    (void)state;
    static struct call c;
    steno_session *s = qwen_session(aligner);
    call_new(&c, 0);
    c.item[1].of = of[0]; /* twice */
    assert_int_equal(steno_align_results(s, c.at, N), STENO_EARG);
    assert_true(c.item[0].status == 0 && c.item[1].status == STENO_EARG && strstr(c.e[1].text, "a call is at work"));
    assert_true(result_digest(of[0]) == alone[0] && result_digest(of[1]) == before[1] && result_digest(of[2]) == alone[2]);
    c.item[1].size = 8;
    assert_int_equal(steno_align_results(s, c.at, N), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "transcript 1 of 9: steno_align_item.size is 8"));
    assert_int_equal(steno_align_results(s, NULL, 2), STENO_EARG);
    assert_int_equal(steno_align_results(s, NULL, -1), STENO_EARG);
    assert_int_equal(steno_align_results(s, NULL, 0), 0);
    assert_int_equal(steno_align_results(NULL, c.at, N), STENO_EARG);
    assert_int_equal(steno_align_results(of[0], c.at, N), STENO_EARG);
    assert_non_null(strstr(steno_last_error(of[0]), "does not align the words of transcripts"));
    steno_session_close(s);
}

/* Not a should_abort, but steno_cancel: nothing else is aligned. */
static void test_a_cancelled_session_ends_the_call(void **state)
{
    (void)state;
    static struct call c;
    steno_session *s = qwen_session(aligner);
    call_new(&c, 0);
    c.r[2].cancels = s;
    assert_int_equal(steno_align_results(s, c.at, N), STENO_ECANCELED);
    for (int i = 2; i < N; i++) {
        if (i != EMPTY && i != SILENT) assert_int_equal(c.item[i].status, STENO_ECANCELED);
        if (c.item[i].status) assert_true(result_digest(of[i]) == before[i]);
    }
    call_new(&c, 0);
    assert_int_equal(steno_align_results(s, c.at, N), 0);
    check(&c, -1, 0, "");
    steno_session_close(s);
}

static int stop_and_cancel(void *user)
{
    steno_cancel(user);
    return 1;
}

/* The session is cancelled while a should_abort ends a transcript. */
static void test_a_stop_does_not_hide_that_the_session_is_cancelled(void **state)
{
    (void)state;
    static struct call c;
    steno_session *s = qwen_session(aligner);
    call_new(&c, 0);
    c.p[1].user = s;
    c.p[1].should_abort = stop_and_cancel;
    assert_int_equal(steno_align_results(s, c.at, N), STENO_ECANCELED);
    for (int i = 1; i < N; i++)
        if (i != EMPTY && i != SILENT) assert_int_equal(c.item[i].status, STENO_ECANCELED);
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transcripts_that_share_runs_have_their_own_words),
        cmocka_unit_test(test_a_transcript_that_fails_leaves_the_others_alone),
        cmocka_unit_test(test_a_transcript_that_stops_leaves_the_others_alone),
        cmocka_unit_test(test_a_stop_does_not_hide_that_the_session_is_cancelled),
        cmocka_unit_test(test_a_transcript_is_aligned_once_in_a_call),
        cmocka_unit_test(test_a_cancelled_session_ends_the_call),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
