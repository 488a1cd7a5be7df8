/* steno: state of streams that a transducer transcribes. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_TRANSDUCER_TRANSDUCER_STREAM_H
#define STENO_TASK_TRANSDUCER_TRANSDUCER_STREAM_H
#include "engine/stream_state.h"
#include "task/transducer/transducer_clips.h"

/* State in a batch. */
struct stream_run {
    struct transducer_batch lanes; /* its lanes are not used: those of streams are in their sessions */
    struct run_stream *place; /* [n_windows] by lane */
};

/* State in a session. */
struct stream_pieces {
    struct clip_session clips;
    struct stream_state state;
    struct transducer_lane lane;  /* tokens that have not been output */
    struct buf text;

    /* The request. */
    struct transducer_hot hot;
    int32_t chunk, prompt;
    int sentences;            /* segments are sentences; 0: each chunk's words */

    /* The audio so far. */
    float *rows;              /* [STREAM_ROWS_LAST, width] rows that are in no run yet */
    int32_t n_rows, n_before; /* their number; rows in earlier runs */
    int is_complete, is_over; /* all rows are there; and they are in runs */
    const char *language, *asked; /* of the audio so far, of the request; NULL: not known */

    /* The span of speech, with a voice-activity model. */
    int in_span;
    int64_t span_at, span_end, span_read; /* samples after the skipped start; those whose rows have been made */
};

static inline struct stream_pieces *pieces_of(const steno_session *s) { return s->part; }
static inline struct stream_run *stream_run_of(const struct steno_batch *b) { return b->part; }
static inline const struct transducer_stream *stream_of(const steno_model *m) { return transducer_of(m)->stream; }
static inline size_t row_width(const steno_model *m) { return (size_t)fbank_width(fbank_bank_of(m)); }
static inline int64_t row_samples(const steno_model *m) { return (int64_t)fbank_bank_of(m)->lfr_n * FBANK_HOP; }

/* Implements struct task: time of 56 rows of a stream in chunks of n rows, or of a stream for each window of the batch. */
int64_t transducer_stream_bench(steno_session *s, const char *phase, int n);
#endif
