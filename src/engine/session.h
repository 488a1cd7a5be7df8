/* steno: what all sessions have in common. SPDX-License-Identifier: MIT */
#ifndef STENO_ENGINE_SESSION_H
#define STENO_ENGINE_SESSION_H
#include "engine/batch.h"
#include "engine/result.h"

/* State of a session's request in its batch. */
enum request_state {
    REQUEST_NONE,
    REQUEST_WAITING,
    REQUEST_LISTENING, /* its audio is being read, in the first pass if the task has one */
    REQUEST_READ,      /* the first pass is over; language detection is next, in a decode slot */
    REQUEST_LIVE       /* windows of it are running */
};

struct steno_session {
    const steno_model *model;
    steno_batch *batch;
    int own_batch;              /* opened and closed with the session */
    struct arena arena;
    void *part;                 /* the task's part: struct ar_session, ctc_session, vad_session... */
    enum request_state request_state;
    steno_session *next;        /* the request after it in the queue */
    struct queue_place place;   /* of its request */
    struct result result, translation;
    const struct result *selected; /* the result that is read */
    int asked_task;             /* enum steno_task of the last request */
    struct buf generated;       /* int32_t, new ids of the last steno_generate or steno_generate_continue */
    struct buf vectors;         /* float, of the texts of the last steno_embed */
    struct buf embedded;        /* struct embedded (embedding.h), of each */
    struct buf chosen;          /* struct sampled_token of the same ids */
    struct buf tops;            /* struct sampled_token, the most probable ones at the place of each; empty: not asked for */
    struct buf generated_text;  /* their text */
    int finish;                 /* enum steno_finish */
    struct parsed_grammar {     /* of the last text that had one; the next text usually has the same */
        struct grammar *grammar;
        struct matcher *matcher;
        struct buf text;
    } grammar;
    struct buf held;            /* int32_t, ids read and chosen since the start of the text */
    steno_timings timings;      /* of work for this session; its share, by rows, of shared replays */
    struct op_time *time;       /* [ops of all plans] shared in the same way */
    int profiling;
    int64_t chain_rows;         /* its rows of the current chain */
    steno_error error;
    _Atomic int cancel;
    int stops_parts;            /* should_abort ends a part of the call only: its answer is not kept in `cancel` */
    int entered;                /* a public call on it has entered and not left (lib/entry.c) */
    const steno_transcribe_params *params; /* of the running request */
    int (*should_abort)(void *user);       /* of the running call, if it has other parameters */
    void *abort_user;
};

/* Adds the share of s, by rows, of b->time, the times of a run of the plan. */
void session_share_time(const steno_session *s, int plan, int64_t rows, int64_t all);
struct op_time *session_time(const steno_session *s, int plan); /* for runs of this session only; NULL: profiling is off */
void parsed_grammar_free(struct parsed_grammar *g);
void generated_clear(steno_session *s); /* the last generated text */
void session_ready(steno_session *s); /* clears error and cancel, and sets all lanes aside */
void session_begin(steno_session *s); /* and clears results */
void session_forget(steno_session *s); /* clears error, cancel and results only: the batch may be running for others, on another thread */
/* Passes on the status of executor x, and copies its reason to the session's error. */
int session_ran(steno_session *s, const struct exec *x, int rc);
int session_should_stop(steno_session *s); /* once true, it stays true until the next call begins, but see stops_parts */
int session_stop(void *session);           /* the same, as a callback of streams */
#endif
