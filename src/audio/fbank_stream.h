/* steno: from an audio source to rows of filter banks. SPDX-License-Identifier: MIT
 *
 * For models whose features do not depend on the whole file. Audio is read once: as clips that are cut where it is quietest and have
 * features of their own, or as one stream. Memory does not depend on the length of the audio. */
#ifndef STENO_AUDIO_FBANK_STREAM_H
#define STENO_AUDIO_FBANK_STREAM_H
#include <stdint.h>
#include "audio/fbank.h"
#include "audio/source.h"
#include "base/team.h"

/* ---- quiet places to cut audio ----------------------------------------------------------------------------------------------- */

/* The frame in [from, to) around which n levels (logarithms, one per 10 ms) are lowest. Returns `to` if there is none. */
int64_t level_quietest(const float *level, int64_t n, int64_t from, int64_t to);
/* Best end of a piece of at most `max` of n levels, n > max: the quietest frame in its last third. */
int64_t level_cut(const float *level, int64_t n, int64_t max);
/* Computes the levels of pcm[160 n] on all threads. */
void level_measure(float *level, const float *pcm, int64_t n, steno_team *team);

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

struct fbank_stream {
    struct fbank *fbank;
    steno_team *team;
    const steno_source *src;
    float *pcm;              /* stream: one read, or as many as are gathered for several threads; clips: [clip + 1], whose first n_held wait
                              * for the next clip */
    int64_t gather;          /* samples of a stream to collect at most, so that threads can share their frames */
    float *level;            /* clips: levels where a clip may be cut */
    struct frame_level *levels; /* [n_levels] the last levels of frames (steady.h); NULL: not needed */
    int64_t n_levels;
    int64_t row;             /* samples from one row to the next */
    int64_t clip, n_held;    /* clip: most samples of a clip; 0: a stream */
    int64_t clip_end;        /* samples of the clip that has been read, -1: none */
    int64_t skip;            /* samples still to skip at the start */
    int64_t left;            /* samples that may still be read, including skipped ones */
    int64_t samples;         /* read so far, including skipped ones */
    int ended;               /* the source or the range has ended */
    int flushed;             /* the last rows of the stream have been output */
    int may_wait;            /* the source may return STENO_SOURCE_WAIT: calls then return STREAM_WAITS and can be repeated */
    int hurries;             /* clips wait in a run: a live source is not read, as if it returned STENO_SOURCE_WAIT */
    int is_slow;             /* the last audio arrived at the speed of live speech */
    int exact;               /* clips have their full length, even if that cuts speech */
    int failed;              /* status of the source, to be returned after the rows that were read before it */
    struct front_time time;
    int (*should_stop)(void *user);
    void *user;
};

enum { FBANK_STREAM_CHUNK = FBANK_PUSH };

/* samples: length of each clip, at most that of fbank_stream_init; 0: at most `usual`, cut where it is quietest. */
static inline void fbank_stream_clips(struct fbank_stream *r, int64_t usual, int64_t samples)
{
    r->exact = samples > 0;
    r->clip = r->exact && samples < usual ? samples : usual;
}

/* clip: most samples of a clip; 0 if there are no clips. */
size_t fbank_stream_memory(const struct fbank_bank *bank, int64_t clip, const steno_team *team);
int fbank_stream_init(struct fbank_stream *r, struct arena *a, const struct fbank_bank *bank, int64_t clip, steno_team *team,
                      steno_error *e);
void fbank_stream_close(struct fbank_stream *r);

/* Number of rows of pcm[n] on its own, and those rows, ld floats apart. */
int64_t fbank_stream_rows_of(const struct fbank_stream *r, int64_t n);
void fbank_stream_fill(struct fbank_stream *r, float *out, size_t ld, const float *pcm, int64_t n);

/* Begins with a source: skips `skip` samples, then reads at most `max` (0: all). Calls that read audio return STREAM_WAITS, STENO_ESOURCE,
 * STENO_ECANCELED. */
void fbank_stream_begin(struct fbank_stream *r, const steno_source *src, int64_t skip, int64_t max);
/* Reads enough for the next clip. A clip that is not the last one ends in a quiet place. *has 0: there are no more clips. */
int fbank_stream_gather(struct fbank_stream *r, int *has, steno_error *e);
/* Alternative: reads the next samples, at most n, unchanged. @return their number, 0 at the end, or < 0 as above */
int64_t fbank_stream_samples(struct fbank_stream *r, float *pcm, int64_t n, steno_error *e);
int fbank_stream_rows(const struct fbank_stream *r); /* of the clip that was read; 0: it is too short */
void fbank_stream_clip(struct fbank_stream *r, float *out, size_t ld); /* writes those rows, ld floats apart, and moves on to the next
                                                                        * clip */
/* Samples in clips so far, including skipped ones. */
static inline int64_t fbank_stream_at(const struct fbank_stream *r) { return r->samples - r->n_held; }
/* For a stream in pieces of `samples` samples: reads until the current piece is full, or the audio has ended. Rows are appended to its *n
 * rows. Taking the piece begins the next one. */
int fbank_stream_piece(struct fbank_stream *r, int64_t samples, float *out, size_t ld, int *n, steno_error *e);
static inline int64_t fbank_stream_held(const struct fbank_stream *r) { return r->n_held; } /* samples of the current piece */
static inline void fbank_stream_piece_take(struct fbank_stream *r) { r->n_held = 0; }
/* For a stream of rows: reads until there are `least` rows or the audio has ended, and more if it is there, at most `most` rows. Rows are
 * appended to its *n rows. STREAM_WAITS: there are fewer than `least`. */
int fbank_stream_least(struct fbank_stream *r, int least, int most, float *out, size_t ld, int *n, steno_error *e);
/* For fbank_stream_mute, after fbank_stream_init: memory for levels of frames. rows: most rows of a clip; 0: a stream. Each request then
 * sets whether they are made. */
size_t fbank_stream_levels_memory(const struct fbank_bank *bank, int32_t rows);
int fbank_stream_levels_open(struct fbank_stream *r, struct arena *a, int32_t rows, steno_error *e);
void fbank_stream_levels_use(struct fbank_stream *r, int on);
/* For each of n rows from number `row` on: mute[i] = 1 if there is no speech from a second before the row to a second after it, or in as
 * many frames beside the audio's bounds; frames of row `end` and later ones do not count. Rows count from the start of the stream, clip or
 * span. To be called before the next audio is read. */
void fbank_stream_mute(const struct fbank_stream *r, int64_t row, int n, int64_t end, uint8_t *mute);
int fbank_stream_flush(struct fbank_stream *r, float *out, size_t ld); /* the rows that waited for audio after them */
/* The same rows of pcm[n], beside a source that is read as samples. fbank_stream_restart begins each such audio. fbank_stream_feed appends
 * to its *rows rows until there are `most`. @return the number of samples that it took */
void fbank_stream_restart(struct fbank_stream *r);
int64_t fbank_stream_feed(struct fbank_stream *r, const float *pcm, int64_t n, int most, float *out, size_t ld, int *rows);
/* The next rows of the stream, at most `max`; *n 0: the stream has ended. */
int fbank_stream_next(struct fbank_stream *r, int max, float *out, size_t ld, int *n, steno_error *e);
#endif
