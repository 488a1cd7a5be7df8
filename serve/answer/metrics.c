/* steno-serve: counters and histograms. SPDX-License-Identifier: MIT */
#include "metrics_state.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int metrics_status[N_STATUSES] = { 200, 101, 204, 206, 304, 400, 401, 403, 404, 405, 408, 411, 413, 414,
                                         415, 417, 422, 426, 429, 431, 499, 500, 501, 503, 504, 505, 0 };

const char *route_name(enum route r)
{
    static const char *const names[N_ROUTES] = {
        [ROUTE_TRANSCRIPTIONS] = "transcriptions", [ROUTE_TRANSLATIONS] = "translations", [ROUTE_CHAT] = "chat",
        [ROUTE_EMBEDDINGS] = "embeddings", [ROUTE_MODELS] = "models", [ROUTE_INFERENCE] = "inference", [ROUTE_ASR] = "asr",
        [ROUTE_DETECT] = "detect", [ROUTE_REALTIME] = "realtime", [ROUTE_LISTEN] = "listen", [ROUTE_STREAM] = "stream",
        [ROUTE_WYOMING] = "wyoming", [ROUTE_PAGE] = "page", [ROUTE_OPS] = "ops", [ROUTE_NONE] = "none",
    };
    return (unsigned)r < N_ROUTES ? names[r] : names[ROUTE_NONE];
}

struct metrics *metrics_open(const char *version)
{
    struct metrics *m = calloc(1, sizeof *m);
    if (!m || pthread_mutex_init(&m->lock, NULL)) {
        free(m);
        return NULL;
    }
    snprintf(m->version, sizeof m->version, "%s", version);
    return m;
}

void metrics_close(struct metrics *m)
{
    if (!m) return;
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void metrics_model(struct metrics *m, const char *model, const char *level, const char *compute)
{
    pthread_mutex_lock(&m->lock);
    if (m->n_builds < METRICS_MODELS) {
        struct metrics_build *b = &m->build[m->n_builds++];
        snprintf(b->model, sizeof b->model, "%s", model);
        snprintf(b->level, sizeof b->level, "%s", level);
        snprintf(b->compute, sizeof b->compute, "%s", compute);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- counting ---------------------------------------------------------------------------------------------------------------- */

static const double seconds[N_SECONDS] = { .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900 };
static const double windows[N_WINDOWS] = { 1, 2, 4, 8, 16, 32 };

static void observe(struct histogram *h, const double *bound, int n, double value)
{
    int i = 0;
    if (!isfinite(value) || value < 0) return;
    while (i < n && value > bound[i]) i++;
    h->n[i]++;
    h->sum += value;
}

static int status_at(int status)
{
    int i = 0;
    while (metrics_status[i] && metrics_status[i] != status) i++;
    return i;
}

static int class_of(enum route r)
{
    return r == ROUTE_REALTIME || r == ROUTE_LISTEN || r == ROUTE_STREAM || r == ROUTE_WYOMING ? CLASS_LIVE : CLASS_FILE;
}

static int64_t count_of(int64_t n)
{
    return n > 0 ? n : 0;
}

void metrics_request_take(struct metrics_request *r, const steno_timings *t)
{
    const int64_t us[N_PHASES] = { t->source_us, t->mel_us, t->encode_us, t->cross_us, t->prompt_us, t->decode_us };
    r->n_windows = t->n_windows;
    r->n_encodes = t->n_encodes;
    r->n_steps = t->n_steps;
    for (int i = 0; i < N_PHASES; i++) r->busy_s[i] = (double)us[i] / 1e6;
}

void metrics_request(struct metrics *m, const struct metrics_request *r)
{
    const enum route route = (unsigned)r->route < N_ROUTES ? r->route : ROUTE_NONE;
    const double time[N_TIMES] = { r->total_s, r->queue_s, r->ingest_s, r->first_text_s };
    const int64_t work[N_WORKS] = { r->n_windows, r->n_tokens, r->n_encodes, r->n_steps };
    pthread_mutex_lock(&m->lock);
    struct metrics_counts *c = &m->counts;
    c->requests[route][status_at(r->status)]++;
    c->left += r->status == 499;
    c->timed_out += r->status == 504;
    for (int i = 0; i < N_TIMES; i++) observe(&c->time[route][i], seconds, N_SECONDS, time[i]);
    for (int i = 0; i < N_WORKS; i++) c->work[class_of(route)][i] += count_of(work[i]);
    for (int i = 0; i < N_PHASES; i++)
        if (isfinite(r->busy_s[i]) && r->busy_s[i] > 0) c->busy_s[i] += r->busy_s[i];
    if (isfinite(r->audio_s) && r->audio_s > 0) c->audio_s[route] += r->audio_s;
    if (r->n_together > 0) observe(&c->batch, windows, N_WINDOWS, r->n_together);
    c->upload_bytes += count_of(r->bytes_in);
    pthread_mutex_unlock(&m->lock);
}

void metrics_rejected(struct metrics *m, const char *code)
{
    int i = API_OK + 1;
    while (i < API_N_CODES && strcmp(api_code_name((enum api_code)i), code) != 0) i++;
    pthread_mutex_lock(&m->lock);
    m->counts.rejected[i < API_N_CODES ? i : API_OK]++; /* API_OK: another reason */
    pthread_mutex_unlock(&m->lock);
}

void metrics_live_update(struct metrics *m, double lag_s)
{
    pthread_mutex_lock(&m->lock);
    if (lag_s < 0) m->counts.dropped++;
    else m->counts.updates++;
    observe(&m->counts.lag, seconds, N_SECONDS, lag_s);
    pthread_mutex_unlock(&m->lock);
}

void metrics_live_disagreements(struct metrics *m, int64_t words)
{
    pthread_mutex_lock(&m->lock);
    m->counts.disagreements += count_of(words);
    pthread_mutex_unlock(&m->lock);
}
