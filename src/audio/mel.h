/* steno: log-mel spectrogram. SPDX-License-Identifier: MIT
 *
 * Frames of 400 samples every 160 at 16 kHz, periodic Hann window, power spectrum, mel filters, log10. Frame t covers samples
 * [160 t - 200, 160 t + 200) of the audio; before the first sample the audio is mirrored without repeating the edge sample (torch.stft,
 * center=True, reflect), after the last one come zeros (the reference appends 30 s of silence).
 * Reference: openai-whisper 20250625, whisper/audio.py. Spectrograms here are time-major, [frames, n_mels], because the first
 * convolution then reads three frames as one contiguous row. */
#ifndef STENO_AUDIO_MEL_H
#define STENO_AUDIO_MEL_H
#include "audio/stft.h"

enum { MEL_RATE = 16000, MEL_FFT = 400, MEL_HOP = 160, MEL_BINS = 201, MEL_MAX = SPECTRUM_BANDS };
enum { MEL_END = 3 /* most frames that mel_end writes */ };

/* Slaney scale and area normalisation, 0..8000 Hz: out[n_mels, n_fft / 2 + 1]. With MEL_FFT points they are bit-equal to the reference's
 * stored filters. */
void mel_filters_slaney(float *out, int n_mels, int n_fft);

/* Read-only tables shared by every session of a model. */
struct mel_bank {
    int n_mels;
    const struct kern *kern;
    struct spectrum spectrum; /* its bands: [n_mels, MEL_BINS] */
};
/* filters and kern are kept, not copied */
void mel_bank_init(struct mel_bank *b, const float *filters, int n_mels, const struct kern *kern);

/* One stream from audio to frames. PCM is pushed in pieces of any size. Frames are written in order, each is computed once, and their
 * values do not depend on the pieces. All memory is allocated by open. */
struct mel;
size_t mel_memory(const steno_team *team);
int mel_open(struct mel **out, struct arena *a, const struct mel_bank *bank, steno_team *team, steno_error *e);
void mel_close(struct mel *m); /* frees memory outside the arena; m may be NULL */
void mel_begin(struct mel *m);
/* The exact number of frames that pushing n more samples writes; with end, that the push and then mel_end(extra = 0) write. */
int64_t mel_frames_for(const struct mel *m, int64_t n, int end);
int64_t mel_samples_for(const struct mel *m, int64_t frames); /* the minimum number of further samples that complete `frames` frames */
/* Add pcm[n] and write the completed frames: out[frames, n_mels] of log10(max(mel, 1e-10)), not yet clamped or scaled. NaN samples count as
 * 0, infinite ones as a very large number. @return frames written: mel_frames_for(m, n, 0) */
int64_t mel_push(struct mel *m, const float *pcm, int64_t n, float *out);
/* No more samples: write the frames that still cover audio, so that floor(N / 160) frames have been written in all. Also write up to
 * `extra` further frames that still cover the last samples, for windows that extend past the end. All later frames are log10(1e-10) = -10.
 * At most MEL_END frames cover audio past the end. @return frames written, at most mel_frames_for(m, 0, 1) + extra */
int64_t mel_end(struct mel *m, int64_t extra, float *out);
int64_t mel_samples(const struct mel *m); /* pushed since begin */
float mel_loudest(const struct mel *m);   /* the largest value of all frames since begin; -10: no frames */

/* The encoder's input: x[n] of log10 values, clamped from below to max - 8 and scaled to about [-1, 1.5]. `max` is the largest value of the
 * whole file, including the 30 s of silence that the reference appends (-10). */
static inline void mel_scale(float *x, size_t n, float max)
{
    const float lowest = max - 8.0f;
    for (size_t i = 0; i < n; i++) x[i] = ((x[i] > lowest ? x[i] : lowest) + 4.0f) / 4.0f;
}
#endif
