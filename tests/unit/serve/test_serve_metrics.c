/* steno: metrics are Prometheus' text format, with the values that were counted. SPDX-License-Identifier: MIT
 *
 * The text is read by a checker that knows the format 0.0.4 only: names, HELP and TYPE once and before the samples, samples of a name
 * together, escapes, no sample twice, histograms that rise to +Inf. */
#include "harness.h"
#include "metrics.h"
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* ---- the checker ------------------------------------------------------------------------------------------------------------- */

enum { FAMILIES_MAX = 128, SAMPLES_MAX = 4096, SERIES_SZ = 512 };

struct checked {
    char family[FAMILIES_MAX][80], type[FAMILIES_MAX][16];
    int n_families;
    char series[SAMPLES_MAX][SERIES_SZ]; /* name and labels as written */
    double value[SAMPLES_MAX];
    int n;
};

static struct checked got;

static size_t name_length(const char *s, int colons)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*s) && *s != '_' && !(colons && *s == ':')) return 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_' || (colons && s[n] == ':')) n++;
    return n;
}

/* {a="b",c="d"} at s. @return its end */
static const char *labels_end(const char *s)
{
    assert_int_equal(*s, '{');
    do {
        const size_t n = name_length(++s, 0);
        assert_true(n && s[n] == '=' && s[n + 1] == '"');
        for (s += n + 2; *s != '"'; s++) {
            assert_true(*s && *s != '\n');
            if (*s != '\\') continue;
            s++;
            assert_true(*s == '\\' || *s == '"' || *s == 'n');
        }
        s++;
    } while (*s == ',');
    assert_int_equal(*s, '}');
    return s + 1;
}

static void check_comment(const char *line, const char *end)
{
    static char const *const types[] = { "counter", "gauge", "histogram" };
    const int is_type = !strncmp(line, "# TYPE ", 7);
    assert_true(is_type || !strncmp(line, "# HELP ", 7));
    const size_t n = name_length(line + 7, 1);
    assert_true(n && n < sizeof got.family[0] && line[7 + n] == ' ' && line + 8 + n < end);
    if (!is_type) {
        assert_in_range(got.n_families, 0, FAMILIES_MAX - 1);
        snprintf(got.family[got.n_families], sizeof got.family[0], "%.*s", (int)n, line + 7);
        got.type[got.n_families][0] = '\0';
        for (int i = 0; i < got.n_families; i++) {
            assert_string_not_equal(got.family[i], got.family[got.n_families]);
            assert_true(got.type[i][0]);
        }
        got.n_families++;
        return;
    }
    const int at = got.n_families - 1;
    assert_true(at >= 0 && strlen(got.family[at]) == n && !memcmp(got.family[at], line + 7, n) && !got.type[at][0]);
    snprintf(got.type[at], sizeof got.type[0], "%.*s", (int)(end - line - 8 - (int)n), line + 8 + n);
    int known = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) known |= !strcmp(types[i], got.type[at]);
    assert_true(known);
    const int is_total = n > 6 && !strcmp(got.family[at] + n - 6, "_total");
    assert_int_equal(is_total, !strcmp(got.type[at], "counter"));
}

static void check_sample(const char *line, const char *end)
{
    const size_t n = name_length(line, 1), family = strlen(got.family[got.n_families - 1]);
    assert_true(n >= family && !memcmp(line, got.family[got.n_families - 1], family));
    const char *suffix = line + family;
    const int part = !strncmp(suffix, "_bucket{", 8) || !strncmp(suffix, "_sum", 4) || !strncmp(suffix, "_count", 6);
    assert_int_equal(n > family, !strcmp(got.type[got.n_families - 1], "histogram"));
    assert_true(n == family || part);
    const char *at = line[n] == '{' ? labels_end(line + n) : line + n;
    assert_true(*at == ' ' && at - line < SERIES_SZ);
    assert_in_range(got.n, 0, SAMPLES_MAX - 1);
    snprintf(got.series[got.n], SERIES_SZ, "%.*s", (int)(at - line), line);
    for (int i = 0; i < got.n; i++) assert_string_not_equal(got.series[i], got.series[got.n]);
    char *rest;
    got.value[got.n++] = strtod(at + 1, &rest);
    assert_true(rest == end && rest > at + 1);
}

/* The samples of a histogram follow each other: buckets, sum, count. */
static void check_histograms(void)
{
    double last = 0;
    for (int i = 0; i < got.n; i++) {
        if (strstr(got.series[i], "_bucket{")) {
            assert_true(got.value[i] >= last);
            last = got.value[i];
        } else {
            const int is_end = !!strstr(got.series[i], "_sum") && strstr(got.series[i > 0 ? i - 1 : 0], "+Inf\"");
            if (is_end) {
                assert_non_null(strstr(got.series[i + 1], "_count"));
                assert_true(got.value[i + 1] == last);
            }
            last = 0;
        }
    }
}

