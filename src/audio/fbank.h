/* steno: log-mel filter banks as Kaldi makes them, stacked to a low frame rate. SPDX-License-Identifier: MIT
 *
 * Frames have 400 samples, one every 160 at 16 kHz, none beyond the last sample. Per frame: mean removed, pre-emphasis 0.97, symmetric
 * Hamming window, 512 points, power, triangles equally spaced on mel(f) = 1127 ln(1 + f / 700) from 20 Hz to 8 kHz, natural logarithm
 * floored at FLT_EPSILON. Samples count as 16-bit values (times 32768); no noise is added. Row i stacks lfr_m frames around frame i lfr_n,
 * with the first and the last frame repeated at the edges, and is then shifted and scaled.
 * Reference: torchaudio's Kaldi-compatible fbank and FunASR's WavFrontend with dither 0.
 *
 * Centred filter banks: frame t is centred at sample 160 t, and a clip of n samples has floor(n / 160) frames. Pre-emphasis 0.97 over the
 * whole clip, zeros outside it, symmetric Hann window, 512 points, power, Slaney's filters (mel.h), ln(x + 2^-24). Row i has frames i lfr_n
 * to i lfr_n + lfr_m - 1, zeros after the last frame, and then the number of its frames. `lead` rows of frames precede frame 0: row 0
 * begins with zeros, which count as frames. A clip's frames are normalised by their mean and standard deviation in each band, or not at
 * all. Reference: NeMo 3.0, AudioToMelSpectrogramPreprocessor without dither.
 *
 * Log-mel: the frames of mel_clip.h, lfr_n in a row. Rows begin again with every `chunk` frames, so the last row of a chunk may have fewer;
 * missing ones are zeros. Only whole clips have such rows (fbank_clip).
 *
 * For a network that reads the samples themselves, the rows are frames of samples instead (fbank.c). */
#ifndef STENO_AUDIO_FBANK_H
#define STENO_AUDIO_FBANK_H
#include "audio/stft.h"

enum { FBANK_RATE = 16000, FBANK_WINDOW = 400, FBANK_HOP = 160, FBANK_FFT = 512, FBANK_BINS = 80 /* mels, usually */ };
enum { FBANK_LFR_MAX = 32, FBANK_PUSH = 16000 /* samples read at a time */ };

enum fbank_kind { FBANK_KALDI, FBANK_CENTRED, FBANK_LOG_MEL };

/* Read-only tables and choices shared by every session of a model. */
struct fbank_bank {
    enum fbank_kind kind;
    int n_mels, lfr_m, lfr_n;
    int chunk;                    /* frames after which rows begin again; 0: never */
    int lead, is_normalised;      /* of centred filter banks */
    const struct kern *kern;
    struct spectrum spectrum;     /* window: Hamming times 32768, exact in every implementation, or Hann; bands: [n_mels, FBANK_FFT / 2 +
                                   * 1] */
    const float *shift, *scale;   /* [n_mels * lfr_m]: row = (x + shift) * scale, or both NULL; kept, not copied */
    float last_bit[SPECTRUM_BANDS], last_power[SPECTRUM_BANDS]; /* noise of the last of 16 bits in each band, as the frames have it and as
                                                                  * power: what is below holds no sound */
    int frame, margin;            /* for rows that are frames: samples of a frame, and of the margin on each side; 0: rows are filter
                                   * banks */
};
struct fbank_params {
    int n_mels, lfr_m, lfr_n;
    const float *shift, *scale;   /* as above */
};
/* 1 <= n_mels <= SPECTRUM_BANDS, 1 <= lfr_n <= lfr_m <= FBANK_LFR_MAX, else STENO_EUNSUPPORTED. kern is kept. */
int fbank_bank_init(struct fbank_bank *b, struct arena *a, const struct fbank_params *p, const struct kern *kern, steno_error *e);
/* The same for centred filter banks, `stack` frames in a row; 0 <= lead < stack. filters: [n_mels, FBANK_FFT / 2 + 1], kept; NULL:
 * Slaney's. */
