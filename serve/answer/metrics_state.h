/* steno-serve: what metrics.c counts and metrics_text.c writes. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_METRICS_STATE_H
#define STENO_SERVE_METRICS_STATE_H
#include "api_error.h"
#include "metrics.h"
#include <pthread.h>

/* Bounds of histograms: seconds, and windows. */
enum { N_SECONDS = 12, N_WINDOWS = 6, BUCKETS = N_SECONDS + 1 };

struct histogram {
    int64_t n[BUCKETS]; /* values up to each bound, but above the one before; then those above all */
    double sum;
};

/* Histograms of requests, by route. */
enum { TIME_TOTAL, TIME_QUEUE, TIME_INGEST, TIME_FIRST, N_TIMES };
enum { WORK_WINDOWS, WORK_TOKENS, WORK_ENCODES, WORK_STEPS, N_WORKS };
enum { CLASS_FILE, CLASS_LIVE, N_CLASSES };
enum { N_STATUSES = 27 }; /* of metrics_status */

struct metrics_counts {
    int64_t requests[N_ROUTES][N_STATUSES];
    struct histogram time[N_ROUTES][N_TIMES];
    double audio_s[N_ROUTES];
    int64_t upload_bytes, work[N_CLASSES][N_WORKS], rejected[API_N_CODES], left, timed_out;
    double busy_s[N_PHASES];
    struct histogram batch, lag;
    int64_t updates, dropped, disagreements;
};

struct metrics_build { char model[METRICS_TEXT_SZ], level[METRICS_TEXT_SZ], compute[METRICS_TEXT_SZ]; };

struct metrics {
    pthread_mutex_t lock;
    struct metrics_counts counts;
    struct metrics_build build[METRICS_MODELS];
    int n_builds;
    char version[METRICS_TEXT_SZ];
};

extern const int metrics_status[N_STATUSES]; /* label `code`; 0: another one */
#endif
