/* steno tests: clips of Parakeet models. SPDX-License-Identifier: MIT */
#include <time.h>
#include "heap.h"
#include "parakeet_model.h"

enum { SECONDS = 100 };

static steno_model *tdt;
static struct audio audio;

static int open_all(void **state)
{
    (void)state;
    tdt = funasr_open(pk_tdt_folder, NULL);
    audio = bursts(SECONDS * RATE);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(tdt);
    free(audio.pcm);
    return 0;
}

/* ---- two requests, each with a clip in the same run ---- */

struct asked { int calls, stop_at; };

static int should_abort(void *user)
{
    struct asked *a = user;
    return ++a->calls == a->stop_at;
}

struct pair { int beams; steno_batch *b; steno_session *s[2]; struct asked asked[2]; struct tap tap[2]; };

static void pair_open(struct pair *x)
{
    const steno_batch_params bp = batch_params_of(2, 1);
    assert_int_equal(steno_batch_open(&x->b, tdt, NULL, &bp, NULL), 0);
    const steno_session_params sp = session_params_in(x->b);
    for (int i = 0; i < 2; i++) assert_int_equal(steno_session_open(&x->s[i], tdt, NULL, &sp, NULL), 0);
}

static void pair_run(struct pair *x)
{
    for (int i = 0; i < 2; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.should_abort = should_abort;
        p.user = &x->asked[i];
        p.beam_size = x->beams;
        x->asked[i].calls = 0;
        x->tap[i] = (struct tap){ .pcm = audio.pcm, .n = SECONDS / 2 * RATE };
        const steno_source src = tap_source(&x->tap[i]);
        assert_int_equal(steno_batch_add(x->b, x->s[i], &src, &p), 0);
    }
    assert_int_equal(steno_batch_run(x->b), 0);
}

static void pair_close(struct pair *x)
{
    for (int i = 0; i < 2; i++) steno_session_close(x->s[i]);
    steno_batch_close(x->b);
}

/* Whether the other request of its run continues or not. */
static void test_a_clip_looks_for_a_cancel_between_its_tokens(void **state)
{
    (void)state;
    for (int beams = 0; beams <= 3; beams += 3) {
        struct pair x = { .beams = beams };
        pair_open(&x);
        pair_run(&x);
        const int n = pk_tokens(x.s[0]);
        const uint64_t want = result_digest(x.s[0]);
        assert_true(n > 100);
        assert_true(result_digest(x.s[1]) == want);
        for (int i = 0; i < 2; i++) assert_true(x.asked[i].calls > n);
        for (int i = 0; i < 2; i++) {
            x.asked[i].stop_at = n / 2;
            pair_run(&x);
            assert_non_null(strstr(steno_last_error(x.s[i]), "cancel"));
            assert_int_equal(x.asked[i].calls, n / 2); /* not asked again */
            assert_int_equal(pk_tokens(x.s[i]), 0);
            assert_true(result_digest(x.s[!i]) == want);
            x.asked[i].stop_at = 0;
        }
        pair_run(&x);
        assert_true(result_digest(x.s[0]) == want && result_digest(x.s[1]) == want);
        pair_close(&x);
    }
}

/* ---- the longest clip ---- */

enum { ROW = 1280 /* samples */, ROWS_USUAL = 1500, ROWS_MOST = 18000 };

static int open_with_rows(steno_model **m, enum pk_head head, int32_t rows, steno_error *e)
{
    const struct folder d = pk_folder(head);
    steno_model_params p;
    steno_model_params_init(&p);
    p.text_ctx = rows;
    const int rc = steno_model_open(m, d.path, &p, e);
    folder_remove(&d);
    return rc;
}

struct clips { int n; int64_t longest, last; };

static int count_clip(void *user, int64_t at_ms)
{
    struct clips *c = user;
    if (c->n && at_ms - c->last > c->longest) c->longest = at_ms - c->last;
    c->n++;
    c->last = at_ms;
    return 1;
}

