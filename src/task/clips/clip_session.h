/* steno: transcriptions that work clip by clip: their state and their requests. SPDX-License-Identifier: MIT
 *
 * Audio is cut in quiet places into clips of at most the length that the model was trained on. Each clip passes through the encoder once. A
 * decoder turns the encoder's output into text: a CTC head (task/ctc) or integrate-and-fire (task/cif). Such a task puts a struct
 * clip_session first in its part of a session, and a struct clip_batch first in its part of a batch. */
#ifndef STENO_TASK_CLIPS_CLIP_SESSION_H
#define STENO_TASK_CLIPS_CLIP_SESSION_H
#include "engine/resume.h"
#include "engine/task.h"
#include "task/clips/clip_speech.h"

enum { CLIPS_TOGETHER = 16 }; /* clips in parallel for a single session: segments found by a VAD model are short */

/* A clip of the current run. */
struct clip_window {
    steno_session *s;     /* its session; NULL if that has ended */
    int64_t at, end;      /* samples: its bounds in the audio */
    struct sequence rows; /* its rows in the run; none if the clip is too short */
};

/* State in a batch. */
struct clip_batch {
    struct clip_window *window; /* [n_windows] */
    struct sequence *sequence;  /* [n_windows] rows of the clips that have any */
    struct sequence *cut;       /* [clip_cuts] the same cut into windows of attention; NULL: the model has none */
    const struct sequence *tokens; /* [n_sequences] rows of the table (run.h), if they differ from those of the run; else NULL */
    uint8_t *mute;              /* [rows of a run] 1: there is no speech near the row, as the guards find */
    uint32_t n, n_sequences;    /* in the current run */
    uint32_t blocks;            /* blocks of keys and values that these use */
};

/* State of one request across its clips. */
struct clip_request {
    steno_transcribe_params p;   /* with all fields set */
    steno_source src;
    int32_t head[PROMPT_PREFIX_MAX], n_head; /* ids of the `query` rows before each clip */
    const float *query;
    const uint32_t *masked;      /* bit set of ids that are never chosen; may be NULL */
    int64_t from;                /* samples skipped at the start */
    int n_windows;               /* its clips in the current run */
    int is_over, status;         /* no clip follows; the final status */
    struct resume resume;        /* where it resumes from, and what has been recorded */
    int64_t n_read, n_settled;  /* clips read, and clips whose segments are in the results, */
    int64_t n_passed;            /* including this number from before it resumed */
    int is_passing;              /* the current clip is read only to advance the audio */
};

struct clip_decoder {
    uint32_t max_clips;          /* per run */
    int shares;                  /* 1: clips share a run while there is room; 0: a shared run is at most as long as the longest clip */
    int (*take)(steno_session *s);                               /* takes the task's own parameters; may be NULL. A status */
    int (*run)(struct steno_batch *b);                           /* processes the clips of the current run. Returns a status of the
                                                                  * executor */
    int (*settle)(steno_session *s, const struct clip_window *w); /* makes the window's result a segment. A status */
    void (*end)(steno_session *s);                               /* called before the results are complete; may be NULL */
    /* For clips that are chunks of a stream; NULL for independent clips. gather: reads enough for the next chunk, as fbank_stream_gather.
     * at: its first sample in the audio, if audio behind it has been read. rows: its number of rows. keys: the number of keys that its
     * rows see, including earlier ones. lane: the lane with its state. fill: writes the rows to the run and sets w->end. */
    void (*begin)(steno_session *s);
    int (*gather)(steno_session *s, int *has);
    int64_t (*at)(const steno_session *s);
    uint32_t (*rows)(const steno_session *s);
    uint32_t (*keys)(const steno_session *s);
    int (*lane)(steno_session *s, uint16_t *lane);
    void (*fill)(steno_session *s, struct clip_window *w, float *x, size_t ld);
};

/* State in a session. */
struct clip_session {
    struct fbank_stream fbank;
    struct clip_speech speech;
    struct clip_request request;
    const struct clip_decoder *decoder;
};

