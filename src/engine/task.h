/* steno: what a task is. SPDX-License-Identifier: MIT
 *
 * A task turns the output of a network into results: token by token (ar), with a CTC head (ctc), as spans of speech (vad), as
 * punctuation (marks), as vectors (embed), as times of words (aligner). It is a table of functions, with a part of a session and of a
 * batch. A family names its task (model/family.h), and lib/model.c lists all tasks. A function that a task does not have is NULL, and
 * the public call is refused. */
#ifndef STENO_ENGINE_TASK_H
#define STENO_ENGINE_TASK_H
#include "audio/source.h"
#include "engine/params.h"
#include "engine/session.h"

struct embed_call; /* task/embed/embedding.h */

/* Benchmarks: a text that follows a prompt, whatever the model would choose. */
struct bench_text { const int32_t *prompt, *text; int n_prompt, n_text; int32_t draft_max; };

/* Parameters of a request, with all fields set. Only the pointer for the task's call is set; the others are NULL. */
struct request_given {
    const steno_source *src;
    const steno_transcribe_params *transcribe;
    const steno_vad_params *find_speech;
    const steno_generate_params *generate; /* for texts, without audio: */
    const int32_t *ids;       /* [n_ids] prompt */
    int n_ids;
    const steno_heard *first_pass; /* results of an earlier first pass; may be NULL */
};

/* The result of another session, whose words are found (task.align_results). */
struct align_result {
    struct result *r;           /* NULL: only p is checked */
    const steno_source *src;
    steno_transcribe_params p;  /* with all fields set */
    int status;                 /* other than STENO_OK before the call: it is left out */
    steno_error error;          /* the reason */
};

struct task {
    const char *name;               /* as families name it */
    unsigned (*serves)(const steno_model *m); /* MODELS_...: the kinds of this model, which choose its rows of the parameter table */
    uint32_t max_lanes;             /* sequences of one window that may decode in parallel */
    int streams_share;              /* streams share runs: their states have a lane for each window */
    uint32_t own_windows;           /* windows of one request that share a run in a session of its own; 0: one */
    int drafts;                     /* enum steno_draft_source: a draft model (draft_model.h), the text itself (prompt_lookup.h) */
    int one_by_one;                 /* windows of a run become text one at a time: tokens of one are stored, not of every lane */

    /* Its part of a batch, in b->part; all are NULL if it has none. */
    struct batch_shape (*shape)(const steno_model *m, uint32_t n_windows, uint32_t n_lanes); /* NULL: one row of logits, no windows */
    size_t (*batch_memory)(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
    int (*batch_open)(struct steno_batch *b, steno_error *e);
    void (*batch_close)(struct steno_batch *b); /* also called if opening failed halfway */
    size_t (*draft_memory)(const steno_model *m); /* the same of a batch that is a draft model; NULL: it has none */
    int (*draft_open)(struct steno_batch *d, steno_error *e);
    void (*batch_forget)(const steno_session *s); /* another call of s begins: discards data of earlier ones */

    /* Its part of a session, in s->part. close is also called if opening failed halfway */
    size_t (*memory)(const steno_model *m, const steno_team *team, int shared); /* shared: the batch is not the session's own */
    int (*open)(steno_session *s, steno_error *e);
    void (*close)(steno_session *s);
    struct front_time *(*front_time)(const steno_session *s);

    /* Requests (batch_loop.h). Parameters are copied; data they point to must stay in place until the request has ended. */
    enum steno_call call;                       /* kind of its requests: transcription, speech detection, text generation */
    int (*request_take)(steno_session *s, const struct request_given *g); /* checks and stores the request. Returns STENO_OK or a status.
                                                                           * Any thread may call it */
    int (*request_end)(steno_session *s, int status); /* releases what the request holds and completes its results. @return its final
                                                       * status */
    void (*batch_begin)(struct steno_batch *b); /* called before the first step of a run; may be NULL */
    /* Does one unit of work before the queue is checked again, and ends finished requests. @return 1: progress was made, 0: no request can
     * continue, because there is none or all sources have nothing (queue_place.waits). NULL: the task has no requests. */
    int (*batch_step)(struct steno_batch *b);

    /* Other calls. Parameters have all fields set and stay in place until the call ends. Results have been cleared. */
    int (*listen)(const steno_model *m, const steno_source *src, steno_heard *out, steno_error *e);
    int (*align)(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);
    int (*align_results)(steno_session *s, struct align_result *results, int n); /* @return the first status other than STENO_OK */
    int (*detect_language)(steno_session *s, const steno_source *src, float *probs, int n);
    int (*encode)(steno_session *s, const float *pcm, int64_t n);
    int (*read)(steno_session *s, const int32_t *ids, int n, int again); /* reads ids of a text, for the logits after them */
    const float *(*logits)(const steno_session *s); /* after the ids of the last read; NULL: there are none */
    int (*generate)(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again);
    int (*punctuate)(steno_session *s, const char *text, const steno_punctuate_params *p);
    int (*punctuate_result)(steno_session *s, struct result *r, const steno_punctuate_params *p); /* of another session */
    int (*embed)(steno_session *s, const struct embed_call *c); /* appends a vector for each text (embedding.h) */
    int64_t (*bench)(steno_session *s, const char *phase, int n);
    int64_t (*bench_text)(steno_session *s, const struct bench_text *t);
};

/* The tasks, each in its folder of src/task. lib/model.c lists them. */
extern const struct task ar_task, ctc_task, cif_task, cif_stream_task, transducer_task, transducer_stream_task, audio_lm_task, vad_task,
    lm_task, punctuation_task, embed_task, aligner_task;
#endif
