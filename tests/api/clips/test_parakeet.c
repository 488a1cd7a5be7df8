/* steno tests: clips that a transducer decodes. SPDX-License-Identifier: MIT */
#include <time.h>
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

static int tokens_of(const steno_session *s)
{
    int n = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(s, i, &g); i++) n += g.n_tokens;
    return n;
}

/* ---- two requests, each with a clip in the same run ---- */

struct asked { int calls, stop_at; };

static int should_abort(void *user)
{
    struct asked *a = user;
    return ++a->calls == a->stop_at;
}

struct pair { steno_batch *b; steno_session *s[2]; struct asked asked[2]; struct tap tap[2]; };

static void pair_open(struct pair *x)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 2;
    assert_int_equal(steno_batch_open(&x->b, tdt, NULL, &bp, NULL), 0);
    sp.batch = x->b;
    for (int i = 0; i < 2; i++) assert_int_equal(steno_session_open(&x->s[i], tdt, NULL, &sp, NULL), 0);
}

static void pair_run(struct pair *x)
{
    for (int i = 0; i < 2; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.should_abort = should_abort;
        p.user = &x->asked[i];
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
    struct pair x = { 0 };
    pair_open(&x);
    pair_run(&x);
    const int n = tokens_of(x.s[0]);
    const uint64_t want = result_digest(x.s[0]);
    assert_true(n > 100);
    assert_true(result_digest(x.s[1]) == want);
    for (int i = 0; i < 2; i++) assert_true(x.asked[i].calls > n);
    for (int i = 0; i < 2; i++) {
        x.asked[i].stop_at = n / 2;
        pair_run(&x);
        assert_non_null(strstr(steno_last_error(x.s[i]), "cancel"));
        assert_int_equal(x.asked[i].calls, n / 2); /* not asked again */
        assert_int_equal(tokens_of(x.s[i]), 0);
        assert_true(result_digest(x.s[!i]) == want);
        x.asked[i].stop_at = 0;
    }
    pair_run(&x);
    assert_true(result_digest(x.s[0]) == want && result_digest(x.s[1]) == want);
    pair_close(&x);
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
    for (int head = PK_CTC; head <= PK_RNNT; head++) {
        const struct folder d = pk_folder((enum pk_head)head);
        struct buf config = { 0 };
        struct setting_at s;
        size_t at = 0;
        int n = 0;
        pk_config(&config, (enum pk_head)head);
        buf_add(&config, "", 1);
        for (; setting_next(config.p, &at, &s); n++) try_setting(&d, config.p, &s);
        assert_int_equal(n, head == PK_CTC ? 15 : head == PK_RNNT ? 20 : 21);
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
        cmocka_unit_test(test_a_setting_that_is_missing_or_cannot_be_is_refused_in_time),
        cmocka_unit_test(test_a_folder_without_a_tokenizer_is_refused),
        cmocka_unit_test(test_a_clip_looks_for_a_cancel_between_its_tokens),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
