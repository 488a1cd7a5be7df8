/* steno: what transcriptions clip by clip keep. SPDX-License-Identifier: MIT
 *
 * Audio is cut into clips of at most the length a model was trained on, where it is quiet; each goes through the encoder once. What comes
 * out there is made text by a decoder: with a CTC head (task/ctc), or by integrate-and-fire (task/cif). A task that works so keeps a struct
 * clip_session first in its part of a session, and a struct clip_batch in a batch. */
#ifndef STENO_TASK_CLIPS_CLIP_SESSION_H
#define STENO_TASK_CLIPS_CLIP_SESSION_H
#include "task/clips/clip_speech.h"
#include "task/resume.h"
#include "task/task.h"

enum { CLIPS_TOGETHER = 16 }; /* of a session by itself: segments that a voice-activity model finds are short */

/* A clip that is in the run at hand. */
struct clip_window {
    steno_session *s;     /* whose it is, NULL: nobody wants it any more */
    int64_t at, end;      /* samples: where it begins and ends */
    struct sequence rows; /* of the run; none where the clip is too short to have any */
};

/* In a batch. */
struct clip_batch {
    struct clip_window *window; /* [n_windows] */
    struct sequence *sequence;  /* [n_windows] rows of those that have any */
    const struct sequence *tokens; /* [n_sequences] of the table (run.h), where it has others than the run; NULL: it has not */
    uint32_t n, n_sequences;    /* in the run at hand */
    uint32_t blocks;            /* of keys and values that those have */
};

/* What one request carries from clip to clip. */
struct clip_request {
    steno_transcribe_params p;   /* complete */
    steno_source src;
    int32_t head[PROMPT_PREFIX_MAX], n_head; /* rows of `query` before each clip */
    const float *query;
    const uint32_t *barred;      /* ids that are not chosen, NULL: none */
    int64_t from;                /* samples passed over */
    int n_windows;               /* clips of it in the run at hand */
    int is_over, status;         /* no clip follows; how it ended */
    struct resume resume;        /* what it goes on from, and what was told of it */
    int64_t n_heard, n_settled;  /* clips that were heard; those whose segments are among the results, */
    int64_t n_passed;            /* and were so before it began */
    int is_passing;              /* the clip at hand is heard for the sake of those behind it */
};

struct clip_decoder {
    uint32_t max_clips;          /* of a run */
    int shares;                  /* 1: clips share a run while there is room; 0: as long as the longest clip that is cut */
    int (*take)(steno_session *s);                               /* the request: whatever is its own; NULL: nothing is. A status */
    int (*run)(struct steno_batch *b);                           /* the clips of the run at hand. A status of the executor's */
    int (*settle)(steno_session *s, const struct clip_window *w); /* what was found there becomes a segment. A status */
    void (*end)(steno_session *s);                               /* before results are whole; NULL: nothing is to be done */
    /* Clips that are chunks of a stream, NULL: they know nothing of each other. hear: enough for the next one, as fbank_stream_hear; rows:
     * of what was heard; keys: that those see, earlier ones with them; lane: of the states that they go on from; fill: rows into the run,
     * and w's end. */
    void (*begin)(steno_session *s);
    int (*hear)(steno_session *s, int *has);
    uint32_t (*rows)(const steno_session *s);
    uint32_t (*keys)(const steno_session *s);
    int (*lane)(steno_session *s, uint16_t *lane);
    void (*fill)(steno_session *s, struct clip_window *w, float *x, size_t ld);
};

/* In a session. */
struct clip_session {
    struct fbank_stream fbank;
    struct clip_speech speech;
    struct clip_request request;
    const struct clip_decoder *decoder;
};

static inline struct clip_session *clips_of(const steno_session *s) { return s->part; }
static inline struct clip_batch *clip_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct plan *clip_encoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_ENCODER]; }

/* Its part of a batch, as a task's. */
size_t clip_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int clip_batch_open(struct steno_batch *b, steno_error *e);
int clip_batch_init(struct steno_batch *b, steno_error *e); /* the same where b->part is there */

/* Of a session. */
size_t clip_session_memory(const steno_model *m, const steno_team *team); /* beside the struct */
int clip_session_open(steno_session *s, const struct clip_decoder *d, steno_error *e); /* s->part is there */
void clip_session_close(steno_session *s);
struct front_time *clip_front_time(const steno_session *s);
#endif
