/* steno: what every session has, whatever its model does. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_SESSION_H
#define STENO_TASK_SESSION_H
#include "task/engine.h"
#include "task/result.h"

/* Where a session's request is in its batch. */
enum request_state {
    REQUEST_NONE,
    REQUEST_WAITING,
    REQUEST_LISTENING, /* its audio is heard: where that is done first, in the first pass */
    REQUEST_HEARD,     /* the first pass is over; the language is told next, in a decode slot */
    REQUEST_LIVE       /* windows of it are at work */
};

struct steno_session {
    const steno_model *model;
    steno_batch *batch;
    int own_batch;              /* opened and closed with the session */
    struct arena arena;
    void *part;                 /* what its task needs: struct ar_session, ctc_session, vad_session... */
    enum request_state request_state;
    steno_session *next;        /* queued behind it */
    struct queue_place place;   /* of its request */
    struct result result, translation;
    const struct result *selected; /* what results are read from */
    int asked_task;             /* enum steno_task of the last request */
    struct buf generated;       /* int32_t, new ids of the last steno_generate or steno_generate_continue */
    struct buf vectors;         /* float, of the texts of the last steno_embed */
    struct buf embedded;        /* struct embedded (embedding.h), of each */
    struct buf chosen;          /* struct sampled_token, the same with what was known of them */
    struct buf generated_text;  /* their text */
    int finish;                 /* enum steno_finish */
    struct said_grammar {       /* of the last text that had one: the next one has the same, mostly */
        struct grammar *grammar;
        struct matcher *matcher;
        struct buf text;
    } grammar;
    struct buf held;            /* int32_t, ids that were read and chosen since a beginning */
    steno_timings timings;      /* of what ran for this session: of replays shared with others its part by rows */
    struct op_time *time;       /* [ops of all plans] likewise */
    int profiling;
    int64_t chain_rows;         /* its rows of the chain at hand */
    steno_error error;
    _Atomic int cancel;
    int entered;                /* a public call on it has entered and not left (lib/entry.c) */
    const steno_transcribe_params *params; /* of the running request */
    int (*should_abort)(void *user);       /* of the running call, when it has other parameters */
    void *abort_user;
};

/* Of b->time, where a run of the plan left its times, the part of s, by rows. */
void session_share_time(const steno_session *s, int plan, int64_t rows, int64_t all);
struct op_time *session_time(const steno_session *s, int plan); /* for what runs for this session alone; NULL: profiling is off */
void said_grammar_free(struct said_grammar *g);
void generated_clear(steno_session *s); /* what was made of the last text */
void session_ready(steno_session *s); /* forgets error and cancel, puts all lanes aside */
void session_begin(steno_session *s); /* and results */
void session_forget(steno_session *s); /* error, cancel and results alone: the batch may be at work for others, on another thread */
/* What the executor x returned, with its reason in the session's error. */
int session_ran(steno_session *s, const struct exec *x, int rc);
int session_should_stop(steno_session *s); /* once it does, until the next call begins */
int session_stop(void *session);           /* the same, as streams ask */
#endif