static struct clips clips_of(steno_session *s, const struct audio *a, int64_t n)
{
    struct clips c = { 0 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.on_window = count_clip;
    p.user = &c;
    assert_true(n <= a->n);
    if (steno_transcribe(s, a->pcm, n, &p)) fail_msg("%s", steno_last_error(s));
    return c;
}

/* Audio that fits is one clip; one sample more, and far more, is cut. */
static void test_clips_are_as_long_as_the_model_was_opened_for(void **state)
{
    static const struct { enum pk_head head; int32_t asked, rows; } row[] = {
        { PK_TDT, 0, ROWS_USUAL }, { PK_TDT, 3000, 3000 }, { PK_CTC, 25, 25 }, { PK_CTC, 4500, 4500 }, { PK_RNNT, 1600, 1600 },
    };
    struct audio a = bursts((int64_t)3 * 4500 * ROW);
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        steno_model *m;
        steno_error e;
        steno_model_info info = { .size = sizeof info };
        if (open_with_rows(&m, row[i].head, row[i].asked, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_model_info_get(m, &info), 0);
        assert_int_equal(info.n_audio_ctx, row[i].rows);
        steno_session *s = session_new(m, NULL, 1);
        const int64_t full = (int64_t)row[i].rows * ROW;
        assert_int_equal(clips_of(s, &a, full - 1).n, 1);
        assert_int_equal(clips_of(s, &a, full).n, 1);
        assert_int_equal(clips_of(s, &a, full + ROW).n, 2);
        const struct clips c = clips_of(s, &a, 3 * full);
        assert_in_range(c.n, 3, 5);
        assert_in_range(c.longest, full / 16 * 2 / 3 - 10, full / 16);
        steno_session_close(s);
        steno_model_close(m);
    }
    free(a.pcm);
}

/* Nor do the numbers of a clip depend on the longest one. */
static void test_a_whole_file_has_one_result_for_every_longest_clip(void **state)
{
    const struct audio a = bursts((int64_t)2000 * ROW + 5);
    (void)state;
    for (int head = PK_CTC; head <= PK_RNNT; head++) {
        static int32_t const rows[] = { 2001, 5000, ROWS_MOST };
        uint64_t want = 0;
        for (int i = 0; i < 3; i++) {
            steno_model *m;
            steno_error e;
            if (open_with_rows(&m, (enum pk_head)head, rows[i], &e)) fail_msg("%s", e.text);
            steno_session *s = session_new(m, NULL, 1);
            assert_int_equal(clips_of(s, &a, a.n).n, 1);
            assert_true(pk_tokens(s) > 20);
            const uint64_t got = result_digest(s);
            if (i && got != want) fail_msg("head %d: another result with clips of %d rows", head, (int)rows[i]);
            want = got;
            steno_session_close(s);
            steno_model_close(m);
        }
    }
    free(a.pcm);
}

static void test_the_memory_of_long_clips_is_known_and_flat(void **state)
{
    static int32_t const rows[] = { 25, 1500, ROWS_MOST };
    (void)state;
    need_counting();
    const struct audio a = bursts((int64_t)4000 * ROW);
    int64_t before = 0;
    for (int i = 0; i < 3; i++) {
        steno_model *m;
        steno_error e;
        if (open_with_rows(&m, PK_TDT, rows[i], &e)) fail_msg("%s", e.text);
        const int64_t said = steno_session_memory(m, NULL, NULL);
        count_begin(-1);
        steno_session *s = session_new(m, NULL, 1);
        const int64_t took = count_end().bytes;
        if (llabs(said - took) > took / 20 + (128 << 10)) /* tables of any model */
            fail_msg("%d rows: %lld bytes reported, %lld taken", (int)rows[i], (long long)said, (long long)took);
        if (said <= before) fail_msg("%d rows: %lld bytes, fewer rows have %lld", (int)rows[i], (long long)said, (long long)before);
        before = said;
        if (rows[i] == ROWS_USUAL) {
            int64_t most[3]; /* the first call has its buffers made */
            for (int k = 0; k < 3; k++) {
                count_begin(-1);
                clips_of(s, &a, k == 1 ? 1400 * ROW : a.n);
                most[k] = count_end().most;
            }
            assert_true(most[2] < 2 * most[1] + 65536); /* the result is longer */
        }
        steno_session_close(s);
        steno_model_close(m);
    }
    free(a.pcm);
}

static void test_clips_of_other_lengths_are_refused(void **state)
{
    static const struct { enum pk_head head; int32_t rows; const char *says; } row[] = {
        { PK_TDT, 24, "text_ctx is 24, want 25 to 18000" }, { PK_CTC, ROWS_MOST + 1, "text_ctx is 18001, want 25 to 18000" },
        { PK_RNNT, -1, "text_ctx is -1" },
        { PK_STREAM, 100, "text_ctx is for language models, and for models with a choice of the longest clip" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        steno_model *m = NULL;
        steno_error e = { 0 };
        assert_int_equal(open_with_rows(&m, row[i].head, row[i].rows, &e), STENO_EARG);
        if (!strstr(e.text, row[i].says)) fail_msg("'%s', want '%s'", e.text, row[i].says);
        assert_null(m);
    }
}

/* ---- config.json with one setting that is no good ---- */

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A setting of the file: its name and its value as bytes [from, to). */
struct setting_at { char name[64]; size_t from, to; };

/* Finds the next setting from *at on. @return 0: there is none */
static int setting_next(const char *json, size_t *at, struct setting_at *s)
{
    const char *name = strchr(json + *at, '"'), *end = name ? strchr(name + 1, '"') : NULL;
    if (!end || end[1] != ':') return 0;
    snprintf(s->name, sizeof s->name, "%.*s", (int)(end - name - 1), name + 1);
    s->from = (size_t)(end + 3 - json);
    const char first = json[s->from];
    if (first == '"') s->to = s->from + 2 + strcspn(json + s->from + 1, "\"");
    else s->to = s->from + (first == '[' ? strcspn(json + s->from, "]") + 1 : strcspn(json + s->from, ",}"));
    *at = first == '{' ? s->from : s->to;
    return 1;
}

/* Opens the folder with this config.json. */
static int open_with(const struct folder *d, const struct buf *config, const char *what, steno_error *e)
{
    steno_model *m;
    const double begun = cpu_s();
    folder_put(d, "config.json", config->p, config->len);
    const int rc = steno_model_open(&m, d->path, NULL, e);
    steno_model_close(m);
    if (cpu_s() - begun > (SANITIZED ? 10 : 1)) fail_msg("%s: %g s", what, cpu_s() - begun);
    if (rc && rc != STENO_EFORMAT && rc != STENO_EUNSUPPORTED) fail_msg("%s: status %d: %s", what, rc, e->text);
    if (rc && (!strstr(e->text, d->path) || strchr(e->text, '\n'))) fail_msg("%s: %s", what, e->text);
    return rc;
}

/* The setting is missing, of another kind, or a number that cannot be. */
static void try_setting(const struct folder *d, const char *json, const struct setting_at *s)
{
    static const char *const value[] = { "null", "\"x\"", "[]", "[1, [2]]", "{\"a\": 1}", "true", "1.5", "1e300", "0", "-1", "1000000",
                                         "2147483648", "-9223372036854775808", "99999999999999999999" };
    enum { N = sizeof value / sizeof *value, OF_NO_USE = 10 };
    const int is_number = json[s->from] >= '0' && json[s->from] <= '9';
    for (int i = -1; i < N; i++) {
        struct buf b = { 0 };
        char what[128];
        steno_error e = { 0 };
        buf_add(&b, json, i < 0 ? s->from - 3 - strlen(s->name) : s->from);
        if (i < 0) buf_fmt(&b, "no_%s", json + s->from - 3 - strlen(s->name));
        else buf_fmt(&b, "%s%s", value[i], json + s->to);
        snprintf(what, sizeof what, "%s: %s", s->name, i < 0 ? "missing" : value[i]);
        const int rc = open_with(d, &b, what, &e);
        if (is_number && i >= OF_NO_USE && (!rc || (i > OF_NO_USE && !strstr(e.text, s->name))))
            fail_msg("%s: '%s'", what, rc ? e.text : "");
        buf_free(&b);
    }
}

static void test_a_setting_that_is_missing_or_cannot_be_is_refused_in_time(void **state)
{
    (void)state;
    for (int head = PK_CTC; head <= PK_STREAM; head++) {
        const struct folder d = pk_folder((enum pk_head)head);
        struct buf config = { 0 };
        struct setting_at s;
        size_t at = 0;
        int n = 0;
        pk_config(&config, (enum pk_head)head);
        buf_add(&config, "", 1);
        for (; setting_next(config.p, &at, &s); n++) try_setting(&d, config.p, &s);
        assert_int_equal(n, head == PK_CTC ? 15 : head == PK_RNNT ? 20 : head == PK_TDT ? 21 : 24);
        buf_free(&config);
        folder_remove(&d);
    }
}

/* The status is of a damaged model: a vocabulary of another model does not help. */
static void test_a_folder_without_a_tokenizer_is_refused(void **state)
{
    (void)state;
    for (int head = PK_CTC; head <= PK_RNNT; head++) {
        const struct folder d = pk_folder((enum pk_head)head);
        steno_model *m = NULL;
        steno_error e = { 0 };
        char path[512];
        snprintf(path, sizeof path, "%s/tokenizer.json", d.path);
        assert_int_equal(remove(path), 0);
        assert_int_equal(steno_model_open(&m, d.path, NULL, &e), STENO_EFORMAT);
        assert_int_equal(e.status, STENO_EFORMAT);
        if (!strstr(e.text, "no tokenizer") || !strstr(e.text, d.path)) fail_msg("%s", e.text);
        assert_null(m);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clips_are_as_long_as_the_model_was_opened_for),
        cmocka_unit_test(test_a_whole_file_has_one_result_for_every_longest_clip),
        cmocka_unit_test(test_the_memory_of_long_clips_is_known_and_flat),
        cmocka_unit_test(test_clips_of_other_lengths_are_refused),
        cmocka_unit_test(test_a_setting_that_is_missing_or_cannot_be_is_refused_in_time),
        cmocka_unit_test(test_a_folder_without_a_tokenizer_is_refused),
        cmocka_unit_test(test_a_clip_looks_for_a_cancel_between_its_tokens),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
