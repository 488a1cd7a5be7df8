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
void engines_close(struct engines *es);  /* ends all work; waits until live sessions are ended */

/* By id, alias, name of its file or folder, its last component, OpenAI's names of models, or "" for the default. NULL: none. */
struct engine *engines_find(struct engines *es, const char *name);
/* The same for work of a kind, calls: one of ENGINE_.... Where the name means the default: the first that can do it. @return NULL with the
 * reason in *e */
struct engine *engines_for(struct engines *es, const char *name, unsigned calls, struct api_error *e);
int engines_unknown(const struct engines *es, const char *name, struct api_error *e); /* @return API_model_not_found, in *e */
struct engine *engines_at(struct engines *es, int i); /* NULL past the last one */
const char *engine_id(const struct engine *g);
int64_t engine_created(const struct engine *g); /* Unix time of its file */
int engine_is_loaded(const struct engine *g);
int engines_ready(const struct engines *es);    /* all that load at the start are loaded */
/* Description, also while the model is not loaded; of its last loading. @return 0, or -1: it was never loaded */
int engine_info(const struct engine *g, steno_model_info *out);
enum { ENGINE_LANGUAGES_MAX = 255 };
const char *const *engine_languages(const struct engine *g); /* codes, ending with NULL; NULL: it was never loaded */
/* The code of a language by its code or name; NULL or "": none. @return API_OK or API_invalid_value, in *e: no such language, or the model
 * does not have it */
int engine_language(const struct engine *g, const char *name, const char **code, struct api_error *e);
int engine_decodes_chunks(const struct engine *g); /* 1: of live audio each chunk once, and its text is not changed at its end */
int engine_finds_turns(const struct engine *g); /* 1: it has voice activity detection, or it was never loaded */
enum { ENGINE_TRANSCRIBES = 1, ENGINE_GENERATES = 2, ENGINE_EMBEDS = 4 };
unsigned engine_calls(const struct engine *g); /* bits: what the model can do */

struct engines_now { int running, waiting, live, loaded, is_late; int64_t memory; }; /* is_late: as engine_keeps_up */
struct engines_now engines_now(struct engines *es); /* for metrics */

/* ---- a file as work ---------------------------------------------------------------------------------------------------------- */

/* Embedded in a request. The caller sets what is above the line, and submits it once. A file has one transcript: of its mix or one
 * channel, and one track. */
struct work {
    void *user;
    struct engine *engine;
    int fd;              /* the file, owned by the work from work_submit on */
    const char *name;    /* for messages */
    int priority;        /* -1 low, 0, 1 high */
    const char *client;  /* clients share the decode slots fairly; copied; may be NULL */
    /* Changes `job`, a copy of the model's defaults, and use_vad; the model is open. On an ingest thread; may be NULL. @return API_OK or a
     * code, in *e */
    int (*prepare)(struct work *w, const steno_model *m, struct api_error *e);
    /* The audio is decoded, and the request is queued. On an ingest thread */
    void (*admitted)(struct work *w);
    /* A segment that no later attempt replaces; the transcript. On the thread of the model. Each callback may be NULL, except `ended` */
    void (*segment)(struct work *w, const steno_segment *seg);
    void (*output)(struct work *w, struct transcript *t);
    /* The last call: API_OK after `output`, or the reason. Not called if work_submit refused. On any thread */
    void (*ended)(struct work *w, const struct api_error *e);
    /* ---- */
    struct job job;
    int use_vad;         /* 1: voice activity detection. Before prepare: that of the model's defaults */
    const steno_model *vad; /* in prepare: the detector of the model; NULL: none */
    struct job_input input;
    steno_session *session; /* in `segment` and `output` */
    /* Monotonic clock; 0: not reached. It was submitted; its audio is decoded; its first segment */
    int64_t submitted_us, ingested_us, first_us;
    int64_t audio_ms;
    int n_together;        /* number of requests that the model worked on when this one began, itself included; 0: it did not begin */
    steno_timings timings; /* in `ended`, if it ran */
    void *internal;
};

/* @return API_OK; API_queue_full, API_loading (with retry_after_s), API_draining, API_internal_error (out of memory), in *e; w is then as
 * before, without its fd */
int work_submit(struct work *w, struct api_error *e);
/* Any thread, until `ended` has returned: it ends soon, with API_cancelled. Of work that was not submitted: no effect */
void work_cancel(struct work *w);

/* ---- work of a language model ------------------------------------------------------------------------------------------------ */

/* A text that is generated after ids, or vectors of texts. Embedded in a request, as struct work. */
struct lm_work {
    void *user;
    struct engine *engine;
    const char *client;  /* copied; may be NULL */
    /* Sets what is below the line; the model is open. On an ingest thread. @return API_OK or a code, in *e */
    int (*prepare)(struct lm_work *w, const steno_model *m, struct api_error *e);
    /* As on_token of steno_generate_params; non-zero ends the text. On the thread of the model; may be NULL */
    int (*token)(struct lm_work *w, const struct steno_token *tok, const char *text, size_t n);
    void (*output)(struct lm_work *w); /* results can be read from `session`; may be NULL */
    /* The last call: API_OK after `output`, or the reason. Not called if lm_work_submit refused. On any thread */
    void (*ended)(struct lm_work *w, const struct api_error *e);
    /* ---- set by prepare; the memory must stay until `ended` */
    const int32_t *ids;             /* [n_ids] the text continues these */
    int n_ids;
    steno_generate_params generate; /* holds the defaults before prepare; callbacks are overwritten */
    const char *const *texts;       /* [n_texts] or: vectors of these */
    int n_texts;
    steno_embed_params embed;       /* as generate */
    /* ---- */
    steno_session *session;
    steno_timings timings;
    void *internal;
};

int lm_work_submit(struct lm_work *w, struct api_error *e); /* as work_submit */
void lm_work_cancel(struct lm_work *w);             /* as work_cancel */

/* ---- sessions for live audio ------------------------------------------------------------------------------------------------- */

/* Holds the model open, with a session of its batch. Waits while a closed model opens: call it on a thread that may wait. *of stays valid
 * until engine_session_end. stop: not zero: the client has left, so it waits no longer; NULL: never. @return API_OK;
 * API_too_many_sessions, API_draining, API_loading, API_cancelled, in *e */
int engine_session(struct engine *g, steno_session **s, const struct serve_engine **of, const _Atomic int *stop, struct api_error *e);
void engine_session_stop(struct engine *g); /* calls of engine_session read *stop again. Any thread, waits for no work */
void engine_session_end(struct engine *g, steno_session *s);
/* A pass of a live session has ended; delay_us: time from its newest audio to its text. */
void engine_live_delay(struct engine *g, int64_t delay_us);
/* Do texts of live sessions keep to serve_params.live_delay_s? The processors serve all models, so passes of all models count.
 * @return API_OK, or API_overloaded in *e: begin no session */
int engine_keeps_up(const struct engine *g, struct api_error *e);
/* A request whose source may wait for audio; the session is that of the batch. engine_stream_run returns when the source has been read and
 * run since the call, is_over: when the request has ended. @return its status */
int engine_stream_begin(struct engine *g, steno_session *s, const steno_source *src, const steno_request_params *p);
int engine_stream_run(struct engine *g, steno_session *s, int is_over);
/* Runs a request of the batch and waits for it. priority: enum steno_priority. @return its status; STENO_ECANCELED after engines_cancel */
int engine_transcribe(struct engine *g, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int priority);
#endif
