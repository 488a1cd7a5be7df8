/* steno: what computes. SPDX-License-Identifier: MIT
 *
 * A batch is an executor with its scratch, keys and values, tables of a run, and room for windows that are decoded together. Sessions share
 * one; a session by itself has one of its own, for one window. How outputs become results is a task's business (task/task.h). */
#ifndef STENO_TASK_ENGINE_H
#define STENO_TASK_ENGINE_H
#include "model/family.h"
#include "plan/executor.h"
#include "task/request_queue.h"
#include "task/run_costs.h"

enum { MAX_LANES = RUN_BEAMS, MAX_WINDOWS = 128 };

/* A lane of the shift states. */
struct stream_lane {
    struct stream_state *of; /* whose it is (stream_state.h); NULL: nobody's */
    uint64_t run;            /* the last one that it was taken for */
};

struct steno_batch {
    const steno_model *model;
    steno_team *team;
    struct arena arena;
    uint32_t n_windows;         /* that decode together */
    uint32_t n_lanes;           /* of each: window w has lanes [w * n_lanes, (w + 1) * n_lanes) */
    struct kv_state state[MODEL_STATES];
    struct exec *exec;
    struct run run;
    struct sampled_token *sampled; /* [windows * lanes, ids of a window] tokens of each lane; or of the window at hand */
    struct op_time *time;       /* [ops of all plans] of a chain of replays that sessions share, until each has got its part */

    void *part;                 /* what its task needs: struct ar_batch; NULL: nothing */
    struct request_queue queue; /* requests that the thread at work has not taken yet */
    steno_session *first;       /* requests that wait and those at work, in the order they came */
    steno_session *solo;        /* the call outside of the queue that is at work, NULL: none */
    struct stream_lane *streaming; /* [n_streaming] */
    uint32_t n_streaming;
    uint64_t n_runs;            /* for which lanes of them were taken */
    struct run_costs costs;     /* of steps, and of guesses beside them; of a draft model by the texts that it guesses for */
    struct steno_batch *exact;  /* computes in f32, for one window; NULL: nothing is verified */
    struct steno_batch *draft;  /* of the small model that guesses ids ahead, a lane for each window; NULL: there is none */
    int is_draft;               /* it is such a one: of its task it has nothing */
    int64_t hear_ns;            /* and this is what hearing a window takes; 0: it has heard none */
    int has_heard;              /* and its encoder is the large model's: what that makes of a window serves both */
    steno_batch_params params;
    _Atomic int at_work;        /* a public call has entered and not left: one of a session, or steno_batch_run (lib/entry.c) */
    int telling;                /* on_done is being called */
    _Atomic int n_sessions, closed; /* sessions that are open in it; its owner has closed it, and it goes with the last of them */
};

/* What a task wants of a batch. */
struct batch_shape {
    int first_plan;             /* whose rows are told apart, and chosen from; the others follow it. The model's n_plans: there is none */
    uint32_t rows_out;          /* of logits at a time */
    size_t n_ids;               /* most ids of a window */
};

int batch_open(struct steno_batch **out, const steno_model *m, steno_team *team, uint32_t n_windows, uint32_t n_lanes, steno_error *e);
void batch_release(struct steno_batch *b); /* gone when its owner has closed it and no session is open in it; NULL is allowed */
size_t batch_memory(const steno_model *m, const steno_team *team, uint32_t n_windows, uint32_t n_lanes);
/* A batch gets a draft model, that has been checked (draft_model.h). */
int batch_open_draft(struct steno_batch *b, const steno_model *draft, steno_error *e);
size_t batch_draft_memory(const steno_model *draft, const steno_team *team, uint32_t n_windows);
size_t model_ops(const steno_model *m); /* of all plans */
#endif
