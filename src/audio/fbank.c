/* steno: Kaldi's filter banks at a low frame rate. SPDX-License-Identifier: MIT
 *
 * Samples are read where they are; those that begin the next frame are kept. Audio is processed in steps that fill a block of frames. The
 * team computes the frames of a step, then the rows that are complete. Fewer than lfr_m frames wait between steps, because a row is written
 * as soon as its last frame is known.
 *
 * For networks that read samples, frames follow each other without overlap. Each is stored in a row between two margins. The right margin
 * is the mirrored end of the frame (its last sample once). The left margin holds the samples before the frame, zeros before the first
 * sample; with `mirrored` it is the mirrored beginning of the frame. The last frame is filled with zeros. */
#include "audio/fbank.h"
#include <math.h>
#include <string.h>
#include "audio/mel_clip.h"
#include "audio/steady.h"
#include "audio/stft.h"
#include "base/os.h"

/* ---- frames of samples ------------------------------------------------------------------------------------------------------- */

enum { FRAME_MAX = 2048 };

struct sample_frames {
    int n, margin;       /* samples of a frame, at most FRAME_MAX; samples of a margin, less than n */
    int mirrored;        /* 1: the left margin is mirrored, too */
    int held;            /* samples already held of the next frame */
    float *x;            /* [margin + n] the samples before the next frame, then its own */
    int64_t samples;     /* pushed */
};

static size_t frames_room(int n, int margin) { return (size_t)n + (size_t)margin; } /* floats of x */

static const float FRAME_LIMIT = 1e10f; /* the power of a larger sample would overflow */

static void frames_begin(struct sample_frames *f, int mirrored)
{
    f->mirrored = mirrored;
    f->held = 0;
    f->samples = 0;
    memset(f->x, 0, frames_room(f->n, f->margin) * sizeof *f->x);
}

static int64_t frames_rows_for(const struct sample_frames *f, int64_t n, int end)
{
    return (f->held + n + (end ? f->n - 1 : 0)) / f->n;
}

/* Write the current frame as a row, and keep its end as the margin of the next one. */
static void frame_row_write(float *out, struct sample_frames *f)
{
    const int m = f->margin, n = f->n;
    float *frame = out + m;
    memcpy(out, f->x, frames_room(n, m) * sizeof *out);
    for (int i = 1; i <= m; i++) frame[n - 1 + i] = frame[n - 1 - i];
    for (int i = 1; i <= m && f->mirrored; i++) frame[-i] = frame[i];
    memmove(f->x, f->x + n, (size_t)m * sizeof *f->x);
    f->held = 0;
}

/* Add pcm[n] and write the rows that became complete, ld floats apart; NaN samples count as 0, infinite ones as a very large number.
 * @return rows written: frames_rows_for(f, n, 0) */
static int64_t frames_push(struct sample_frames *f, const float *pcm, int64_t n, float *out, size_t ld)
{
    int64_t rows = 0;
    f->samples += n;
    while (n > 0) {
        const int64_t room = f->n - f->held, take = n < room ? n : room;
        stft_samples(f->x + f->margin + f->held, pcm, take, FRAME_LIMIT);
        f->held += (int)take;
        pcm += take;
        n -= take;
        if (f->held == f->n) frame_row_write(out + (size_t)rows++ * ld, f);
    }
    return rows;
}

/* The last frame, if it has begun. */
static int64_t frames_end(struct sample_frames *f, float *out, size_t ld)
{
    (void)ld;
    if (!f->held) return 0;
    memset(f->x + f->margin + f->held, 0, (size_t)(f->n - f->held) * sizeof *f->x);
    frame_row_write(out, f);
    return 1;
}

enum {
    STEP_ALONE = 101,                                     /* frames in a step of one thread */
    STEP_TEAM = FBANK_LEVELS / 2,                         /* frames in a step of several threads */
    GROUP = FBANK_HOP * (STFT_GROUP - 1) + FBANK_WINDOW,  /* samples that a thread processes at a time */
    SUMS = 4,
    BEFORE = FBANK_WINDOW / 2                             /* zeros before the first sample of centred frames */
};
static const float EMPHASIS = 0.97f;
static const float LIMIT = 1e10f; /* the power of a larger sample, times 32768, would overflow */

