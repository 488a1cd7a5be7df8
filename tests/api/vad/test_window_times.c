/* steno tests: the times of windows that are reported before they run. SPDX-License-Identifier: MIT
 *
 * on_window has the beginning of the rows that follow it, for clips, chunks of streams and spans of speech. Windows do not go back.
 * Progress does not exceed the audio, and ends with it. */
#include "api/shipped.h"
#include "segments_session.h"

enum { STREAM = N_FAMILIES, LIVE, AUDIO_LM, N_MODELS, WINDOWS = 1000 };

static steno_model *of[N_MODELS]; /* families of clips, and of streams */

static int open_models(void **state)
{
    open_all(state);
    memcpy(of, family, sizeof family);
    of[STREAM] = funasr_open(pk_stream_folder, NULL);
    of[LIVE] = funasr_open(live_folder, NULL);
    assert_int_equal(steno_model_open(&of[AUDIO_LM], "tests/data/qwen3_asr", NULL, NULL), 0);
    return 0;
}

static int close_models(void **state)
{
    for (int i = N_FAMILIES; i < N_MODELS; i++) steno_model_close(of[i]);
    return close_all(state);
}

/* What was reported, ms. */
struct reports { int64_t window[WINDOWS], rows[WINDOWS], done, total, segment; int n, n_rows, wrong; };

static int on_window(void *user, int64_t at_ms)
{
    struct reports *r = user;
    if (r->n == WINDOWS) return 0;
    r->window[r->n++] = at_ms;
    return 1;
}

static void on_rows(void *user, const steno_rows *rows)
{
    struct reports *r = user;
    if (!strcmp(rows->name, "features") && r->n_rows < WINDOWS) r->rows[r->n_rows++] = rows->at_ms;
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct reports *r = user;
    r->wrong += done_ms < r->done || (total_ms && done_ms > total_ms);
    r->done = done_ms;
    r->total = total_ms;
}

static void on_segment(void *user, const steno_segment *g)
{
    struct reports *r = user;
    r->wrong += g->t0_ms < r->segment || g->t1_ms < g->t0_ms;
    r->segment = g->t0_ms;
}

static steno_transcribe_params watched(struct reports *r, int is_live)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    memset(r, 0, sizeof *r);
    p.user = r;
    p.on_window = on_window;
    p.on_progress = on_progress;
    p.on_segment = on_segment;
    if (!is_live) p.on_rows = on_rows;
    return p;
}

/* n samples from `from` ms on. */
static void windows_are_in_place(int i, int64_t n, int64_t from_ms, const steno_model *finder, int lookahead)
{
    static struct reports r;
    const int is_live = i == LIVE;
    steno_vad_params long_spans;
    steno_session *s = session_new(of[i], NULL, 1);
    steno_transcribe_params p = watched(&r, is_live);
    steno_vad_params_init(&long_spans);
    long_spans.merge_ms = 15000;
    p.vad_model = finder;
    p.vad = finder ? &long_spans : NULL;
    p.offset_ms = from_ms;
    if (i == STREAM) p.lookahead = lookahead;
    if (steno_transcribe(s, audio.pcm, n, &p)) fail_msg("%s", steno_last_error(s));
    if (r.n < 2 || r.n == WINDOWS) fail_msg("model %d: %d windows of %lld samples", i, r.n, (long long)n);
    assert_true(finder || r.window[0] == from_ms);
    for (int k = 1; k < r.n; k++)
        if (r.window[k] <= r.window[k - 1])
            fail_msg("model %d: window %d begins at %lld ms, the one before it at %lld ms", i, k, (long long)r.window[k],
                     (long long)r.window[k - 1]);
    if (!is_live) assert_int_equal(r.n, r.n_rows);
    for (int k = 0; k < r.n_rows; k++)
        if (r.window[k] != r.rows[k])
            fail_msg("model %d: window %d at %lld ms has rows from %lld ms on", i, k, (long long)r.window[k], (long long)r.rows[k]);
    if (finder && i == STREAM) assert_true(r.n > steno_span_count(s)); /* a span has several windows */
    assert_int_equal(r.wrong, 0);
    assert_int_equal(r.total, n / 16 - from_ms);
    assert_int_equal(r.done, r.total);
    steno_session_close(s);
}

static void test_windows_begin_where_their_rows_do(void **state)
{
    (void)state;
    static int const lookaheads[] = { STENO_LOOKAHEAD_MOST, 0 };
    static int64_t const lengths[] = { SECONDS * RATE, 80 * RATE + 1111, 70 * RATE - 77 };
    for (int i = 0; i < N_MODELS; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int from = 0; from < 2; from++)
                for (int with_vad = 0; with_vad < 2; with_vad++) {
                    if (i == LIVE ? with_vad : !with_vad && i == 2) continue; /* no spans; a single clip */
                    windows_are_in_place(i, lengths[k], from * 730, with_vad ? vad : NULL, lookaheads[from]);
                }
}

/* Whisper's windows in clips of the audio. */
static void test_windows_of_clips_begin_where_their_rows_do(void **state)
{
    (void)state;
    static double const clips[] = { 1.5, 4, 20, 75.25, 80, 81 };
    static struct reports r;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p = watched(&r, 0);
    p.clip_timestamps = clips;
    p.n_clip_timestamps = sizeof clips / sizeof *clips;
    if (steno_transcribe(s, audio.pcm, audio.n, &p)) fail_msg("%s", steno_last_error(s));
    assert_true(r.n > 3 && r.n == r.n_rows);
    assert_memory_equal(r.window, r.rows, (size_t)r.n * sizeof *r.rows);
    assert_true(r.window[0] == 1500 && r.window[1] == 20000 && r.window[r.n - 1] == 80000);
    assert_int_equal(r.wrong, 0);
    assert_int_equal(r.done, r.total);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_begin_where_their_rows_do),
        cmocka_unit_test(test_windows_of_clips_begin_where_their_rows_do),
    };
    return cmocka_run_group_tests(tests, open_models, close_models);
}
