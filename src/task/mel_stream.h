/* steno: from a source to windows of log-mel. SPDX-License-Identifier: MIT
 *
 * Whisper clamps the spectrogram against the loudest bin of the whole file, so the audio is listened to twice: once for its length and
 * its loudest bin, once window by window. Raw frames lie in a ring a little longer than a window; audio that fits into it is read once.
 * Audio is read a second at a time. A team of several threads makes frames of ten seconds at once.
 * Memory does not depend on the length of the audio. */
#ifndef STENO_TASK_MEL_STREAM_H
#define STENO_TASK_MEL_STREAM_H
#include "audio/mel.h"
#include "base/buf.h"
#include "task/source.h"

struct mel_stream {
    struct mel *mel;
    int n_mels, window;        /* frames of a window */
    const steno_source *src;
    float *pcm;                /* [gather] samples that were read and are not frames yet, */
    int64_t n_pcm, gather;     /* and how many; how many wait for each other, so that threads can share their frames */
    float *frame;              /* [cap, n_mels] raw log10 values of frames [base, base + n): frame i in row i % cap */
    int64_t base, n, cap;
    int ended;                 /* the pass at hand has met the end */
    int listening;             /* it is the first */
    int64_t samples, frames;   /* of the whole audio, after mel_stream_listen */
    float max;                 /* loudest bin of the whole audio */
    int want_levels;           /* 1: mel_stream_listen also leaves the level of every frame */
    struct buf levels;         /* float [frames], log10, after such a mel_stream_listen; the only memory that grows with the audio */
    struct front_time time;
    int may_wait;              /* the source may say STENO_SOURCE_WAIT: a call returns STREAM_WAITS then, and goes on when it is repeated */
    int (*should_stop)(void *user);
    void *user;
};

enum { MEL_STREAM_CHUNK = 16000 /* samples that are read at a time */ };

size_t mel_stream_memory(const struct mel_bank *bank, int window, const steno_team *team);
int mel_stream_init(struct mel_stream *f, struct arena *a, const struct mel_bank *bank, int window, steno_team *team, steno_error *e);
void mel_stream_close(struct mel_stream *f);
/* First pass over the source: its length and its loudest bin. STENO_ESOURCE, STENO_ECANCELED. In slices of `max` samples or a little more,
 * until f->ended; STREAM_WAITS. Or what such a pass has found before. */
void mel_stream_listen_begin(struct mel_stream *f, const steno_source *src);
int mel_stream_listen_on(struct mel_stream *f, int64_t max, steno_error *e);
void mel_stream_listen_given(struct mel_stream *f, const steno_source *src, int64_t samples, float max);
int mel_stream_listen(struct mel_stream *f, const steno_source *src, steno_error *e);
/* Scaled frames [from, from + n) into out[window, n_mels], n <= window, the rest of the window `fill`ed: 0 as the reference pads a
 * window, or with what lies behind the end of the audio (silence) when floor is 1. May return STREAM_WAITS. */
int mel_stream_window(struct mel_stream *f, int64_t from, int n, int floor, float *out, steno_error *e);
#endif
