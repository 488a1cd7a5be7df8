/* steno: from a source to rows of filter banks. SPDX-License-Identifier: MIT
 *
 * For models whose features do not depend on the whole file: audio is heard once, either as clips, each with features of its own and cut
 * from the next where it is quietest, or as one stream. Memory does not depend on the length of the audio. */
#ifndef STENO_TASK_FBANK_STREAM_H
#define STENO_TASK_FBANK_STREAM_H
#include "audio/fbank.h"
#include "task/source.h"

struct fbank_stream {
    struct fbank *fbank;
    steno_team *team;
    const steno_source *src;
    float *pcm;              /* of a stream, one read, or of several threads as many as are gathered; of clips [clip + 1], of which the
                                first n_held wait for the next clip */
    int64_t gather;          /* samples of a stream that wait for each other at most, so that threads can share their frames */
    float *level;            /* [clip / FBANK_HOP + 1] */
    int64_t clip, n_held;    /* clip: the most samples of one, 0: a stream */
    int64_t clip_end;        /* samples of the clip that has been heard, -1: there is none */
    int64_t skip;            /* samples that are passed over first */
    int64_t left;            /* samples that may still be taken, those included */
    int64_t samples;         /* taken so far, skipped ones included */
    int ended;               /* the source has ended, or nothing is left */
    int flushed;             /* the stream's last rows have come out */
    int may_wait;            /* the source may say STENO_SOURCE_WAIT: a call returns STREAM_WAITS then, and goes on when it is repeated */
    int hurries;             /* clips wait in a run: a source that gives audio as it is spoken is not asked on, likewise */
    int is_slow;             /* it gave the last audio so */
    int exact;               /* clips are as long as they can be, wherever that cuts */
    int failed;              /* the source has, behind the stream's rows that were given last: how */
    struct front_time time;
    int (*should_stop)(void *user);
    void *user;
};

enum { FBANK_STREAM_CHUNK = FBANK_PUSH };

/* Clips of this many samples each, at most as many as fbank_stream_init was told; 0: of so many, cut where it is quietest. */
static inline void fbank_stream_clips(struct fbank_stream *r, int64_t usual, int64_t samples)
{
    r->exact = samples > 0;
    r->clip = r->exact && samples < usual ? samples : usual;
}

/* clip: the most samples of a clip, 0 where there will be none. */
size_t fbank_stream_memory(const struct fbank_bank *bank, int64_t clip, const steno_team *team);
int fbank_stream_init(struct fbank_stream *r, struct arena *a, const struct fbank_bank *bank, int64_t clip, steno_team *team,
                      steno_error *e);
void fbank_stream_close(struct fbank_stream *r);

/* Rows of pcm[n] by itself, and those rows, ld floats apart. */
int64_t fbank_stream_rows_of(const struct fbank_stream *r, int64_t n);
void fbank_stream_fill(struct fbank_stream *r, float *out, size_t ld, const float *pcm, int64_t n);

/* Begin with a source: pass over `skip` samples, then take at most `max` (0: all). Calls that hear return STREAM_WAITS, STENO_ESOURCE,
 * STENO_ECANCELED. */
void fbank_stream_begin(struct fbank_stream *r, const steno_source *src, int64_t skip, int64_t max);
/* Hear enough for the next clip; one that is not the last ends where it is quiet. *has 0: there is none. */
int fbank_stream_hear(struct fbank_stream *r, int *has, steno_error *e);
/* Or else: the next samples, at most n, as they are. @return their number, 0: there is no more, or < 0 as above */
int64_t fbank_stream_samples(struct fbank_stream *r, float *pcm, int64_t n, steno_error *e);
int fbank_stream_rows(const struct fbank_stream *r); /* of the clip that was heard; 0: it is too short */
void fbank_stream_clip(struct fbank_stream *r, float *out, size_t ld); /* those rows, ld floats apart; then comes the next clip */
/* Samples that clips have been made of, skipped ones included. */
static inline int64_t fbank_stream_at(const struct fbank_stream *r) { return r->samples - r->n_held; }
/* Of a stream in pieces of as many samples: hear on until the piece at hand has them, or the audio has ended. Rows go behind the *n that it
 * has already. Whoever takes the piece begins the next one. */
int fbank_stream_piece(struct fbank_stream *r, int64_t samples, float *out, size_t ld, int *n, steno_error *e);
static inline int64_t fbank_stream_held(const struct fbank_stream *r) { return r->n_held; } /* samples of the piece at hand */
static inline void fbank_stream_piece_take(struct fbank_stream *r) { r->n_held = 0; }
int fbank_stream_flush(struct fbank_stream *r, float *out, size_t ld); /* the rows that were waiting for what follows */
/* The next rows of the stream, at most `max`; *n 0: the stream has ended. */
int fbank_stream_next(struct fbank_stream *r, int max, float *out, size_t ld, int *n, steno_error *e);
#endif