static void check(struct metrics *m, const struct metrics_now *now)
{
    struct sink_memory text = { 0 };
    struct sink f = sink_to_memory(&text);
    metrics_write(m, &f, now);
    assert_false(f.failed);
    assert_int_equal(text.p[text.n - 1], '\n');
    assert_int_equal(strlen(text.p), text.n);
    got.n = got.n_families = 0;
    for (const char *line = text.p; *line;) {
        const char *end = strchr(line, '\n');
        if (*line == '#') check_comment(line, end);
        else check_sample(line, end);
        line = end + 1;
    }
    check_histograms();
    free(text.p);
}

static double value(const char *series)
{
    for (int i = 0; i < got.n; i++)
        if (!strcmp(got.series[i], series)) return got.value[i];
    fail_msg("%s is absent", series);
    return 0;
}

static int has(const char *series)
{
    for (int i = 0; i < got.n; i++)
        if (!strcmp(got.series[i], series)) return 1;
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

static const struct metrics_now idle = { .ready = 1 };

static void test_a_new_server_has_every_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "steno_build_info", "steno_requests_total", "steno_requests_running", "steno_requests_waiting", "steno_requests_rejected_total",
        "steno_requests_canceled_total", "steno_request_duration_seconds", "steno_queue_seconds", "steno_ingest_seconds",
        "steno_time_to_first_text_seconds", "steno_batch_windows", "steno_audio_seconds_total", "steno_windows_total", "steno_tokens_total",
        "steno_encodes_total", "steno_steps_total", "steno_busy_seconds_total", "steno_live_sessions", "steno_live_lag_seconds",
        "steno_live_updates_total", "steno_live_disagreements_total", "steno_upload_bytes_total", "steno_spool_bytes", "steno_connections",
        "process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_start_time_seconds",
        "vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:e2e_request_latency_seconds", "llamacpp:requests_processing",
        "llamacpp:requests_deferred", "steno_live_overloaded",
    };
    struct metrics *m = metrics_open("1.2.3");
    check(m, &idle);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int found = 0;
        for (int k = 0; k < got.n_families; k++) found += !strcmp(got.family[k], names[i]);
        if (found != 1) fail_msg("%s is there %d times", names[i], found);
    }
    assert_true(value("steno_build_info{version=\"1.2.3\",level=\"\",model=\"\",compute=\"\"}") == 1);
    assert_true(value("steno_batch_windows_count") == 0);
    metrics_close(m);
}

