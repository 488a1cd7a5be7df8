/* steno-serve: metrics as Prometheus' text, format 0.0.4. SPDX-License-Identifier: MIT
 *
 * A name has HELP and TYPE once, before its samples. A route, code or reason that has not occurred has no samples. */
#include "metrics_state.h"
#include "process_values.h"
#include <inttypes.h>
#include <string.h>

struct text {
    struct sink *f;
    const struct metrics *m;
    const struct metrics_counts *c;
    const struct metrics_now *now;
    struct process_values process;
};

/* ---- parts ------------------------------------------------------------------------------------------------------------------- */

static void head(struct sink *f, const char *name, const char *type, const char *help)
{
    sink_format(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void number(struct sink *f, double value)
{
    char text[NUM_SZ];
    if (value >= -9e15 && value <= 9e15 && value == (double)(int64_t)value) sink_format(f, " %" PRId64 "\n", (int64_t)value);
    else sink_format(f, " %s\n", num_repr(text, value));
}

/* NAME{label="value"}; label NULL: none */
static void sample(struct sink *f, const char *name, const char *label, const char *value, double n)
{
    sink_text(f, name);
    if (label) sink_format(f, "{%s=\"%s\"}", label, value);
    number(f, n);
}

static void quoted(struct sink *f, const char *value)
{
    sink_char(f, '"');
    for (; *value; value++) {
        if (*value == '\n') sink_text(f, "\\n");
        else if (*value == '"' || *value == '\\') sink_format(f, "\\%c", *value);
        else sink_char(f, *value);
    }
    sink_char(f, '"');
}

static const char *const le_seconds[BUCKETS] = { "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60", "300", "900", "+Inf" };
static const char *const le_windows[BUCKETS] = { "1", "2", "4", "8", "16", "32", "+Inf" };

static int64_t count(const struct histogram *h)
{
    int64_t n = 0;
    for (int i = 0; i < BUCKETS; i++) n += h->n[i];
    return n;
}

static void histogram(struct sink *f, const char *name, const char *route, const struct histogram *h, const char *const *le)
{
    int64_t below = 0;
    for (int i = 0; i < BUCKETS && le[i]; i++) {
        below += h->n[i];
        sink_format(f, "%s_bucket{", name);
        if (route) sink_format(f, "route=\"%s\",", route);
        sink_format(f, "le=\"%s\"} %" PRId64 "\n", le[i], below);
    }
    static const char *const ends[] = { "_sum", "_count" };
    for (int i = 0; i < 2; i++) {
        sink_format(f, "%s%s", name, ends[i]);
        if (route) sink_format(f, "{route=\"%s\"}", route);
        number(f, i ? (double)below : h->sum);
    }
}

/* ---- requests ---------------------------------------------------------------------------------------------------------------- */

static void put_builds(const struct text *t)
{
    head(t->f, "steno_build_info", "gauge", "Version, and for each model the processor level and the arithmetic; always 1.");
    for (int i = 0; i < t->m->n_builds || i == 0; i++) {
        const struct metrics_build *b = &t->m->build[i];
        const char *const labels[][2] = { { "{version=", t->m->version }, { ",level=", b->level }, { ",model=", b->model },
                                          { ",compute=", b->compute } };
        sink_text(t->f, "steno_build_info");
        for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
            sink_text(t->f, labels[k][0]);
            quoted(t->f, labels[k][1]);
        }
        sink_text(t->f, "} 1\n");
    }
}

static void put_requests(const struct text *t)
{
    head(t->f, "steno_requests_total", "counter", "Requests that are over, by route and status; 499: the client left.");
    for (int r = 0; r < N_ROUTES; r++) {
        for (int i = 0; i < N_STATUSES; i++) {
            if (!t->c->requests[r][i]) continue;
            sink_format(t->f, "steno_requests_total{route=\"%s\",code=\"", route_name((enum route)r));
            if (metrics_status[i]) sink_format(t->f, "%d", metrics_status[i]);
            else sink_text(t->f, "other");
            sink_format(t->f, "\"} %" PRId64 "\n", t->c->requests[r][i]);
        }
    }
    head(t->f, "steno_requests_rejected_total", "counter", "Requests that were refused, by reason.");
    for (int i = 0; i < API_N_CODES; i++)
        if (t->c->rejected[i])
            sample(t->f, "steno_requests_rejected_total", "reason", i == API_OK ? "other" : api_code_name((enum api_code)i),
                   (double)t->c->rejected[i]);
    head(t->f, "steno_requests_canceled_total", "counter", "Requests that ended before their result, by cause.");
    sample(t->f, "steno_requests_canceled_total", "by", "client", (double)t->c->left);
    sample(t->f, "steno_requests_canceled_total", "by", "timeout", (double)t->c->timed_out);
}

static void put_times(const struct text *t)
{
    static const struct { const char *name, *help; } of[N_TIMES] = {
        [TIME_TOTAL] = { "steno_request_duration_seconds", "Time from the head of a request to the end of its response." },
        [TIME_QUEUE] = { "steno_queue_seconds", "Time in the queue, after decoding." },
        [TIME_INGEST] = { "steno_ingest_seconds", "Time of decoding audio." },
        [TIME_FIRST] = { "steno_time_to_first_text_seconds", "Time from the head of a request to the first text." },
    };
    for (int i = 0; i < N_TIMES; i++) {
        head(t->f, of[i].name, "histogram", of[i].help);
        for (int r = 0; r < N_ROUTES; r++)
            if (count(&t->c->time[r][i])) histogram(t->f, of[i].name, route_name((enum route)r), &t->c->time[r][i], le_seconds);
    }
    struct histogram all = { .sum = 0 };
    for (int r = 0; r < N_ROUTES; r++) {
        for (int i = 0; i < BUCKETS; i++) all.n[i] += t->c->time[r][TIME_TOTAL].n[i];
        all.sum += t->c->time[r][TIME_TOTAL].sum;
    }
    head(t->f, "vllm:e2e_request_latency_seconds", "histogram", "As steno_request_duration_seconds of all routes, for dashboards.");
    histogram(t->f, "vllm:e2e_request_latency_seconds", NULL, &all, le_seconds);
}

/* ---- work -------------------------------------------------------------------------------------------------------------------- */

static void put_work(const struct text *t)
{
    static const char *const classes[N_CLASSES] = { [CLASS_FILE] = "file", [CLASS_LIVE] = "live" };
    static const struct { const char *name, *help; } works[N_WORKS] = {
        [WORK_WINDOWS] = { "steno_windows_total", "Windows of audio that were decoded." },
        [WORK_TOKENS] = { "steno_tokens_total", "Tokens of results." },
        [WORK_ENCODES] = { "steno_encodes_total", "Runs of the encoder." },
        [WORK_STEPS] = { "steno_steps_total", "Steps of the decoder." },
    };
#define PHASE_NAME(name) #name,
    static const char *const phases[N_PHASES] = { METRICS_PHASES(PHASE_NAME) };
#undef PHASE_NAME
    head(t->f, "steno_audio_seconds_total", "counter", "Audio that was transcribed, by route.");
    for (int r = 0; r < N_ROUTES; r++)
        if (t->c->audio_s[r] > 0) sample(t->f, "steno_audio_seconds_total", "route", route_name((enum route)r), t->c->audio_s[r]);
    for (int i = 0; i < N_WORKS; i++) {
        head(t->f, works[i].name, "counter", works[i].help);
        for (int k = 0; k < N_CLASSES; k++) sample(t->f, works[i].name, "class", classes[k], (double)t->c->work[k][i]);
    }
    head(t->f, "steno_busy_seconds_total", "counter", "Time of finished requests on models, by phase.");
    for (int i = 0; i < N_PHASES; i++) sample(t->f, "steno_busy_seconds_total", "phase", phases[i], t->c->busy_s[i]);
    head(t->f, "steno_batch_windows", "histogram", "Files that decode together: their number when one of them begins.");
    histogram(t->f, "steno_batch_windows", NULL, &t->c->batch, le_windows);
    head(t->f, "steno_live_lag_seconds", "histogram", "Time from the audio of a live update, or of a stream's words, to the text.");
    histogram(t->f, "steno_live_lag_seconds", NULL, &t->c->lag, le_seconds);
    head(t->f, "steno_live_updates_total", "counter", "Updates of live sessions, by result; dropped: a pass that ended without a text.");
    sample(t->f, "steno_live_updates_total", "result", "done", (double)t->c->updates);
    sample(t->f, "steno_live_updates_total", "result", "dropped", (double)t->c->dropped);
}

/* ---- single values ----------------------------------------------------------------------------------------------------------- */

static void put_singles(const struct text *t)
{
    const struct process_values *p = &t->process;
    const struct { const char *name, *type, *help; double value; } of[] = {
        { "steno_requests_running", "gauge", "Requests that a model works on.", t->now->running },
        { "steno_requests_waiting", "gauge", "Requests in the queue.", t->now->waiting },
        { "steno_live_sessions", "gauge", "Open live sessions.", t->now->live },
        { "steno_live_overloaded", "gauge", "1: no live session is accepted, because texts are later than --live-max-delay.",
          t->now->live_is_late },
        { "steno_ready", "gauge", "1: the server takes requests.", t->now->ready },
        { "steno_spool_bytes", "gauge", "Bytes of temporary files.", (double)t->now->spool_bytes },
        { "steno_models_loaded", "gauge", "Models in memory.", (double)t->now->models_loaded },
        { "steno_model_bytes", "gauge", "Bytes of the weights of loaded models.", (double)t->now->model_bytes },
        { "steno_upload_bytes_total", "counter", "Bytes of request bodies.", (double)t->c->upload_bytes },
        { "steno_live_disagreements_total", "counter", "Words in which a last pass differs from committed text.",
          (double)t->c->disagreements },
        { "vllm:num_requests_running", "gauge", "As steno_requests_running, for dashboards.", t->now->running },
        { "vllm:num_requests_waiting", "gauge", "As steno_requests_waiting, for dashboards.", t->now->waiting },
        { "vllm:websocket_connections_active", "gauge", "As steno_connections of kind websocket, for dashboards.", t->now->websockets },
        { "llamacpp:requests_processing", "gauge", "As steno_requests_running, for dashboards.", t->now->running },
        { "llamacpp:requests_deferred", "gauge", "As steno_requests_waiting, for dashboards.", t->now->waiting },
        { "process_resident_memory_bytes", "gauge", "Memory of the process.", p->resident_bytes },
        { "process_cpu_seconds_total", "counter", "Processor time of the process.", p->cpu_s },
        { "process_open_fds", "gauge", "Open file descriptors.", p->open_fds },
        { "process_max_fds", "gauge", "Maximum number of file descriptors.", p->max_fds },
        { "process_start_time_seconds", "gauge", "Unix time of the start of the process.", p->start_s },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (of[i].value < 0) continue; /* not known */
        head(t->f, of[i].name, of[i].type, of[i].help);
        sample(t->f, of[i].name, NULL, NULL, of[i].value);
    }
    head(t->f, "steno_connections", "gauge", "Open connections, by kind; those of kind websocket count as http, too.");
    sample(t->f, "steno_connections", "kind", "http", t->now->connections);
    sample(t->f, "steno_connections", "kind", "websocket", t->now->websockets);
    sample(t->f, "steno_connections", "kind", "wyoming", t->now->wyoming);
}

void metrics_write(struct metrics *m, struct sink *out, const struct metrics_now *now)
{
    struct text t = { .f = out, .m = m, .c = &m->counts, .now = now };
    process_values(&t.process); /* it reads files: not under the lock */
    pthread_mutex_lock(&m->lock); /* a scrape is short: 2 kB of counters a route */
    put_builds(&t);
    put_requests(&t);
    put_times(&t);
    put_work(&t);
    put_singles(&t);
    pthread_mutex_unlock(&m->lock);
}
