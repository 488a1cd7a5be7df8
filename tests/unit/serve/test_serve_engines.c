/* steno tests: work of a server: texts, errors, cancels, limits. SPDX-License-Identifier: MIT
 *
 * Whatever else runs, a file's transcript is to the byte the one that a job makes of it alone. Every piece of work ends exactly once, and
 * leaves no file, session or memory behind. */
#include "engines_rig.h"
#include <signal.h>
#include <sys/resource.h>

enum { N_FILES = 5, N_KINDS = 5, N_WORK = 30 };

static steno_model *model, *vad;
static struct folder folder;
static struct folder_file file[N_FILES], text, empty, header, tiny, long_one;
static struct sink_memory want[N_FILES][N_KINDS];

static steno_transcribe_params params_of(int kind)
{
    steno_transcribe_params p = rig_job(NULL).params;
    if (kind == 1) p.beam_size = 2;
    if (kind == 2) p.word_timestamps = 1, p.language = NULL;
    if (kind == 3) p.without_timestamps = 1, p.condition_on_previous_text = 0;
    return p; /* kind 4: with voice activity detection */
}

static int keep_output(void *user, const struct job_input *in, struct transcript *t)
{
    (void)in;
    write_both(user, t);
    return 0;
}

/* The bytes that a job makes of the file alone. */
static void make_want(int f, int kind, steno_session *s, steno_session *vad_session)
{
    struct job j = rig_job(model);
    char *files[] = { file[f].path };
    j.params = params_of(kind);
    if (kind == 4) j.speech.session = vad_session;
    j.events.user = &want[f][kind];
    j.events.output = keep_output;
    job_run(&j, s, files, 1);
    if (j.n_ok != 1) fail_msg("file %d, kind %d: the job failed", f, kind);
}

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    vad = funasr_open(vad_folder, NULL);
    folder = folder_new();
    file[0] = wav_put(&folder, "mono.wav", 1, 3 * RATE, 0, 1);
    file[1] = wav_put(&folder, "stereo.wav", 2, RATE, 0, 1);
    file[2] = wav_put(&folder, "quiet.wav", 1, 2 * RATE, 0, 0);
    file[3] = wav_put(&folder, "windows.wav", 1, 40 * RATE, 0, 1);
    file[4] = wav_put(&folder, "cut.wav", 1, 2 * RATE, RATE, 1);
    header = wav_put(&folder, "header.wav", 1, RATE, 2 * RATE, 1);
    tiny = wav_put(&folder, "tiny.wav", 1, 1599, 0, 1);
    long_one = wav_put(&folder, "long.wav", 1, 121 * RATE, 0, 1);
    folder_text(&folder, "text.wav", "these are words and no audio, although the name ends in wav");
    folder_text(&folder, "empty.wav", "");
    text = folder_at(&folder, "text.wav");
    empty = folder_at(&folder, "empty.wav");
    steno_session *s = session_new(model, NULL, 2), *vad_session = session_new(vad, NULL, 1);
    for (int f = 0; f < N_FILES; f++)
        for (int k = 0; k < N_KINDS; k++) make_want(f, k, s, vad_session);
    steno_session_close(s);
    steno_session_close(vad_session);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < N_FILES * N_KINDS; i++) free(want[i / N_KINDS][i % N_KINDS].p);
    steno_model_close(model);
    steno_model_close(vad);
    folder_remove(&folder);
    return 0;
}

static void rig_new(struct rig *r, int n)
{
    rig_init(r, n);
    r->vad = vad;
}

/* ---- equality ---- */

/* Where A and B first differ, with what each has from a little before there. */
static const char *texts_apart(const char *a, size_t n_a, const char *b, size_t n_b)
{
    static char line[600];
    size_t at = 0, from;
    while (at < n_a && at < n_b && a[at] == b[at]) at++;
    from = at > 40 ? at - 40 : 0;
    snprintf(line, sizeof line, "byte %zu: '%.*s' and not '%.*s'", at, (int)(n_a - from < 200 ? n_a - from : 200), a + from,
             (int)(n_b - from < 200 ? n_b - from : 200), b + from);
    return line;
}

static void expect_text(struct piece *x, int f, int kind)
{
    const struct sink_memory *w = &want[f][kind];
    expect_code(x, API_OK, "");
    if (x->text.n != w->n || memcmp(x->text.p, w->p, w->n))
        fail_msg("file %d, kind %d: %s", f, kind, texts_apart(x->text.p, x->text.n, w->p, w->n));
    assert_int_equal(x->n_admitted, 1);
    assert_true(x->w.submitted_us <= x->w.ingested_us && x->w.ingested_us <= x->w.first_us);
    assert_true(x->w.audio_ms > 0 && x->w.n_together >= 1);
}