struct fbank_centred { int n_mels, stack, lead, is_normalised; const float *filters; };
int fbank_bank_centred(struct fbank_bank *b, struct arena *a, const struct fbank_centred *p, const struct kern *kern, steno_error *e);
/* The same for log-mel. */
int fbank_bank_log_mel(struct fbank_bank *b, struct arena *a, int n_mels, int stack, int chunk, const struct kern *kern, steno_error *e);
/* A bank whose rows are frames of samples, at most FRAME_MAX. */
void fbank_bank_frames(struct fbank_bank *b, int frame, int margin, const struct kern *kern);
static inline int fbank_features(const struct fbank_bank *b) /* floats of a row that are features */
{
    return b->frame ? b->frame + 2 * b->margin : b->n_mels * b->lfr_m;
}
static inline int fbank_width(const struct fbank_bank *b) /* floats of a row */
{
    return fbank_features(b) + (b->kind == FBANK_CENTRED);
}

static inline int fbank_row_ms(const struct fbank_bank *b) /* from row to row */
{
    return b->lfr_n * FBANK_HOP / (FBANK_RATE / 1000);
}

/* Rows that hold this number of frames, and samples that this number of rows spans. */
static inline int64_t fbank_rows_of_frames(const struct fbank_bank *b, int64_t frames)
{
    const int64_t chunk = b->chunk ? b->chunk : b->lfr_n, per = (chunk + b->lfr_n - 1) / b->lfr_n;
    return frames / chunk * per + (frames % chunk + b->lfr_n - 1) / b->lfr_n;
}
static inline int64_t fbank_samples_of_rows(const struct fbank_bank *b, int64_t rows)
{
    const int64_t chunk = b->chunk ? b->chunk : b->lfr_n, per = (chunk + b->lfr_n - 1) / b->lfr_n;
    return (rows / per * chunk + rows % per * b->lfr_n) * FBANK_HOP;
}

/* One stream from audio to rows. PCM is pushed in pieces of any size. Rows are written in order, each as soon as its last frame is
 * complete, and do not depend on the pieces. All memory is allocated by open. */
struct fbank;
size_t fbank_memory(const struct fbank_bank *bank, const steno_team *team);
int fbank_open(struct fbank **out, struct arena *a, const struct fbank_bank *bank, steno_team *team, steno_error *e);
void fbank_close(struct fbank *f); /* frees memory outside the arena; f may be NULL */
void fbank_begin(struct fbank *f);
void fbank_mirror(struct fbank *f, int mirrored); /* call right after begin: how frames of samples begin (fbank.c); does nothing for filter
                                                   * banks */
/* The exact number of rows that pushing n more samples writes; with end, that the push and then fbank_end write. */
int64_t fbank_rows_for(const struct fbank *f, int64_t n, int end);
/* Add pcm[n] and write the completed rows: out[rows, fbank_width], rows ld floats apart, the floats between them untouched. NaN samples
 * count as 0, infinite ones as a very large number. @return rows written: fbank_rows_for(f, n, 0) */
int64_t fbank_push(struct fbank *f, const float *pcm, int64_t n, float *out, size_t ld);
/* No more samples: write the rows whose right side repeats the last frame, ceil(frames / lfr_n) in all. Audio of fewer than 400 samples has
 * no rows (centred: fewer than 160). @return fbank_rows_for(f, 0, 1) */
int64_t fbank_end(struct fbank *f, float *out, size_t ld);
/* Normalise a clip in place, after fbank_end, if its kind asks for it: x has all rows since fbank_begin. */
void fbank_normalise(const struct fbank *f, float *x, size_t ld);
/* The rows of pcm[n] by itself, of any kind. @return their number: fbank_begin, then fbank_rows_for(f, n, 1) */
int64_t fbank_clip(struct fbank *f, const float *pcm, int64_t n, float *out, size_t ld);
int64_t fbank_samples(const struct fbank *f); /* pushed since begin */
/* Levels of frames (steady.h): that of frame t since begin goes to level[t % n]. n: FBANK_LEVELS or more. The memory is the caller's;
 * level NULL: none */
enum { FBANK_LEVELS = 2048 };
struct frame_level;
void fbank_levels(struct fbank *f, struct frame_level *level, int64_t n);
const struct fbank_bank *fbank_bank_in(const struct fbank *f);
int64_t fbank_frames(const struct fbank *f); /* since begin; of log-mel: of the last clip */
#endif
