/* steno-serve: counters and histograms in Prometheus' text format 0.0.4. SPDX-License-Identifier: MIT
 *
 * Names and labels come from fixed tables, never from clients. Any thread. */
#ifndef STENO_SERVE_METRICS_H
#define STENO_SERVE_METRICS_H
#include "sink.h"
#include <stdint.h>
#include <steno/steno.h>

enum route { ROUTE_TRANSCRIPTIONS, ROUTE_TRANSLATIONS, ROUTE_CHAT, ROUTE_EMBEDDINGS, ROUTE_MODELS, ROUTE_INFERENCE, ROUTE_ASR, ROUTE_DETECT,
             ROUTE_REALTIME, ROUTE_LISTEN, ROUTE_STREAM, ROUTE_WYOMING, ROUTE_PAGE, ROUTE_OPS, ROUTE_NONE, N_ROUTES };
const char *route_name(enum route r); /* label */

struct metrics;
struct metrics *metrics_open(const char *version); /* NULL: out of memory */
void metrics_close(struct metrics *m);

/* A model: labels of steno_build_info. At most METRICS_MODELS; the texts are copied. */
enum { METRICS_MODELS = 32, METRICS_TEXT_SZ = 128 };
void metrics_model(struct metrics *m, const char *model, const char *level, const char *compute);

/* Phases of a model's work, in the order of steno_timings. X(name) */
#define METRICS_PHASES(X) X(source) X(mel) X(encode) X(cross) X(prompt) X(decode)
#define METRICS_PHASE(name) PHASE_##name,
enum metrics_phase { METRICS_PHASES(METRICS_PHASE) N_PHASES };
#undef METRICS_PHASE

/* A request is over. Times in seconds; negative: not known. */
struct metrics_request {
    enum route route;
    int status;              /* 499: the client left */
    double total_s, queue_s, ingest_s, first_text_s, audio_s;
    int64_t bytes_in;
    int n_together;          /* requests that the model worked on when this one began; 0: it did not begin */
    int64_t n_windows, n_tokens, n_encodes, n_steps;
    double busy_s[N_PHASES];
};
void metrics_request_take(struct metrics_request *r, const steno_timings *t); /* sets n_windows, n_encodes, n_steps, busy_s */
void metrics_request(struct metrics *m, const struct metrics_request *r);
void metrics_rejected(struct metrics *m, const char *code); /* a code of API_ERRORS */
void metrics_live_update(struct metrics *m, double lag_s);  /* negative: a pass ended without a text */
void metrics_live_disagreements(struct metrics *m, int64_t words);

/* Values that are read when the text is written. */
struct metrics_now {
    int running, waiting, live, live_is_late, connections;
    int64_t spool_bytes, models_loaded, model_bytes;
    int ready;
    int websockets, wyoming; /* connections of these kinds; `connections` includes websockets */
};
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void metrics_write(struct metrics *m, struct sink *out, const struct metrics_now *now);
#endif