static void submit_kind(struct piece *x, struct engine *g, int i)
{
    static char const *const clients[] = { "1.1.1.1", "2.2.2.2", NULL };
    const int kind = i / N_FILES % N_KINDS;
    piece_init(x, g, clients[i % 3]);
    x->w.priority = i % 3 - 1;
    x->params = params_of(kind);
    x->has_params = 1;
    x->wants_vad = kind == 4 ? 1 : -1;
    piece_go(x, file[i % N_FILES].path);
}

static void test_texts_equal_those_of_a_job(void **state)
{
    (void)state;
    static struct piece x[N_WORK], bad[3], gone[6];
    struct rig r;
    rig_new(&r, 1);
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    const char *bad_path[] = { text.path, empty.path, header.path };
    for (int i = 0; i < N_WORK; i++) {
        submit_kind(&x[i], g, i);
        if (i % 10 == 4) {
            piece_init(&bad[i / 10], g, "bad");
            piece_go(&bad[i / 10], bad_path[i / 10]);
        }
        if (i % 5 == 2) {
            piece_init(&gone[i / 5], g, "gone");
            piece_go(&gone[i / 5], file[3].path);
            sleep_ms(i);
            work_cancel(&gone[i / 5].w);
        }
    }
    for (int i = 0; i < N_WORK; i++) expect_text(&x[i], i % N_FILES, i / N_FILES % N_KINDS);
    expect_code(&bad[0], API_unsupported_format, "a.wav");
    expect_code(&bad[1], API_invalid_audio, "empty");
    piece_wait(&bad[2]);
    assert_true(bad[2].error.code == API_invalid_audio || bad[2].error.code == API_audio_too_short);
    for (int i = 0; i < 6; i++) {
        piece_wait(&gone[i]);
        assert_true(gone[i].error.code == API_cancelled || gone[i].error.code == API_OK);
        assert_int_equal(gone[i].n_output, gone[i].error.code == API_OK);
        piece_free(&gone[i]);
    }
    const char *const *language = engine_languages(g);
    int n_languages = 0;
    steno_model_info info = { .size = sizeof info };
    assert_non_null(language);
    while (language[n_languages]) n_languages++;
    assert_int_equal(engine_info(g, &info), 0);
    assert_int_equal(n_languages, info.n_languages);
    assert_string_equal(language[0], "en");
    for (int i = 0; i < N_WORK; i++) piece_free(&x[i]);
    for (int i = 0; i < 3; i++) piece_free(&bad[i]);
    rig_close(&r);
}

/* ---- errors and limits ---- */

static void expect_file(struct engine *g, const char *path, enum api_code code, const char *message)
{
    struct piece x;
    piece_init(&x, g, "c");
    piece_go(&x, path);
    expect_code(&x, code, message);
    piece_free(&x);
}

static void test_audio_that_is_too_short_or_too_long_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct rig r;
    rig_new(&r, 1);
    r.p.seconds_max = 40;
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    expect_file(g, tiny.path, API_audio_too_short, "0.100 s");
    expect_file(g, long_one.path, API_audio_too_long, "121.0 s long, and at most 40 s");
    expect_file(g, file[3].path, API_OK, ""); /* exactly the limit */
    rig_close(&r);
}

static void test_a_full_spool_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    struct rig r;
    rig_new(&r, 1);
    r.p.spool_max = 100000;
    rig_open(&r);
    expect_file(engines_at(r.es, 0), file[3].path, API_spool_full, "a.wav");
    expect_file(engines_at(r.es, 0), file[1].path, API_OK, "");
    rig_close(&r);
}

static int refuse_all(struct work *w, const steno_model *m, struct api_error *e)
{
    (void)w, (void)m;
    return api_fail(e, API_invalid_value, "language", "language is xx");
}

static void test_mistakes_in_the_request_are_errors(void **state)
{
    (void)state;
    struct rig r;
    struct piece x;
    rig_new(&r, 1);
    r.vad = NULL;
    rig_open(&r);
    piece_init(&x, engines_at(r.es, 0), "c");
    x.w.prepare = refuse_all;
    piece_go(&x, file[0].path);
    expect_code(&x, API_invalid_value, "language is xx");
    piece_free(&x);
    piece_init(&x, engines_at(r.es, 0), "c");
    x.wants_vad = 1;
    piece_go(&x, file[0].path);
    expect_code(&x, API_invalid_value, "voice activity");
    piece_free(&x);
    piece_init(&x, engines_at(r.es, 0), "c");
    x.params = params_of(0);
    x.params.beam_size = 9; /* more than the lanes */
    x.has_params = 1;
    piece_go(&x, file[0].path);
    expect_code(&x, API_invalid_value, "beam_size is 9; this server decodes at most 2 sequences");
    assert_string_equal(x.error.param, "beam_size");
    piece_free(&x);
    rig_close(&r);
}

