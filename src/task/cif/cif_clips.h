/* steno: integrate-and-fire over the clips of a run. SPDX-License-Identifier: MIT
 *
 * Clips of several requests pass through all phases together. Each clip is a sequence of frames, and its tokens are a sequence of the table
 * that attends to those frames only. */
#ifndef STENO_TASK_CIF_CIF_CLIPS_H
#define STENO_TASK_CIF_CIF_CLIPS_H
#include "task/cif/cif_hotwords.h"
#include "task/cif/cif_words.h"
#include "task/clips/clip_run.h"
#include "task/clips/clip_session.h"

/* A clip: its frames plus one zero frame, finer weights for times, and its rows of the table. */
struct cif_clip {
    const float *alpha;        /* [n_frames] */
    float *fine;               /* [n_fine] */
    int32_t n_frames, n_fine;
    uint32_t first_token, n_tokens;
};

/* State in a batch: data of the clips of the current run, in order. */
struct cif_batch {
    struct clip_batch clips;
    struct cif_clip *clip;     /* [n_windows] by sequence number (clip_window.rows.lane) */
    struct sequence *tokens;   /* [n_windows] by sequence number */
    float *alpha;              /* [rows + n_windows] */
    float *fine;               /* [rows * cif_model.fine] */
    struct cif_token *token;   /* [rows] */
    float *weight;             /* [2 (rows + n_windows)] of tokens */
    int heeds;                 /* hot words changed the ids in a run of their own */
    struct cif_hot_rows hot;   /* [rows] of the table, for the hot-word runs */
};

static inline const struct cif_clip *cif_clip_of(const struct steno_batch *b, const struct clip_window *w)
{
    return &((const struct cif_batch *)b->part)->clip[w->rows.lane];
}

/* Implement a task's part of a batch. */
size_t cif_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int cif_batch_open(struct steno_batch *b, steno_error *e);

/* Runs all phases over the clips of the current run. The ids of the tokens are in the run's table. Returns a status of the executor. */
int cif_clips_run(struct steno_batch *b);

/* Runs the head again over the tokens of a clip, unless hot words changed them. Returns a status of the executor. */
int cif_clips_head(struct steno_batch *b, const struct clip_window *w, clip_row_fn *show);

/* For benchmarks (clip_run.h): finds the tokens of the clips; decodes n tokens of one frame each, whatever the weights are. */
int cif_clips_find(struct steno_batch *b, int n);
int cif_clips_bench(struct steno_batch *b, int n);

/* Buffers for a clip of n frames: n + 1 entries each, because a zero frame follows the last. Buffers for finer times have the model's
 * number of rows per frame. */
struct cif_session {
    struct clip_session clips;
    float *peak, *scratch;
    int32_t *ids;              /* text ids of the clip */
    double (*span)[2];         /* their times */
    struct cif_words words;
    struct cif_hot_words *hot; /* of the request; NULL without hot words */
    const struct clip_window *shown; /* window whose logits are passed to on_rows */
};

static inline struct cif_session *cif_of(const steno_session *s) { return s->part; }
#endif
