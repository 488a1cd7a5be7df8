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

/* Slaney scale and area normalisation, 0..8000 Hz: out[n_mels, MEL_BINS], bit-equal to the reference's stored filters. */
void mel_filters_slaney(float *out, int n_mels);

/* Read-only tables shared by every session of a model. */
struct mel_bank {
    int n_mels;
    const struct kern *kern;
    struct spectrum spectrum; /* its bands: [n_mels, MEL_BINS] */
};
/* filters and kern are kept, not copied */
void mel_bank_init(struct mel_bank *b, const float *filters, int n_mels, const struct kern *kern);

/* One stream of audio on its way to frames. PCM is pushed in pieces of any size; frames come out in order, each computed once from
 * values that do not depend on the pieces. All memory is taken at open. */
struct mel;
size_t mel_memory(const steno_team *team);
int mel_open(struct mel **out, struct arena *a, const struct mel_bank *bank, steno_team *team, steno_error *e);
void mel_close(struct mel *m); /* what is not in the arena; NULL is allowed */
void mel_begin(struct mel *m);
/* Frames that pushing n more samples gives; with end, that pushing them and then mel_end(extra = 0) gives. Exact. */
int64_t mel_frames_for(const struct mel *m, int64_t n, int end);
int64_t mel_samples_for(const struct mel *m, int64_t frames); /* the fewest samples more that give so many frames */
/* Add pcm[n] and write the frames that became complete: out[frames, n_mels] of log10(max(mel, 1e-10)), not yet clamped or scaled.
 * NaN samples count as 0, infinite ones as a very large number. @return frames written: mel_frames_for(m, n, 0) */
int64_t mel_push(struct mel *m, const float *pcm, int64_t n, float *out);
/* No more samples: write the frames that still touch audio, so that floor(N / 160) frames have come out in all, and up to `extra`
 * frames more that still see the last samples (for windows that look past the end; the rest are log10(1e-10) = -10): never more
 * than MEL_END do. @return frames written, at most mel_frames_for(m, 0, 1) + extra */
int64_t mel_end(struct mel *m, int64_t extra, float *out);
int64_t mel_samples(const struct mel *m); /* pushed since begin */
float mel_loudest(const struct mel *m);   /* the largest value of all frames since begin, -10: there is none */

/* What the encoder is given: x[n] of log10 values, raised to max - 8 and brought to about [-1, 1.5]. `max` is the largest value of the
 * whole file, the 30 s of silence that the reference appends (-10) included. */
static inline void mel_scale(float *x, size_t n, float max)
{
    const float lowest = max - 8.0f;
    for (size_t i = 0; i < n; i++) x[i] = ((x[i] > lowest ? x[i] : lowest) + 4.0f) / 4.0f;
}
#endif
