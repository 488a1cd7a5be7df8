/* steno: tokens of the clips of a run by integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Clips of several requests go through all phases together: each is a sequence of frames, and its tokens are a sequence of the table that
 * looks at those frames alone. */
#ifndef STENO_TASK_CIF_CIF_CLIPS_H
#define STENO_TASK_CIF_CIF_CLIPS_H
#include "task/cif/cif_hotwords.h"
#include "task/clips/clip_run.h"

/* Of a clip: frames with one of zeros behind the last, weights that times are told by where they are finer, and rows of the table. */
struct cif_clip {
    const float *alpha;        /* [n_frames] */
    float *fine;               /* [n_fine] */
    int32_t n_frames, n_fine;
    uint32_t first_token, n_tokens;
};

/* In a batch: what the clips of the run at hand are made of, one clip behind the other. */
struct cif_batch {
    struct clip_batch clips;
    struct cif_clip *clip;     /* [n_windows] by the number of the sequence (clip_window.rows.lane) */
    struct sequence *tokens;   /* [n_windows] likewise */
    float *alpha;              /* [rows + n_windows] */
    float *fine;               /* [rows * cif_model.fine] */
    struct cif_token *token;   /* [rows] */
    float *weight;             /* [2 (rows + n_windows)] of tokens */
    int heeds;                 /* hot words had a run of their own behind it */
    struct cif_hot_rows hot;   /* [rows] of the table, for hot words */
};

static inline const struct cif_clip *cif_clip_of(const struct steno_batch *b, const struct clip_window *w)
{
    return &((const struct cif_batch *)b->part)->clip[w->rows.lane];
}

/* Its part of a batch, as a task's. */
size_t cif_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int cif_batch_open(struct steno_batch *b, steno_error *e);

/* The clips of the run at hand through all phases: ids of tokens are in the run's table. A status of the executor's */
int cif_clips_run(struct steno_batch *b);

/* The head once more, over the tokens of a clip; not where hot words have had it since. Likewise */
int cif_clips_head(struct steno_batch *b, const struct clip_window *w, clip_row_fn *show);

/* For measuring (clip_bench.h): the tokens of the clips, and n tokens of a frame each, whatever the weights say, decoded. */
int cif_clips_find(struct steno_batch *b, int n);
int cif_clips_bench(struct steno_batch *b, int n);
#endif