/* Memory of a thread for a group of frames. */
struct fbank_thread {
    float samples[GROUP];
    float frame[STFT_GROUP * FBANK_FFT]; /* ready for the window */
    void *scratch;
};

struct fbank {
    const struct fbank_bank *bank;
    steno_team *team;
    struct fbank_thread *threads;
    float *held;          /* [FBANK_WINDOW] samples from the next frame's first on */
    float *emphasised;    /* [samples of a step] centred: samples after pre-emphasis */
    float last;           /* centred: the sample before the next one */
    float *frame;         /* [step + lfr_m, n_mels] frames from frame_pos on */
    int64_t step;         /* most frames at once */
    int64_t len;          /* samples held */
    int64_t samples;      /* pushed */
    int64_t frames, rows; /* computed, written */
    int64_t frame_pos;
    struct frame_level *level; /* [n_level] of frame t at t % n_level; NULL: not needed */
    int64_t n_level;
    struct mel_clip clip; /* used for log-mel; the members above are then unused */
    struct sample_frames frames_of; /* used where rows are frames of samples; the members above are then unused */
};

/* ---- frames ------------------------------------------------------------------------------------------------------------------ */

/* In double, so that the mean of equal samples is that sample and a constant signal becomes exactly 0. */
static float mean_of(const float *x)
{
    double sum[SUMS] = { 0 };
    for (int i = 0; i < FBANK_WINDOW; i += SUMS)
        for (int l = 0; l < SUMS; l++) sum[l] += (double)x[i + l];
    return (float)((sum[0] + sum[1] + (sum[2] + sum[3])) / FBANK_WINDOW);
}

/* out[FBANK_WINDOW] of the frame x[FBANK_WINDOW]: mean removed, then pre-emphasis */
static void frame_prepare(float *out, const float *x)
{
    const float mean = mean_of(x);
    float centred[FBANK_WINDOW];
    for (int i = 0; i < FBANK_WINDOW; i++) centred[i] = x[i] - mean;
    out[0] = centred[0] - 0.97f * centred[0];
    for (int i = 1; i < FBANK_WINDOW; i++) out[i] = centred[i] - 0.97f * centred[i - 1];
}

struct fbank_job {
    const struct fbank *f;
    struct stft_span span;
    float *out; /* [n, n_mels] */
};