/* The request, the defaults and the number of windows: the defaults run with any number of windows. */
static void test_a_batch_has_room_for_the_defaults(void **state)
{
    (void)state;
    static const struct { int lanes, beams, parallel, most; } rows[] = {
        { 8, 0, 8, 8 }, { 8, 2, 32, 8 }, { 8, 2, 33, 7 }, { 8, 2, 128, 2 }, { 8, 5, 128, 5 }, { 8, 9, 1, 9 },
        { 0, 5, 128, 5 }, { 8, 0, 128, 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int more = 0; more < 2; more++) {
            struct rig r;
            struct piece x;
            rig_new(&r, 1);
            r.lanes = rows[i].lanes;
            r.beams = rows[i].beams;
            r.p.parallel = rows[i].parallel;
            rig_open(&r);
            piece_init(&x, engines_at(r.es, 0), "c");
            x.params = params_of(0);
            x.params.beam_size = rows[i].most + more;
            x.has_params = 1;
            piece_go(&x, file[0].path);
            expect_code(&x, more ? API_invalid_value : API_OK, more ? "beam_size" : "");
            piece_free(&x);
            rig_close(&r);
        }
    }
}

/* ---- the queue, time, the end ---- */

static void test_a_full_queue_refuses_and_accepts_again(void **state)
{
    (void)state;
    static struct piece x[40];
    struct rig r;
    struct api_error e;
    int n = 0, code = API_OK;
    rig_new(&r, 1);
    r.p.queue = 4;
    rig_open(&r);
    for (; n < 39 && code == API_OK; n++) {
        piece_init(&x[n], engines_at(r.es, 0), "c");
        code = piece_submit(&x[n], file[0].path, &e);
    }
    assert_int_equal(code, API_queue_full);
    assert_in_range(e.retry_after_s, 1, 120);
    assert_in_range(n - 1, 4, 38);
    assert_int_equal(x[n - 1].w.fd, -1);
    for (int i = 0; i < n - 1; i++) expect_code(&x[i], API_OK, "");
    piece_go(&x[n - 1], file[0].path);
    expect_code(&x[n - 1], API_OK, "");
    for (int i = 0; i < n; i++) piece_free(&x[i]);
    rig_close(&r);
}

static void expect_timeouts(double timeout_s)
{
    static struct piece x[6];
    struct rig r;
    rig_new(&r, 1);
    r.p.timeout_s = timeout_s;
    rig_open(&r);
    for (int i = 0; i < 6; i++) {
        piece_init(&x[i], engines_at(r.es, 0), "c");
        piece_go(&x[i], long_one.path);
    }
    for (int i = 0; i < 6; i++) {
        piece_wait(&x[i]);
        if (x[i].error.code != API_timeout) fail_msg("%d: %s", i, x[i].error.message);
        assert_true(x[i].end_us - x[i].w.submitted_us < 5000000);
        piece_free(&x[i]);
    }
    rig_close(&r);
}

static void test_deadlines_end_work_wherever_it_is(void **state)
{
    (void)state;
    static struct piece x[12];
    struct rig r;
    expect_timeouts(0.0005);
    expect_timeouts(0.05);
    rig_new(&r, 1);
    r.p.queue_timeout_s = 0.02;
    r.p.parallel = 1;
    rig_open(&r);
    int n_late = 0;
    for (int i = 0; i < 12; i++) {
        piece_init(&x[i], engines_at(r.es, 0), "c");
        piece_go(&x[i], long_one.path);
    }
    for (int i = 0; i < 12; i++) {
        piece_wait(&x[i]);
        n_late += x[i].error.code == API_queue_full && x[i].error.retry_after_s > 0;
        assert_true(x[i].error.code == API_queue_full || x[i].error.code == API_OK);
        piece_free(&x[i]);
    }
    assert_in_range(n_late, 5, 12);
    rig_close(&r);
}