static void test_label_values_are_escaped(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    char long_name[1000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    metrics_model(m, "a\"b\\c\nd", "avx2", "int8");
    metrics_model(m, long_name, "avx2", "int8");
    for (int i = 0; i < 2 * METRICS_MODELS; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        metrics_model(m, name, "c", "f32");
    }
    check(m, &idle);
    assert_true(value("steno_build_info{version=\"1\",level=\"avx2\",model=\"a\\\"b\\\\c\\nd\",compute=\"int8\"}") == 1);
    metrics_close(m);
}

static void test_requests_are_counted_where_they_belong(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    struct metrics_request r = { .route = ROUTE_TRANSCRIPTIONS, .status = 200, .total_s = 2, .queue_s = 0.05, .ingest_s = 0.0501,
                                 .first_text_s = -1, .audio_s = 12.5, .bytes_in = 1000, .n_windows = 3, .n_tokens = 40, .n_encodes = 2,
                                 .n_steps = 50 };
    const steno_timings t = { .size = sizeof t, .n_windows = 5, .n_encodes = 4, .n_steps = 60, .encode_us = 250000, .decode_us = 1000000 };
    metrics_request(m, &r);
    r.total_s = 901;
    metrics_request(m, &r);
    metrics_request_take(&r, &t);
    r.route = ROUTE_REALTIME;
    r.status = 499;
    metrics_request(m, &r);
    r.status = 799;
    metrics_request(m, &r);
    r.status = 504;
    metrics_request(m, &r);
    check(m, &(struct metrics_now){ .running = 3, .waiting = 7, .live = 2, .connections = 9, .spool_bytes = 1LL << 33, .websockets = 4 });
    assert_true(value("steno_requests_total{route=\"transcriptions\",code=\"200\"}") == 2);
    assert_true(value("steno_requests_total{route=\"realtime\",code=\"499\"}") == 1);
    assert_true(value("steno_requests_total{route=\"realtime\",code=\"other\"}") == 1);
    assert_true(value("steno_requests_canceled_total{by=\"client\"}") == 1);
    assert_true(value("steno_requests_canceled_total{by=\"timeout\"}") == 1);
    assert_true(value("steno_request_duration_seconds_bucket{route=\"transcriptions\",le=\"1\"}") == 0);
    assert_true(value("steno_request_duration_seconds_bucket{route=\"transcriptions\",le=\"2.5\"}") == 1);
    assert_true(value("steno_request_duration_seconds_bucket{route=\"transcriptions\",le=\"900\"}") == 1);
    assert_true(value("steno_request_duration_seconds_bucket{route=\"transcriptions\",le=\"+Inf\"}") == 2);
    assert_true(value("steno_request_duration_seconds_sum{route=\"transcriptions\"}") == 903);
    assert_true(value("steno_queue_seconds_bucket{route=\"transcriptions\",le=\"0.05\"}") == 2);
    assert_true(value("steno_ingest_seconds_bucket{route=\"transcriptions\",le=\"0.05\"}") == 0);
    assert_true(value("vllm:e2e_request_latency_seconds_count") == 5);
    assert_false(has("steno_time_to_first_text_seconds_count{route=\"transcriptions\"}"));
    assert_true(value("steno_audio_seconds_total{route=\"transcriptions\"}") == 25);
    assert_true(value("steno_windows_total{class=\"file\"}") == 6);
    assert_true(value("steno_windows_total{class=\"live\"}") == 15);
    assert_true(value("steno_steps_total{class=\"live\"}") == 180);
    assert_true(value("steno_busy_seconds_total{phase=\"encode\"}") == 0.75);
    assert_true(value("steno_upload_bytes_total") == 5000);
    assert_true(value("steno_requests_running") == 3 && value("llamacpp:requests_deferred") == 7);
    assert_true(value("steno_spool_bytes") == 8589934592.0 && value("steno_connections{kind=\"websocket\"}") == 4);
    metrics_close(m);
}

static void test_reasons_batches_and_live_updates(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    metrics_rejected(m, "queue_full");
    metrics_rejected(m, "queue_full");
    metrics_rejected(m, "a\nb\"} 7");
    for (int i = 0; i <= 33; i++) metrics_request(m, &(struct metrics_request){ .n_together = i });
    metrics_live_update(m, 0.5);
    metrics_live_update(m, -1);
    metrics_live_disagreements(m, 4);
    metrics_live_disagreements(m, -9);
    check(m, &idle);
    assert_true(value("steno_requests_rejected_total{reason=\"queue_full\"}") == 2);
    assert_true(value("steno_requests_rejected_total{reason=\"other\"}") == 1);
    assert_true(value("steno_batch_windows_bucket{le=\"1\"}") == 1);
    assert_true(value("steno_batch_windows_bucket{le=\"8\"}") == 8);
    assert_true(value("steno_batch_windows_bucket{le=\"+Inf\"}") == 33);
    assert_true(value("steno_live_updates_total{result=\"done\"}") == 1 && value("steno_live_updates_total{result=\"dropped\"}") == 1);
    assert_true(value("steno_live_lag_seconds_count") == 1);
    assert_true(value("steno_live_disagreements_total") == 4);
    metrics_close(m);
}

/* Times that are no numbers, and routes that do not exist. */
static void test_wrong_values_do_not_spoil_the_text(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    const double wrong[] = { NAN, INFINITY, -INFINITY, -1 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct metrics_request r = { .route = (enum route)(N_ROUTES + 1), .total_s = wrong[i], .queue_s = wrong[i], .audio_s = wrong[i],
                                     .bytes_in = -5, .n_windows = -1 };
        r.busy_s[PHASE_mel] = wrong[i];
        metrics_request(m, &r);
    }
    check(m, &idle);
    assert_true(value("steno_requests_total{route=\"none\",code=\"other\"}") == 4);
    assert_true(value("steno_busy_seconds_total{phase=\"mel\"}") == 0 && value("steno_upload_bytes_total") == 0);
    metrics_close(m);
}

static void test_values_of_the_process_are_plausible(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    check(m, &idle);
    const double start = value("process_start_time_seconds"), now = (double)time(NULL);
    assert_true(start <= now + 2 && start > now - 86400);
    assert_true(value("process_resident_memory_bytes") > 1e5 && value("process_cpu_seconds_total") >= 0);
    assert_true(value("process_open_fds") >= 3 && value("process_max_fds") >= value("process_open_fds"));
    metrics_close(m);
}

static void *count_many(void *user)
{
    const struct metrics_request r = { .route = ROUTE_ASR, .status = 200, .total_s = 1 };
    for (int i = 0; i < 1000; i++) metrics_request(user, &r);
    return NULL;
}

static void test_threads_count_together(void **state)
{
    (void)state;
    struct metrics *m = metrics_open("1");
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, count_many, m), 0);
    check(m, &idle);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    check(m, &idle);
    assert_true(value("steno_requests_total{route=\"asr\",code=\"200\"}") == 4000);
    metrics_close(m);
    metrics_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_server_has_every_name),
        cmocka_unit_test(test_label_values_are_escaped),
        cmocka_unit_test(test_requests_are_counted_where_they_belong),
        cmocka_unit_test(test_reasons_batches_and_live_updates),
        cmocka_unit_test(test_wrong_values_do_not_spoil_the_text),
        cmocka_unit_test(test_values_of_the_process_are_plausible),
        cmocka_unit_test(test_threads_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