static void frames_run(void *arg, int64_t first, int n, int slot)
{
    const struct fbank_job *j = arg;
    const struct fbank_bank *b = j->f->bank;
    struct fbank_thread *t = &j->f->threads[slot];
    stft_copy(t->samples, &j->span, first * FBANK_HOP, (int64_t)(n - 1) * FBANK_HOP + FBANK_WINDOW);
    for (int i = 0; i < n; i++) {
        float *frame = t->frame + i * FBANK_FFT;
        if (b->kind == FBANK_CENTRED) memcpy(frame, t->samples + i * FBANK_HOP, FBANK_WINDOW * sizeof *frame);
        else frame_prepare(frame, t->samples + i * FBANK_HOP);
    }
    b->kern->spectra(j->out + first * b->n_mels, t->frame, FBANK_FFT, (size_t)n, &b->spectrum, t->scratch);
    for (int64_t i = first; i < first + n && j->f->level; i++) /* a step has fewer frames than the ring */
        j->f->level[(j->f->frames + i) % j->f->n_level] = level_of_frame(b, j->out + i * b->n_mels);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

/* Frames of row i before frame i lfr_n. */
static int left_of(const struct fbank_bank *b)
{
    return b->kind == FBANK_CENTRED ? b->lead : (b->lfr_m - 1) / 2;
}

/* Rows whose frames are all among the first `frames`; with end, all rows. */
static int64_t rows_of(const struct fbank_bank *b, int64_t frames, int end)
{
    const int lead = b->kind == FBANK_CENTRED ? b->lead : 0;
    if (end) return frames ? (frames + lead + b->lfr_n - 1) / b->lfr_n : 0;
    const int64_t right = b->lfr_m - left_of(b); /* frames from i lfr_n on */
    return frames < right ? 0 : (frames - right) / b->lfr_n + 1;
}

static void row_write(float *out, const struct fbank *f, int64_t row)
{
    const struct fbank_bank *b = f->bank;
    const size_t n = (size_t)b->n_mels;
    for (int j = 0; j < b->lfr_m; j++) {
        int64_t t = row * b->lfr_n + j - left_of(b);
        if ((t < 0 || t >= f->frames) && b->kind == FBANK_CENTRED) {
            memset(out + (size_t)j * n, 0, n * sizeof *out);
            continue;
        }
        if (t < 0) t = 0;
        if (t >= f->frames) t = f->frames - 1;
        memcpy(out + (size_t)j * n, f->frame + (size_t)(t - f->frame_pos) * n, n * sizeof *out);
    }
    const int64_t left = f->frames - row * b->lfr_n + left_of(b);
    if (b->kind == FBANK_CENTRED) out[n * (size_t)b->lfr_m] = (float)(left < b->lfr_m ? left : b->lfr_m);
    if (b->shift)
        for (size_t i = 0; i < n * (size_t)b->lfr_m; i++) out[i] = (out[i] + b->shift[i]) * b->scale[i];
}

struct rows_job {
    const struct fbank *f;
    float *out;
    size_t ld;
};

static void rows_run(void *arg, int64_t first, int n, int slot)
{
    const struct rows_job *j = arg;
    (void)slot;
    for (int64_t i = first; i < first + n; i++) row_write(j->out + (size_t)i * j->ld, j->f, j->f->rows + i);
}

/* Write rows up to `end` and drop the frames that no later row needs. @return rows written */
static int64_t rows_emit(struct fbank *f, int64_t end, float *out, size_t ld)
{
    const int64_t n = end - f->rows;
    struct rows_job job = { f, out, ld };
    stft_run(f->team, n, rows_run, &job);
    f->rows = end;
    int64_t keep = end * f->bank->lfr_n - left_of(f->bank);
    if (keep > f->frames) keep = f->frames;
    if (keep <= f->frame_pos) return n;
    const size_t width = (size_t)f->bank->n_mels;
    memmove(f->frame, f->frame + (size_t)(keep - f->frame_pos) * width, (size_t)(f->frames - keep) * width * sizeof *f->frame);
    f->frame_pos = keep;
    return n;
}

/* ---- the stream -------------------------------------------------------------------------------------------------------------- */

static int64_t step_of(const steno_team *team) { return team_threads(team) > 1 ? STEP_TEAM : STEP_ALONE; }
static int64_t step_samples(const struct fbank *f) { return FBANK_HOP * (f->step - 1) + FBANK_WINDOW; }
static size_t threads_of(const steno_team *team) { return (size_t)stft_threads(team, step_of(team)); }

/* Take the memory of all members, but not of the struct itself. */
static void fbank_take(struct fbank *f, struct arena_take *t, const struct fbank_bank *bank, const steno_team *team)
{
    if (bank->kind == FBANK_LOG_MEL) {
        mel_clip_take(&f->clip, t, bank, team);
        return;
    }
    if (bank->frame) {
        f->frames_of = (struct sample_frames){ .n = bank->frame, .margin = bank->margin };
        f->frames_of.x = arena_take(t, frames_room(bank->frame, bank->margin), sizeof *f->frames_of.x);
        return;
    }
    f->step = step_of(team);
    f->held = arena_take(t, FBANK_WINDOW, sizeof *f->held);
    f->emphasised = bank->kind == FBANK_CENTRED ? arena_take(t, (size_t)step_samples(f), sizeof *f->emphasised) : NULL;
    f->frame = arena_take(t, (size_t)(f->step + bank->lfr_m) * (size_t)bank->n_mels, sizeof *f->frame);
    f->threads = arena_take(t, threads_of(team), sizeof *f->threads);
    if (f->threads) os_pages_touch(f->threads, threads_of(team) * sizeof *f->threads);
    for (size_t i = 0; i < threads_of(team); i++) {
        void *scratch = arena_take(t, 1, kern_spectra_scratch(FBANK_FFT));
        if (f->threads) f->threads[i].scratch = scratch;
        if (scratch) os_pages_touch(scratch, kern_spectra_scratch(FBANK_FFT));
    }
}

size_t fbank_memory(const struct fbank_bank *bank, const steno_team *team)
{
    struct fbank f;
    struct arena_take t = { 0 };
    fbank_take(&f, &t, bank, team);
    return sizeof f + t.sz;
}

int fbank_open(struct fbank **out, struct arena *a, const struct fbank_bank *bank, steno_team *team, steno_error *e)
{
    struct arena_take t = { .a = a };
    struct fbank *f = arena_take(&t, 1, sizeof *f);
    *out = NULL;
    if (f) f->bank = bank, f->team = team, fbank_take(f, &t, bank, team);
    if (t.failed) return err_nomem(e, fbank_memory(bank, team), "the filter bank front end");
    *out = f;
    return STENO_OK;
}

void fbank_close(struct fbank *f)
{
    (void)f; /* all memory belongs to the arena */
}

void fbank_begin(struct fbank *f)
{
    f->len = f->samples = f->frames = f->rows = f->frame_pos = 0;
    if (f->bank->frame) frames_begin(&f->frames_of, 0);
    if (f->bank->kind != FBANK_CENTRED) return;
    f->last = 0;
    f->len = BEFORE;
    memset(f->held, 0, BEFORE * sizeof *f->held);
}

void fbank_mirror(struct fbank *f, int mirrored)
{
    f->frames_of.mirrored = mirrored;
}

/* Frames that n samples complete. */
static int64_t frames_in(int64_t n)
{
    return n < FBANK_WINDOW ? 0 : (n - FBANK_WINDOW) / FBANK_HOP + 1;
}

/* All frames of a stream of n samples so far, or in all. */
static int64_t frames_of(const struct fbank_bank *b, int64_t n, int end)
{
    return b->kind != FBANK_CENTRED ? frames_in(n) : end ? n / FBANK_HOP : frames_in(BEFORE + n);
}

int64_t fbank_rows_for(const struct fbank *f, int64_t n, int end)
{
    if (f->bank->frame) return frames_rows_for(&f->frames_of, n, end);
    if (f->bank->kind == FBANK_LOG_MEL) return end ? mel_clip_count(f->bank, n) : 0;
    return rows_of(f->bank, frames_of(f->bank, f->samples + n, end), end) - f->rows;
}

/* Compute `complete` frames of the held samples and pcm[n], and keep the rest. */
static void frames_add(struct fbank *f, const float *pcm, int64_t n, int64_t complete)
{
    float *frame = f->frame + (size_t)(f->frames - f->frame_pos) * (size_t)f->bank->n_mels;
    struct fbank_job job = { f, { f->held, pcm, f->len, n, LIMIT }, frame };
    stft_run(f->team, complete, frames_run, &job);
    f->len += n - complete * FBANK_HOP;
    stft_copy(f->held, &job.span, complete * FBANK_HOP, f->len);
    f->frames += complete;
}

/* Pre-emphasis: the product and the difference are rounded separately. */
static void emphasise(struct fbank *f, const float *pcm, int64_t n)
{
    float *x = f->emphasised;
    stft_samples(x, pcm, n, LIMIT);
    const float last = x[n - 1];
    for (int64_t i = n - 1; i > 0; i--) x[i] -= EMPHASIS * x[i - 1];
    x[0] -= EMPHASIS * f->last;
    f->last = last;
}

int64_t fbank_push(struct fbank *f, const float *pcm, int64_t n, float *out, size_t ld)
{
    int64_t written = 0;
    if (f->bank->frame) return frames_push(&f->frames_of, pcm, n, out, ld);
    while (n > 0) {
        const int64_t room = step_samples(f) - f->len, take = n < room ? n : room;
        if (f->emphasised) emphasise(f, pcm, take);
        frames_add(f, f->emphasised ? f->emphasised : pcm, take, frames_in(f->len + take));
        f->samples += take;
        pcm += take;
        n -= take;
        written += rows_emit(f, rows_of(f->bank, f->frames, 0), out + (size_t)written * ld, ld);
    }
    return written;
}

int64_t fbank_end(struct fbank *f, float *out, size_t ld)
{
    static float const zeros[FBANK_WINDOW + FBANK_HOP] = { 0 };
    if (f->bank->frame) return frames_end(&f->frames_of, out, ld);
    const int64_t more = frames_of(f->bank, f->samples, 1) - f->frames, need = FBANK_HOP * (more - 1) + FBANK_WINDOW - f->len;
    if (more > 0) frames_add(f, zeros, need > 0 ? need : 0, more);
    return rows_emit(f, rows_of(f->bank, f->frames, 1), out, ld);
}

/* The variance has one degree of freedom less than frames; a single frame becomes zeros. */
void fbank_normalise(const struct fbank *f, float *x, size_t ld)
{
    const struct fbank_bank *b = f->bank;
    double mean[SPECTRUM_BANDS] = { 0 }, square[SPECTRUM_BANDS] = { 0 };
    const int64_t n = f->frames;
    if (b->kind != FBANK_CENTRED || !b->is_normalised) return;
    for (int pass = 0; pass < 3; pass++) {
        for (int64_t t = 0; t < n; t++) {
            float *row = x + (size_t)((t + b->lead) / b->lfr_m) * ld + (size_t)((t + b->lead) % b->lfr_m) * (size_t)b->n_mels;
            for (int i = 0; i < b->n_mels; i++) {
                const double off = (double)row[i] - mean[i];
                if (pass == 0) square[i] += (double)row[i];
                else if (pass == 1) square[i] += off * off;
                else row[i] = (float)(off / square[i]);
            }
        }
        for (int i = 0; i < b->n_mels && pass == 0; i++) mean[i] = n ? square[i] / (double)n : 0, square[i] = 0;
        for (int i = 0; i < b->n_mels && pass == 1; i++) square[i] = sqrt(n > 1 ? square[i] / (double)(n - 1) : 0) + 1e-5;
    }
}

/* Rows of a clip of log-mel. */
static int64_t log_mel_clip(struct fbank *f, const float *pcm, int64_t n, float *out, size_t ld)
{
    const int64_t rows = n > 0 ? mel_clip_rows(&f->clip, f->team, pcm, n, out, ld) : 0;
    f->frames = n / FBANK_HOP;
    for (int64_t t = 0; t < f->frames && f->level; t++)
        f->level[t % f->n_level] = level_of_frame(f->bank, out + mel_clip_at(f->bank, t, ld));
    return rows;
}

int64_t fbank_clip(struct fbank *f, const float *pcm, int64_t n, float *out, size_t ld)
{
    fbank_begin(f);
    if (f->bank->kind == FBANK_LOG_MEL) return log_mel_clip(f, pcm, n, out, ld);
    int64_t rows = fbank_push(f, pcm, n, out, ld);
    rows += fbank_end(f, out + (size_t)rows * ld, ld);
    fbank_normalise(f, out, ld);
    return rows;
}

void fbank_levels(struct fbank *f, struct frame_level *level, int64_t n)
{
    f->level = level;
    f->n_level = n;
}

const struct fbank_bank *fbank_bank_in(const struct fbank *f)
{
    return f->bank;
}

int64_t fbank_frames(const struct fbank *f)
{
    return f->frames;
}

int64_t fbank_samples(const struct fbank *f)
{
    return f->bank->frame ? f->frames_of.samples : f->samples;
}
