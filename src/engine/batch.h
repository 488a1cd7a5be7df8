/* steno: batches: the executor and what sessions share. SPDX-License-Identifier: MIT
 *
 * A batch is an executor with its scratch, keys and values, the tables of a run, and room for windows that decode together. Sessions share
 * one; a single session has its own, for one window. A task turns outputs into results (engine/task.h). */
#ifndef STENO_ENGINE_BATCH_H
#define STENO_ENGINE_BATCH_H
#include "engine/request_queue.h"
#include "engine/run_costs.h"
#include "model/family.h"
#include "plan/executor.h"

enum { MAX_LANES = RUN_BEAMS, MAX_WINDOWS = 128 };

/* A lane of the shift states. */
struct stream_lane {
    struct stream_state *of; /* its stream (stream_state.h); NULL if it is free */
    uint64_t run;            /* the last run that it was taken for */
};

struct steno_batch {
    const steno_model *model;
    steno_team *team;
    struct arena arena;
    uint32_t n_windows;         /* windows that decode together */
    uint32_t n_lanes;           /* lanes per window: window w has lanes [w * n_lanes, (w + 1) * n_lanes) */
    struct kv_state state[MODEL_STATES];
    struct exec *exec;
    struct run run;
    struct sampled_token *sampled; /* [windows * lanes, ids of a window] tokens of each lane, or of the current window only */
    struct op_time *time;       /* [ops of all plans] times of a shared chain of replays, until they are divided among the sessions */

    void *part;                 /* the task's part, for example struct ar_batch; may be NULL */
    struct request_queue queue; /* requests that the running thread has not taken yet */
    steno_session *first;       /* waiting and running requests, in order of arrival */
    steno_session *solo;        /* session of the call that runs outside the queue; may be NULL */
    struct stream_lane *streaming; /* [n_streaming] */
    uint32_t n_streaming;
    uint64_t n_runs;            /* number of runs, each of which may take new lanes */
    struct run_costs costs;     /* cost of steps and of draft tokens; in a draft model, by number of texts */
    struct steno_batch *exact;  /* computes in f32 for one window; NULL without verification */
    struct steno_batch *draft;  /* the draft model, with a lane for each window; NULL without one */
    int is_draft;               /* this is a draft model: it has no task part */
    int64_t encode_ns;            /* and this is its time to encode a window; 0: none measured */
    int shares_encoder;              /* and its encoder equals the large model's: one encoder run serves both */
    steno_batch_params params;
    _Atomic int at_work;        /* a public call has entered and not left: one of a session, or steno_batch_run (lib/entry.c) */
    int in_on_done;                /* on_done is being called */
    _Atomic int n_sessions, closed; /* open sessions; the owner has closed it, and the last session releases it */
};

/* What a task needs of a batch. */
struct batch_shape {
    int first_plan;             /* first plan whose rows are sampled; later plans follow it. The model's n_plans: none */
    uint32_t rows_out;          /* rows of logits at a time */
    size_t n_ids;               /* most ids of a window */
};

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e);
void batch_release(struct steno_batch *b); /* frees the batch when its owner has closed it and no session is open; b may be NULL */
size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes);
/* Adds a draft model that draft_model_check has accepted. */
int batch_open_draft(struct steno_batch *b, const steno_model *draft, steno_error *e);
size_t batch_draft_memory(const steno_model *draft, const steno_team *team, uint32_t n_windows);
size_t model_ops(const steno_model *m); /* of all plans */

/* Largest number of positions, up to len, after which the lane's text can continue. It is smaller if sliding windows before it are lost. */
int32_t lane_reach(const struct steno_batch *b, uint32_t lane, int32_t len);
/* The position to which a text can always return; 0: there is none, or no layer has a sliding window. */
int32_t lane_marked(const struct steno_batch *b, uint32_t lane);
void lane_mark(struct steno_batch *b, uint32_t lane, int32_t len);
void lane_cut(struct steno_batch *b, uint32_t lane, int32_t len);      /* keeps the first len positions, at most what lane_reach returns */
void lane_fork(struct steno_batch *b, uint32_t to, uint32_t from);     /* `to` shares all that `from` holds */
int lane_prepare(struct steno_batch *b, uint32_t lane, int32_t from, int32_t to); /* as state_prepare */
#endif
