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
    const steno_source *src;
    float *pcm;              /* [FBANK_STREAM_CHUNK]; of clips [clip + 1], of which the first n_held wait for the next clip */
    float *level;            /* [clip / FBANK_HOP + 1] */
    int64_t clip, n_held;    /* clip: the most samples of one, 0: a stream */
    int64_t left;            /* samples that may still be taken */
    int64_t samples;         /* taken so far, skipped ones included */
    int ended;               /* the source has ended, or nothing is left */
    int flushed;             /* the stream's last rows have come out */
    struct front_time time;
    int (*should_stop)(void *user);
    void *user;
};

enum { FBANK_STREAM_CHUNK = FBANK_PUSH };

/* clip: the most samples of a clip, 0 where there will be none. */
size_t fbank_stream_memory(const struct fbank_bank *bank, int64_t clip, const steno_team *team);
int fbank_stream_init(struct fbank_stream *r, struct arena *a, const struct fbank_bank *bank, int64_t clip, steno_team *team,
                      steno_error *e);
void fbank_stream_close(struct fbank_stream *r);

/* Begin with a source: pass over `skip` samples, then take at most `max` (0: all). STENO_ESOURCE, STENO_ECANCELED. */
int fbank_stream_begin(struct fbank_stream *r, const steno_source *src, int64_t skip, int64_t max, steno_error *e);
/* The next clip: its rows, ld floats apart. *n: their number, 0 for a clip too short. One that is not the last ends where it is quiet. */
int fbank_stream_clip(struct fbank_stream *r, float *out, size_t ld, int *n, steno_error *e);
/* Samples that clips have been made of, skipped ones included; and whether there is more. */
static inline int64_t fbank_stream_at(const struct fbank_stream *r) { return r->samples - r->n_held; }
static inline int fbank_stream_left(const struct fbank_stream *r) { return !r->ended || r->n_held; }
/* The next rows of the stream, at most `max`; *n 0: the stream has ended. */
int fbank_stream_next(struct fbank_stream *r, int max, float *out, size_t ld, int *n, steno_error *e);
#endif
