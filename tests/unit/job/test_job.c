/* steno tests: a job over sound files, with and without listeners. SPDX-License-Identifier: MIT
 *
 * Any callback may be missing, any may end the run, and any input may fail: the others are transcribed, each is counted, and
 * reported to each callback once. Everything is done both ways: one input after the other, and several at a time. */
#include "job.h"
#include "api/funasr_model.h"
#include "api/heap.h"
#include "api/wav_folder.h"

enum { N_MAX = 8, BATCH = 3 };

static steno_model *model, *vad;
static steno_session *session, *vad_session;
static struct folder folder;
static struct folder_file mono, stereo, cut, quiet, text, empty, header, folder_itself, missing, long_one;

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    vad = funasr_open(vad_folder, NULL);
    session = session_new(model, NULL, 1);
    vad_session = session_new(vad, NULL, 1);
    folder = folder_new();
    mono = wav_put(&folder, "mono.wav", 1, 2 * RATE, 0, 1);
    stereo = wav_put(&folder, "stereo.wav", 2, RATE, 0, 1);
    cut = wav_put(&folder, "cut.wav", 1, 2 * RATE, RATE, 1);
    quiet = wav_put(&folder, "quiet.wav", 1, 2 * RATE, 0, 0);
    long_one = wav_put(&folder, "long.wav", 1, 340 * RATE, 0, 1);
    header = wav_put(&folder, "header.wav", 1, RATE, 2 * RATE, 1);
    folder_text(&folder, "text.wav", "this is no sound, in spite of the name");
    folder_text(&folder, "empty.wav", "");
    text = folder_at(&folder, "text.wav");
    empty = folder_at(&folder, "empty.wav");
    missing = folder_at(&folder, "missing.wav");
    snprintf(folder_itself.path, sizeof folder_itself.path, "%s", folder.path);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_session_close(vad_session);
    steno_model_close(model);
    steno_model_close(vad);
    folder_remove(&folder);
    return 0;
}

static struct job job_new(void)
{
    struct job j = { .model = model, .params = params_new(), .channel = JOB_MIX };
    steno_media_params_init(&j.media);
    j.params.sample_len = 12;
    j.params.audio_ctx = 150; /* 3 s: inputs are no longer */
    return j;
}

static void job_go(struct job *j, char **files, int n, int in_batch)
{
    steno_batch_params bp;
    steno_error e;
    steno_batch_params_init(&bp);
    bp.max_windows = BATCH;
    if (!in_batch) job_run(j, session, files, n);
    else if (job_run_batch(j, NULL, &bp, files, n, &e)) fail_msg("%s", e.text);
}

/* ---- no callbacks ---- */

static void expect_counts(struct job j, int n_ok, int n_refused, int n_lost, const char *what)
{
    char *files[] = { mono.path, missing.path, stereo.path, text.path, cut.path, folder_itself.path };
    const int n = (int)(sizeof files / sizeof *files);
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        struct job k = j;
        job_go(&k, files, n, in_batch);
        if (k.n_done != n) fail_msg("%s, batch %d: %d of %d files are over", what, in_batch, k.n_done, n);
        assert_true(k.audio_ms >= 500 * n_ok && (n_ok || !k.audio_ms));
        if (k.stop || k.n_ok != n_ok || k.n_refused != n_refused || k.n_lost != n_lost)
            fail_msg("%s, batch %d: %d done, %d refused, %d cut, ended by %d", what, in_batch, k.n_ok, k.n_refused, k.n_lost, k.stop);
        assert_int_equal(k.timings.size, sizeof k.timings);
        assert_true(k.timings.n_windows >= (n_ok > 0));
        job_go(&k, files, 0, in_batch); /* no files are no failure */
        assert_int_equal(k.n_ok, n_ok);
    }
}

