/* steno-serve: models, their batches, and the requests that wait for them. SPDX-License-Identifier: MIT
 *
 * Each model has one thread that runs its batch: windows of all requests share runs. Audio is decoded before, by `n_ingest` threads, into
 * an unlinked spool file, so that a bad file fails at once and the batch never waits for a decoder. A model that was idle for a while is
 * closed, and opened again by the next request. */
#ifndef STENO_SERVE_ENGINES_H
#define STENO_SERVE_ENGINES_H
#include "api_error.h"
#include "input.h"
#include "job.h"
#include "serve.h"
#include "spool.h"

struct engines;
struct engine; /* one model */

int engines_open(struct engines **out, const struct serve_params *p, struct spool *spool, steno_error *e); /* opens the models */
void engines_drain(struct engines *es);  /* refuse new work; what waits ends with API_draining, what runs goes on */
int engines_running(const struct engines *es); /* pieces of work that have begun and not ended */
void engines_cancel(struct engines *es); /* end all work */
void engines_close(struct engines *es);

/* By id, alias, name of its file or folder, its last component, OpenAI's names of models, or "" for the default. NULL: none. */
struct engine *engines_find(struct engines *es, const char *name);
struct engine *engines_at(struct engines *es, int i); /* NULL past the last one */
const char *engine_id(const struct engine *g);
int64_t engine_created(const struct engine *g); /* Unix time of its file */
int engine_is_loaded(const struct engine *g);
int engines_ready(const struct engines *es);    /* all that load at the start are loaded */
/* Description, also while the model is not loaded; of its last loading. @return 0, or -1: it was never loaded */
int engine_info(const struct engine *g, steno_model_info *out);

/* ---- a file as work ---------------------------------------------------------------------------------------------------------- */

/* Embedded in a request. The caller sets what is above the line, and submits it once. */
struct work {
    void *user;
    struct engine *engine;
    int fd;              /* the file, owned by the work from work_submit on */
    const char *name;    /* for messages */
    const char *ext;     /* hint of its format; may be NULL */
    int priority;        /* -1 low, 0, 1 high */
    const char *client;  /* clients share the decode slots fairly */
    double timeout_s;    /* from now on; 0: the server's rule */
    /* Changes `job`, a copy of the model's defaults; the model is open. On an ingest thread. @return API_OK or a code, in *e */
    int (*prepare)(struct work *w, const steno_model *m, struct api_error *e);
    /* The audio is decoded, and the request is queued. On an ingest thread */
    void (*admitted)(struct work *w);
    /* A segment that no later attempt replaces; the transcript. On the thread of the model */
    void (*segment)(struct work *w, const steno_segment *seg);
    void (*output)(struct work *w, struct transcript *t);
    /* The last call: API_OK after `output`, or the reason. Not called if work_submit refused. On any thread */
    void (*ended)(struct work *w, const struct api_error *e);
    /* ---- */
    struct job job;
    struct job_input input;
    steno_session *session;
    int64_t submitted_us, ingested_us, queued_us, first_us, ended_us; /* monotonic clock; 0: not reached */
    int64_t audio_ms;
    steno_timings timings;
    volatile int cancelled;
    void *internal;
};

/* @return API_OK; API_queue_full (with retry_after_s), API_draining, API_spool_full, in *e; w is then as before, without its fd */
int work_submit(struct work *w, struct api_error *e);
void work_cancel(struct work *w); /* any thread, until `ended` has returned: it ends soon */

/* ---- sessions for live audio ------------------------------------------------------------------------------------------------- */

/* Holds the model open, with a session of its batch. @return API_OK; API_too_many_sessions, API_draining, API_loading, in *e */
int engine_session(struct engine *g, steno_session **s, const struct serve_engine **of, struct api_error *e);
void engine_session_end(struct engine *g, steno_session *s);
/* Runs a request of the batch and waits for it. @return its status */
int engine_transcribe(struct engine *g, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int priority);
#endif