static void test_a_server_that_drains_finishes_what_runs_and_refuses_the_rest(void **state)
{
    (void)state;
    static struct piece x[20];
    struct rig r;
    struct api_error e;
    int n_ok = 0;
    rig_new(&r, 1);
    r.p.parallel = 1;
    rig_open(&r);
    for (int i = 0; i < 10; i++) {
        piece_init(&x[i], engines_at(r.es, 0), "c");
        piece_go(&x[i], file[0].path);
    }
    piece_wait(&x[0]);
    engines_drain(r.es);
    piece_init(&x[10], engines_at(r.es, 0), "c");
    assert_int_equal(piece_submit(&x[10], file[0].path, &e), API_draining);
    for (int i = 0; i < 10; i++) {
        piece_wait(&x[i]);
        n_ok += x[i].error.code == API_OK;
        assert_true(x[i].error.code == API_OK || x[i].error.code == API_draining);
        piece_free(&x[i]);
    }
    assert_in_range(n_ok, 1, 10);
    while (engines_running(r.es)) sleep_ms(1);
    rig_close(&r);
}

static void test_closing_ends_all_work(void **state)
{
    (void)state;
    static struct piece x[10];
    struct rig r;
    rig_new(&r, 1);
    rig_open(&r);
    for (int i = 0; i < 10; i++) {
        piece_init(&x[i], engines_at(r.es, 0), "c");
        piece_go(&x[i], long_one.path);
    }
    sleep_ms(30);
    rig_close(&r);
    for (int i = 0; i < 10; i++) {
        assert_true(x[i].is_over && (x[i].error.code == API_draining || x[i].error.code == API_OK));
        piece_free(&x[i]);
    }
}

/* ---- the spool ---- */

static void test_the_spool_counts_its_bytes(void **state)
{
    (void)state;
    struct spool *s;
    struct spool_file *a, *b;
    steno_error e;
    char back[8];
    assert_int_equal(spool_open(&s, "/nonexistent/folder", 10, &e), STENO_EIO);
    assert_non_null(strstr(e.text, "/nonexistent/folder"));
    assert_int_equal(spool_open(&s, folder.path, 10, &e), STENO_OK);
    assert_int_equal(spool_file_open(&a, s), STENO_OK);
    assert_int_equal(spool_file_open(&b, s), STENO_OK);
    assert_int_equal(spool_write(a, "abcdef", 6), STENO_OK);
    assert_int_equal(spool_write(b, "12345", 5), STENO_EFULL);
    assert_int_equal(spool_write(b, "1234", 4), STENO_OK);
    assert_int_equal(spool_write(b, "5", 1), STENO_EFULL);
    assert_int_equal(spool_bytes(s), 10);
    assert_int_equal(spool_read(a, back, 3, 3), STENO_OK);
    assert_memory_equal(back, "def", 3);
    assert_int_equal(spool_read(a, back, 3, 4), STENO_EIO);
    assert_int_equal(spool_read(a, back, 1, -1), STENO_EIO);
    spool_file_close(a);
    assert_int_equal(spool_bytes(s), 4);
    assert_int_equal(spool_write(b, "567890", 6), STENO_OK);
    assert_int_equal(spool_size(b), 10);
    spool_file_close(b);
    spool_file_close(NULL);
    assert_int_equal(spool_bytes(s), 0);
    spool_close(s);
}

/* A full disk: a file may not grow beyond a size. */
static void test_a_full_disk_is_a_full_spool(void **state)
{
    (void)state;
    struct spool *s;
    struct spool_file *f;
    struct rlimit was, small;
    static char bytes[3000];
    steno_error e;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = was;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(spool_open(&s, folder.path, 1 << 20, &e), STENO_OK);
    assert_int_equal(spool_file_open(&f, s), STENO_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int first = spool_write(f, bytes, sizeof bytes), second = spool_write(f, bytes, sizeof bytes);
    const int third = spool_write(f, bytes, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(first, STENO_OK);
    assert_int_equal(second, STENO_EFULL);
    assert_int_equal(third, STENO_EFULL);
    assert_int_equal(spool_bytes(s), 4096);
    assert_int_equal(spool_size(f), 4096);
    spool_file_close(f);
    assert_int_equal(spool_bytes(s), 0);
    spool_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_spool_counts_its_bytes),
        cmocka_unit_test(test_a_full_disk_is_a_full_spool),
        cmocka_unit_test(test_texts_equal_those_of_a_job),
        cmocka_unit_test(test_audio_that_is_too_short_or_too_long_is_refused_with_both_numbers),
        cmocka_unit_test(test_a_full_spool_is_an_error_and_leaves_nothing),
        cmocka_unit_test(test_mistakes_in_the_request_are_errors),
        cmocka_unit_test(test_a_batch_has_room_for_the_defaults),
        cmocka_unit_test(test_a_full_queue_refuses_and_accepts_again),
        cmocka_unit_test(test_deadlines_end_work_wherever_it_is),
        cmocka_unit_test(test_a_server_that_drains_finishes_what_runs_and_refuses_the_rest),
        cmocka_unit_test(test_closing_ends_all_work),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