static void test_a_job_without_callbacks_transcribes_what_it_can(void **state)
{
    (void)state;
    struct job j = job_new();
    expect_counts(j, 3, 0, 1, "the mix");
    j.channel = 0;
    expect_counts(j, 3, 0, 1, "the first channel");
    j.channel = 1;
    expect_counts(j, 1, 2, 0, "the second channel");
    j.channel = 7;
    expect_counts(j, 0, 3, 0, "the eighth channel");
    j.channel = JOB_SPLIT;
    expect_counts(j, 3, 0, 1, "channels apart");
    j.parts = 3;
    expect_counts(j, 3, 0, 1, "parts of channels");
    j.parts = 0;
    j.channel = JOB_MIX;
    j.diarize = 1;
    expect_counts(j, 1, 2, 0, "speakers");
    j.diarize = 0;
    j.max_len = 4;
    j.by_words = 1;
    expect_counts(j, 3, 0, 1, "segments cut");
    j.params.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    expect_counts(j, 3, 0, 1, "both tasks");
}

static void test_without_listeners_speech_is_found_before_it_is_transcribed(void **state)
{
    (void)state;
    struct job j = job_new();
    char *files[] = { mono.path, cut.path };
    j.speech = (struct speech_rules){ .session = vad_session, .pad_ms = 100 };
    steno_vad_params_init(&j.speech.params);
    job_run(&j, session, files, 2);
    assert_int_equal(j.n_ok, 2);
    files[1] = quiet.path; /* silence is not decoded */
    job_run(&j, session, files, 2);
    assert_int_equal(j.n_ok, 4);
    assert_int_equal(j.n_empty, 1);
    assert_string_equal(steno_text(session), "");
}

static void test_parameters_are_judged_without_audio(void **state)
{
    (void)state;
    struct job j = job_new();
    assert_int_equal(job_try(&j, session), STENO_OK);
    j.params.temperature = -1;
    assert_int_equal(job_try(&j, session), STENO_EARG);
    char *files[] = { mono.path };
    for (int in_batch = 0; in_batch < 2; in_batch++) { /* and are refused by each input */
        job_go(&j, files, 1, in_batch);
        assert_int_equal(j.n_ok, 0);
    }
}

static char kept_text[400];
static int64_t kept_t0;

static int keep_first(void *user, const struct job_input *in, struct transcript *t)
{
    (void)user, (void)in;
    snprintf(kept_text, sizeof kept_text, "%s", t->text);
    kept_t0 = t->n ? t->segs[0].t0_ms : -1;
    return 0;
}

/* A long way into a file only what is near is decoded; text and times are those of all. The other programs decode all of it. */
static int64_t asked_ms;

static void hears(void *user, const struct job_input *in, int64_t read_ms, int64_t total_ms, int at_end)
{
    (void)user, (void)read_ms, (void)total_ms, (void)at_end;
    if (in->n_skipped / 16 > asked_ms) asked_ms = in->n_skipped / 16;
}

static void test_sound_far_before_is_not_decoded(void **state)
{
    enum { FAR_MS = 333000 };
    (void)state;
    char *files[] = { mono.path, long_one.path };
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        char said[2][400];
        int64_t begin[2], ends[2];
        for (int all = 0; all < 2; all++) {
            struct job j = job_new();
            j.params.offset_ms = FAR_MS;
            j.params.duration_ms = 2000;
            j.media.unclocked = all;
            j.events.reading = hears;
            j.events.output = keep_first;
            asked_ms = 0;
            job_go(&j, files + 1, 1, in_batch);
            assert_int_equal(j.n_ok, 1);
            assert_int_equal(asked_ms, all ? 0 : FAR_MS - 300000);
            snprintf(said[all], sizeof said[all], "%s", kept_text);
            begin[all] = kept_t0;
            ends[all] = j.audio_ms;
        }
        assert_true(said[0][0]);
        assert_string_equal(said[0], said[1]);
        assert_int_equal(begin[0], begin[1]);
        assert_true(begin[0] >= FAR_MS);
        assert_int_equal(ends[0], ends[1]);
    }
}

/* ---- callbacks ---- */

enum event { STOP, BEGIN, SEGMENT, LET_GO, END_OK, END_FAILED, OUTPUT, OUTPUT_FAILED, DONE, EVENTS };

struct log {
    int n[EVENTS], busy;
    enum event ends; /* the run, at its `at`-th time */
    int at;
    int status[N_MAX], no_reason; /* by the number of the file */
    void (*meddle)(const struct job_input *in); /* while it is read; may be NULL */
};

static int seen(struct log *l, enum event e)
{
    return ++l->n[e] == l->at && l->ends == e ? 40 + (int)e : 0;
}