static inline struct clip_session *clips_of(const steno_session *s) { return s->part; }
static inline struct clip_batch *clip_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct plan *clip_encoder_of(const struct steno_batch *b) { return &b->model->plan[PLAN_ENCODER]; }

/* Blocks of keys and values of n rows that are cut into windows of attention. */
static inline uint32_t clip_blocks(const steno_model *m, uint32_t n)
{
    const uint32_t window = (uint32_t)m->window_rows;
    return window ? n / window * kv_blocks(window) + kv_blocks(n % window) : kv_blocks(n);
}

/* Implement a task's part of a batch. */
size_t clip_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int clip_batch_open(struct steno_batch *b, steno_error *e);
int clip_batch_init(struct steno_batch *b, steno_error *e); /* as clip_batch_open, but b->part exists already */

/* Implement a task's part of a session. */
size_t clip_session_memory(const steno_model *m, const steno_team *team); /* without the struct itself */
int clip_session_open(steno_session *s, const struct clip_decoder *d, steno_error *e); /* s->part exists already */
void clip_session_close(steno_session *s);
struct front_time *clip_front_time(const steno_session *s);

int clip_request_take(steno_session *s, const struct request_given *g);
int clip_request_end(steno_session *s, int status);
/* Reads enough audio for the next clip. *has 0: there are no more clips. May return STREAM_WAITS */
int clip_request_gather(steno_session *s, int *has);
int64_t clip_request_at(const steno_session *s);    /* its first sample in the audio */
uint32_t clip_request_rows(const steno_session *s); /* rows of that clip, including query rows; 0: it is too short to have rows */
/* Writes the clip to the rows x, which are ld floats apart. w->rows has their number. */
void clip_window_fill(steno_session *s, struct clip_window *w, float *x, size_t ld);
/* Makes the window's result the next segment. */
int clip_window_settle(steno_session *s, const struct clip_window *w);

/* Rows [first, first + n) of the network's output for a window, for on_rows. */
struct clip_rows { const char *name; const float *x; int32_t first, n, width; size_t ld; };
void clip_rows_report(steno_session *s, const struct clip_window *w, const struct clip_rows *r);
/* Passes the rows of a slot to on_rows after the current run. STENO_ENOMEM: there is no memory for them */
int clip_slot_report(steno_session *s, const struct clip_window *w, const char *name, uint16_t slot);
static inline int clip_rows_requested(const steno_session *s) { return clips_of(s)->request.p.on_rows != NULL; }

/* The result of a clip. */
struct clip_found {
    const int32_t *ids;
    const struct sampled_token *tokens; /* for the same ids */
    int32_t n;
    double sum_logprob;
    const char *text, *whole;           /* text of the segment; text that it adds to the whole transcript */
    size_t n_text, n_whole;
    const char *before;                 /* separator before it in the whole transcript; NULL selects the usual one */
};

/* The segment of a window, without its text. */
struct segment clip_segment_of(const steno_session *s, const struct clip_window *w);
/* Adds the segment to the results, except its words, which are added before clip_segment_report. A status */
int clip_segment_add(steno_session *s, struct segment *g, const struct clip_found *f);
int clip_segment_report(steno_session *s, const struct segment *g);

/* ---- guards: text where there is no speech (audio/steady.h) ---- */

static inline int clip_guards(const steno_session *s) { return clips_of(s)->request.p.guards != STENO_GUARDS_OFF; }
/* Is there no speech near row i of the window? i counts its rows in the run, without query rows. Never with STENO_GUARDS_OFF */
int clip_is_mute(const steno_session *s, const struct clip_window *w, int32_t i);
int clip_all_mute(const steno_session *s, const struct clip_window *w); /* nor near any row? */
/* Marks the window's rows, which are rows from number `row` on, by audio of rows before `end` (fbank_stream_mute). */
void clip_mark(steno_session *s, const struct clip_window *w, int64_t row, int64_t end);
/* Adds a text of the window that is left out: of f, its ids and n_text bytes of text, which may be none. Times in seconds, up to the
 * window's end. A status */
int clip_left_out(steno_session *s, const struct clip_window *w, const struct clip_found *f, double start, double end);
#endif
