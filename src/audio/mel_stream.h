/* steno: from an audio source to windows of log-mel. SPDX-License-Identifier: MIT
 *
 * Whisper clamps the spectrogram against the loudest bin of the whole file. So the audio is read twice: once for its length and its loudest
 * bin, then window by window. Raw frames are in a ring slightly longer than a window; audio that fits into it is read once. Audio is read
 * one second at a time. A team of several threads makes the frames of ten seconds at once. Memory does not depend on the length of the
 * audio. */
#ifndef STENO_AUDIO_MEL_STREAM_H
#define STENO_AUDIO_MEL_STREAM_H
#include "audio/mel.h"
#include "audio/source.h"
#include "base/buf.h"

struct mel_stream {
    struct mel *mel;
    int n_mels, window;        /* frames of a window */
    const steno_source *src;
    float *pcm;                /* [gather] samples that are read but not yet frames, */
    int64_t n_pcm, gather;     /* their number; most samples to collect, so that threads can share their frames */
    float *frame;              /* [cap, n_mels] raw log10 values of frames [base, base + n): frame i in row i % cap */
    int64_t base, n, cap;
    int ended;                 /* the current pass has reached the end */
    int listening;             /* the current pass is the first */
    int64_t samples, frames;   /* of the whole audio, after mel_stream_listen */
    float max;                 /* loudest bin of the whole audio */
    int adds_levels;           /* 1: mel_stream_listen also leaves the level of every frame */
    struct buf levels;         /* float [frames], log10, after such a mel_stream_listen; the only memory that grows with the audio */
    struct front_time time;
    int may_wait;              /* the source may return STENO_SOURCE_WAIT: calls then return STREAM_WAITS and can be repeated */
    int (*should_stop)(void *user);
    void *user;
};

enum { MEL_STREAM_CHUNK = 16000 /* samples per read */ };

size_t mel_stream_memory(const struct mel_bank *bank, int window, const steno_team *team);
int mel_stream_init(struct mel_stream *f, struct arena *a, const struct mel_bank *bank, int window, steno_team *team, steno_error *e);
void mel_stream_close(struct mel_stream *f);
/* First pass over the source: its length and its loudest bin. STENO_ESOURCE, STENO_ECANCELED. It works in slices of `max` samples or a
 * little more, until f->ended; STREAM_WAITS. mel_stream_listen_given takes the results of an earlier pass instead. */
void mel_stream_listen_begin(struct mel_stream *f, const steno_source *src);
int mel_stream_listen_on(struct mel_stream *f, int64_t max, steno_error *e);
void mel_stream_listen_given(struct mel_stream *f, const steno_source *src, int64_t samples, float max);
int mel_stream_listen(struct mel_stream *f, const steno_source *src, steno_error *e);
/* Scaled frames [from, from + n) to out[window, n_mels], n <= window. The rest of the window is 0, as in the reference; with floor 1 it is
 * the level of silence. May return STREAM_WAITS. */
int mel_stream_window(struct mel_stream *f, int64_t from, int n, int floor, float *out, steno_error *e);
/* Raw values of frame i, [n_mels]; NULL: it is not in the ring. Valid until the next call. */
const float *mel_stream_frame(const struct mel_stream *f, int64_t i);
#endif