static int on_stop(void *user)
{
    struct log *l = user;
    return l->ends == STOP && l->at && ++l->n[STOP] >= l->at;
}

static void on_busy(void *user, int on) { ((struct log *)user)->busy += on ? 1 : -1; }
static void on_begin(void *user, const struct job_input *in) { (void)in, seen(user, BEGIN); }
static void on_let_go(void *user, const struct job_input *in) { (void)in, seen(user, LET_GO); }
static int on_segment(void *user, const struct job_input *in, const steno_segment *seg) { (void)in, (void)seg; return seen(user, SEGMENT); }

static void on_hear(void *user, const struct job_input *in, int64_t read_ms, int64_t total_ms, int at_end)
{
    struct log *l = user;
    (void)read_ms, (void)total_ms, (void)at_end;
    if (l->meddle) l->meddle(in);
}

static int on_end(void *user, const struct job_input *in, const struct job_end *e)
{
    struct log *l = user;
    l->status[in->index] = e->status;
    l->no_reason += e->status != STENO_OK && !e->reason;
    return seen(l, e->status == STENO_OK ? END_OK : END_FAILED);
}

static int on_output(void *user, const struct job_input *in, struct transcript *t)
{
    (void)in;
    assert_non_null(t->text);
    return seen(user, OUTPUT);
}

static int on_output_failed(void *user, const struct job_input *in, int status, const char *reason)
{
    (void)in, (void)status;
    assert_true(*reason);
    return seen(user, OUTPUT_FAILED);
}

static int on_done(void *user, const struct job_input *in)
{
    (void)in;
    return seen(user, DONE);
}

static struct job job_with(struct log *l)
{
    struct job j = job_new();
    j.events = (struct job_events){ .user = l, .stop = on_stop, .busy = on_busy, .begin = on_begin, .reading = on_hear,
                                    .segment = on_segment, .let_go = on_let_go, .end = on_end, .output = on_output,
                                    .output_failed = on_output_failed, .done = on_done };
    return j;
}

static void test_inputs_that_fail_are_reported_once_and_the_others_go_on(void **state)
{
    (void)state;
    const struct { char *path; int status; } input[] = {
        { missing.path, STENO_EIO }, { mono.path, STENO_OK }, { folder_itself.path, STENO_EIO }, { empty.path, STENO_EFORMAT },
        { cut.path, STENO_OK }, { header.path, STENO_EFORMAT }, { stereo.path, STENO_OK },
    };
    enum { N = sizeof input / sizeof *input };
    char *files[N];
    for (int i = 0; i < N; i++) files[i] = input[i].path;
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        struct log l = { .at = 0 };
        struct job j = job_with(&l);
        job_go(&j, files, N, in_batch);
        for (int i = 0; i < N; i++)
            if (l.status[i] != input[i].status) fail_msg("%s ends with %d, want %d", files[i], l.status[i], input[i].status);
        assert_true(l.n[END_OK] == 3 && l.n[END_FAILED] == 4 && l.n[OUTPUT] == 3 && l.n[DONE] == N && l.no_reason == 0);
        assert_true(l.n[BEGIN] == l.n[LET_GO] && l.n[BEGIN] == 3 && l.busy == 0 && l.n[OUTPUT_FAILED] == 0);
        assert_true(j.n_ok == 3 && j.n_lost == 1 && j.stop == 0);
    }
}

