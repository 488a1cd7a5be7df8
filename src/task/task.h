/* steno: what a way of decoding is. SPDX-License-Identifier: MIT
 *
 * A task makes results of what a network computes: token by token (ar), with a CTC head (ctc), as spans of speech (vad), as
 * punctuation (marks), as vectors (embed). It is a table of
 * functions and what it keeps in a session. Families name theirs (model/family.h), and lib/tasks.c lists all of them. What a task cannot do
 * is NULL, and the public call refuses it. */
#ifndef STENO_TASK_TASK_H
#define STENO_TASK_TASK_H
#include "task/params.h"
#include "task/session.h"
#include "task/source.h"

struct embed_call; /* task/embedding.h */

/* A text that is said behind a prompt whatever the model would choose, for measuring. */
struct bench_text { const int32_t *prompt, *text; int n_prompt, n_text; int32_t draft_max; };

/* What a request asks for. Its parameters are complete: of those of its task's call the one, the other is NULL. */
struct request_given {
    const steno_source *src;
    const steno_transcribe_params *transcribe;
    const steno_vad_params *find_speech;
    const steno_generate_params *generate; /* and nothing is heard: */
    const int32_t *ids;       /* [n_ids] are gone on with */
    int n_ids;
    const steno_heard *heard; /* NULL: nothing was heard before */
};

struct task {
    const char *name;               /* as families call it */
    unsigned (*serves)(const steno_model *m); /* BY_...: rows of the table of parameters */
    uint32_t max_lanes;             /* sequences of one window that may be decoded beside each other */
    int streams_share;              /* streams share runs: their states have a lane for each window */
    uint32_t own_windows;           /* of one request that share a run, in a session by itself; 0: one */
    int drafts;                     /* may a small model guess ids ahead (draft_model.h)? */
    int one_by_one;                 /* windows of a run become text one after the other: tokens of one are kept, not of every lane */

    /* Its part of a batch, in b->part; all but the first are NULL where it has none. */
    struct batch_shape (*shape)(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
    size_t (*batch_memory)(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
    int (*batch_open)(struct steno_batch *b, steno_error *e);
    void (*batch_close)(struct steno_batch *b); /* also of one whose opening failed halfway */
    void (*batch_forget)(const steno_session *s); /* another call of s begins: what is kept of earlier ones serves nobody */

    /* Its part of a session, in s->part. close: also of one whose opening failed halfway */
    size_t (*memory)(const steno_model *m, const steno_team *team, int shared); /* shared: the batch is not its own */
    int (*open)(steno_session *s, steno_error *e);
    void (*close)(steno_session *s);
    struct front_time *(*front_time)(const steno_session *s);

    /* Requests (batch_loop.h). Whatever is given is copied; what it points at stays where it is until the request has ended. */
    enum steno_call call;                       /* that a request is: a transcription, a search for speech, a text */
    int (*request_take)(steno_session *s, const struct request_given *g); /* judge and keep it: STENO_OK, or why not. From any thread */
    int (*request_end)(steno_session *s, int status); /* it holds nothing any more, and results are whole. @return what it came to */
    void (*batch_begin)(struct steno_batch *b); /* before the first step of a run; NULL: nothing is to be done */
    /* As much as makes sense before the queue is looked at again; whoever has come to the end is finished. 1: something went on, 0: nobody
     * can go on: there is no request, or the sources of all have nothing (queue_place.waits). */
    int (*batch_step)(struct steno_batch *b);

    /* Other calls. Parameters are complete and stay where they are until the call ends, results are cleared. */
    int (*listen)(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e);
    int (*align)(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);
    int (*detect_language)(steno_session *s, const steno_source *src, float *probs, int n);
    int (*encode)(steno_session *s, const float *pcm, int64_t n);
    int (*read)(steno_session *s, const int32_t *ids, int n, int again); /* ids of a text, for the logits behind them */
    const float *(*logits)(const steno_session *s); /* behind what read has read; NULL: there are none */
    int (*generate)(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again);
    int (*punctuate)(steno_session *s, const char *text, const steno_punctuate_params *p);
    int (*punctuate_result)(steno_session *s, struct result *r, const steno_punctuate_params *p); /* of another session */
    int (*embed)(steno_session *s, const struct embed_call *c); /* append a vector for each text (embedding.h) */
    int64_t (*bench)(steno_session *s, const char *phase, int n);
    int64_t (*bench_text)(steno_session *s, const struct bench_text *t);
};
#endif