static void test_each_callback_can_end_the_run(void **state)
{
    (void)state;
    static const enum event ends[] = { SEGMENT, END_OK, END_FAILED, OUTPUT, DONE };
    char *files[] = { missing.path, mono.path, missing.path, mono.path, cut.path, mono.path, missing.path, mono.path };
    for (int in_batch = 0; in_batch < 2; in_batch++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            for (int at = 1; at <= 2; at++) {
                struct log l = { .ends = ends[i], .at = at };
                struct job j = job_with(&l);
                job_go(&j, files, N_MAX, in_batch);
                if (j.stop != 40 + (int)ends[i]) fail_msg("event %d, batch %d: the run ended with %d", (int)ends[i], in_batch, j.stop);
                assert_true(l.n[DONE] < N_MAX && l.busy == 0 && l.n[BEGIN] == l.n[LET_GO]);
                assert_true(l.n[ends[i]] >= at && l.n[ends[i]] < at + (in_batch ? BATCH : 1)); /* who is at work ends by himself */
                assert_true(j.n_ok <= l.n[OUTPUT]);
            }
}

static void test_a_run_that_is_stopped_ends_quietly_whenever_it_is_asked(void **state)
{
    (void)state;
    char *files[] = { mono.path, missing.path, stereo.path };
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        int outputs = 0;
        for (int at = 1; outputs < 2; at = at * 5 / 4 + 1) {
            struct log l = { .ends = STOP, .at = at };
            struct job j = job_with(&l);
            j.channel = JOB_SPLIT;
            job_go(&j, files, 3, in_batch);
            assert_true(j.stop == 0 && l.busy == 0 && l.n[BEGIN] == l.n[LET_GO] && j.n_ok <= l.n[OUTPUT]);
            assert_true(l.n[OUTPUT] >= outputs); /* a later call of the callback counts more */
            outputs = l.n[OUTPUT];
        }
    }
}

static void cancel(const struct job_input *in) { steno_cancel(in->session); }
static void interrupt(const struct job_input *in) { steno_media_interrupt(in->media); }

static void test_an_input_that_is_canceled_ends_alone(void **state)
{
    (void)state;
    char *files[] = { mono.path, stereo.path };
    for (int in_batch = 0; in_batch < 2; in_batch++)
        for (int how = 0; how < 2; how++) {
            struct log l = { .meddle = how ? interrupt : cancel };
            struct job j = job_with(&l);
            job_go(&j, files, 2, in_batch);
            assert_true(l.status[0] == STENO_ECANCELED && l.status[1] == STENO_ECANCELED && l.no_reason == 0);
            assert_true(l.n[END_FAILED] == 2 && l.n[DONE] == 2 && l.n[OUTPUT] == 0 && j.n_ok == 0 && j.stop == 0);
        }
}

/* ---- memory ---- */

static void expect_survival(int in_batch, int listens)
{
    enum { TRIES = 40 };
    char *files[] = { mono.path, stereo.path };
    int64_t calls = 0;
    for (int i = 0; i <= TRIES; i++) {
        struct log l = { .at = 0 };
        struct job j = listens ? job_with(&l) : job_new();
        steno_batch_params bp;
        steno_error e;
        steno_batch_params_init(&bp);
        bp.max_windows = 2;
        j.max_len = 4;
        count_begin(i ? calls * (i - 1) / TRIES : -1);
        const int rc = in_batch ? job_run_batch(&j, NULL, &bp, files, 2, &e) : (job_run(&j, session, files, 2), STENO_OK);
        const struct heap h = count_end();
        if (!i) calls = h.calls;
        if (!i) assert_int_equal(j.n_ok, 2);
        assert_true(rc == STENO_OK || rc == STENO_ENOMEM);
        assert_true(j.stop == 0 || j.stop == STENO_ENOMEM);
        assert_int_equal(l.n[BEGIN], l.n[LET_GO]);
        if (in_batch) assert_true(h.bytes <= 0); /* texts of strdup are freed here, and not counted */
    }
    struct job j = job_new();
    job_go(&j, files, 2, in_batch);
    assert_int_equal(j.n_ok, 2);
}

static void test_a_job_without_memory_ends_and_leaves_nothing(void **state)
{
    (void)state;
    need_counting();
    for (int i = 0; i < 4; i++) expect_survival(i / 2, i % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job_without_callbacks_transcribes_what_it_can),
        cmocka_unit_test(test_without_listeners_speech_is_found_before_it_is_transcribed),
        cmocka_unit_test(test_parameters_are_judged_without_audio),
        cmocka_unit_test(test_sound_far_before_is_not_decoded),
        cmocka_unit_test(test_inputs_that_fail_are_reported_once_and_the_others_go_on),
        cmocka_unit_test(test_each_callback_can_end_the_run),
        cmocka_unit_test(test_a_run_that_is_stopped_ends_quietly_whenever_it_is_asked),
        cmocka_unit_test(test_an_input_that_is_canceled_ends_alone),
        cmocka_unit_test(test_a_job_without_memory_ends_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
