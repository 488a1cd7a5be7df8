/* steno: from an audio source to rows of filter banks. SPDX-License-Identifier: MIT
 *
 * Audio that is longer than a model's input is cut between words if possible. The quietness of a frame is the mean level over a fifth of a
 * second around it, so a stop consonant does not count as a pause. */
#include "audio/fbank_stream.h"
#include <math.h>
#include <string.h>
#include "audio/steady.h"
#include "audio/stft.h"
#include "base/os.h"

/* ---- quiet places to cut audio ----------------------------------------------------------------------------------------------- */

enum { LEVEL_NEAR = 10, LEVEL_FRAME = 160 };

int64_t level_quietest(const float *level, int64_t n, int64_t from, int64_t to)
{
    int64_t best = to;
    double min = INFINITY;
    for (int64_t t = from; t < to; t++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t k = t - LEVEL_NEAR; k <= t + LEVEL_NEAR; k++)
            if (k >= 0 && k < n) sum += (double)level[k], count++;
        if (sum / (double)count < min) min = sum / (double)count, best = t;
    }
    return best;
}

int64_t level_cut(const float *level, int64_t n, int64_t max)
{
    return level_quietest(level, n, max - max / 3, max);
}

struct levels {
    float *level;
    const float *pcm;
};

static void levels_run(void *arg, int64_t first, int n, int slot)
{
    const struct levels *l = arg;
    (void)slot;
    for (int64_t t = first; t < first + n; t++) {
        const float *x = l->pcm + t * LEVEL_FRAME;
        double sum = 0;
        for (int i = 0; i < LEVEL_FRAME; i++) sum += (double)x[i] * (double)x[i];
        l->level[t] = sum < 1e30 ? (float)log10(sum / LEVEL_FRAME + 1e-10) : 30; /* NAN gives 30, too */
    }
}

void level_measure(float *level, const float *pcm, int64_t n, steno_team *team)
{
    struct levels l = { level, pcm };
    stft_run(team, n, levels_run, &l);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------- */

enum { GATHER_CHUNKS = 5, NEAR_FRAMES = 100 /* a second: how far from its sound a token may be */ };

static int64_t gather_of(const steno_team *team) { return FBANK_STREAM_CHUNK * (team_threads(team) > 1 ? GATHER_CHUNKS : 1); }

static size_t pcm_len(int64_t clip, const steno_team *team)
{
    return (size_t)(clip ? clip + 1 : gather_of(team));
}

static size_t level_len(int64_t clip) { return clip ? (size_t)(clip / FBANK_HOP) + 1 : 0; }

size_t fbank_stream_memory(const struct fbank_bank *bank, int64_t clip, const steno_team *team)
{
    return fbank_memory(bank, team) + (pcm_len(clip, team) + level_len(clip)) * sizeof(float);
}

int fbank_stream_init(struct fbank_stream *r, struct arena *a, const struct fbank_bank *bank, int64_t clip, steno_team *team,
                      steno_error *e)
{
    memset(r, 0, sizeof *r);
    const int rc = fbank_open(&r->fbank, a, bank, team, e);
    if (rc) return rc;
    r->clip = clip;
    r->row = (int64_t)bank->lfr_n * FBANK_HOP;
    r->team = team;
    r->gather = gather_of(team);
    r->pcm = arena_array(a, pcm_len(clip, team), sizeof *r->pcm);
    if (clip) r->level = arena_array(a, level_len(clip), sizeof *r->level);
    return r->pcm && (r->level || !clip) ? STENO_OK : err_nomem(e, pcm_len(clip, team) * sizeof *r->pcm, "audio");
}

/* Frames of the longest clip; of a stream, those of a run, near it and read ahead, 20 s. */
static size_t levels_len(const struct fbank_bank *bank, int32_t rows)
{
    const size_t n = (size_t)(fbank_samples_of_rows(bank, rows) / FBANK_HOP) + FBANK_LFR_MAX;
    return n > FBANK_LEVELS ? n : FBANK_LEVELS;
}

size_t fbank_stream_levels_memory(const struct fbank_bank *bank, int32_t rows)
{
    return levels_len(bank, rows) * sizeof(struct frame_level);
}

int fbank_stream_levels_open(struct fbank_stream *r, struct arena *a, int32_t rows, steno_error *e)
{
    r->n_levels = (int64_t)levels_len(fbank_bank_in(r->fbank), rows);
    r->levels = arena_array(a, (size_t)r->n_levels, sizeof *r->levels);
    return r->levels ? STENO_OK : err_nomem(e, (size_t)r->n_levels * sizeof *r->levels, "audio");
}

void fbank_stream_levels_use(struct fbank_stream *r, int on)
{
    fbank_levels(r->fbank, on ? r->levels : NULL, r->n_levels);
}

void fbank_stream_close(struct fbank_stream *r)
{
    fbank_close(r->fbank);
    r->fbank = NULL;
}

/* Did n samples arrive at about the speed of live speech? */
static int is_slow(int64_t n, int64_t ns)
{
    enum { TIMES = 8, NS_PER_SAMPLE = 1000000000 / FBANK_RATE };
    return ns > n * NS_PER_SAMPLE / TIMES;
}

/* Reads at most n samples into pcm. @return their number, 0 at the end, STREAM_WAITS, or a status */
static int64_t samples_read(struct fbank_stream *r, float *pcm, int64_t n, steno_error *e)
{
    if (r->should_stop && r->should_stop(r->user)) return err_set(e, STENO_ECANCELED, "canceled while reading audio");
    if (r->hurries && r->is_slow) return STREAM_WAITS;
    if (n > r->left) n = r->left;
    if (n > FBANK_STREAM_CHUNK) n = FBANK_STREAM_CHUNK;
    const int64_t t = os_now_ns(), got = n > 0 ? r->src->read(r->src->user, pcm, n) : 0;
    const int64_t took = os_now_ns() - t;
    r->time.source_ns += took;
    if (got == STENO_SOURCE_WAIT && r->may_wait) return STREAM_WAITS;
    if (got < 0 || got > n) return err_set(e, STENO_ESOURCE, "the audio source failed after %lld samples", (long long)r->samples);
    r->is_slow = is_slow(got, took);
    r->samples += got;
    r->left -= got;
    if (!got) r->ended = 1;
    return got;
}

void fbank_stream_begin(struct fbank_stream *r, const steno_source *src, int64_t skip, int64_t max)
{
    r->src = src;
    r->samples = r->n_held = 0;
    r->ended = r->flushed = r->may_wait = r->hurries = r->is_slow = 0;
    r->failed = STENO_OK;
    r->clip_end = -1;
    r->skip = skip;
    r->left = max ? skip + max : INT64_MAX;
    fbank_begin(r->fbank);
}

static int pass_over(struct fbank_stream *r, steno_error *e)
{
    while (r->samples < r->skip && !r->ended) {
        const int64_t got = samples_read(r, r->pcm, r->skip - r->samples, e);
        if (got < 0) return (int)got;
    }
    return STENO_OK;
}

int64_t fbank_stream_samples(struct fbank_stream *r, float *pcm, int64_t n, steno_error *e)
{
    const int rc = pass_over(r, e);
    return rc ? rc : r->ended ? 0 : samples_read(r, pcm, n, e);
}

/* ---- clips */

/* Number of samples of the current clip: all that are held if no more follow, else up to a quiet place. */
static int64_t clip_end(const struct fbank_stream *r)
{
    if (r->n_held <= r->clip) return r->n_held;
    if (r->exact) return r->clip;
    const int64_t frames = r->clip / FBANK_HOP;
    level_measure(r->level, r->pcm, frames, r->team);
    return level_cut(r->level, frames, frames) * FBANK_HOP;
}

int fbank_stream_gather(struct fbank_stream *r, int *has, steno_error *e)
{
    const int rc = pass_over(r, e);
    *has = 0;
    if (rc || (r->ended && !r->n_held)) return rc;
    while (r->n_held <= r->clip && !r->ended) { /* one sample more than a clip shows that another clip follows */
        const int64_t got = samples_read(r, r->pcm + r->n_held, r->clip + 1 - r->n_held, e);
        if (got < 0) return (int)got;
        r->n_held += got;
    }
    const int64_t t = os_now_ns();
    if (r->clip_end < 0) r->clip_end = clip_end(r); /* else the clip was read before and not taken yet */
    r->time.features_ns += os_now_ns() - t;
    *has = 1;
    return STENO_OK;
}

int64_t fbank_stream_rows_of(const struct fbank_stream *r, int64_t n)
{
    fbank_begin(r->fbank);
    return fbank_rows_for(r->fbank, n, 1);
}

int fbank_stream_rows(const struct fbank_stream *r)
{
    return (int)fbank_stream_rows_of(r, r->clip_end);
}

void fbank_stream_fill(struct fbank_stream *r, float *out, size_t ld, const float *pcm, int64_t n)
{
    const int64_t t = os_now_ns();
    fbank_clip(r->fbank, pcm, n, out, ld);
    r->time.features_ns += os_now_ns() - t;
}

void fbank_stream_clip(struct fbank_stream *r, float *out, size_t ld)
{
    const int64_t end = r->clip_end;
    fbank_stream_fill(r, out, ld, r->pcm, end);
    r->n_held -= end;
    r->clip_end = -1;
    memmove(r->pcm, r->pcm + end, (size_t)r->n_held * sizeof *r->pcm);
}

/* ---- a stream */

int fbank_stream_piece(struct fbank_stream *r, int64_t samples, float *out, size_t ld, int *n, steno_error *e)
{
    const int rc = pass_over(r, e);
    while (!rc && r->n_held < samples && !r->ended) {
        const int64_t got = samples_read(r, r->pcm, samples - r->n_held, e);
        if (got < 0) return (int)got;
        const int64_t t = os_now_ns();
        *n += (int)fbank_push(r->fbank, r->pcm, got, out + (size_t)*n * ld, ld);
        r->n_held += got;
        r->time.features_ns += os_now_ns() - t;
    }
    return rc;
}

/* The most samples, up to a read, that give at most `rows` rows. */
static int64_t samples_for(const struct fbank_stream *r, int64_t rows)
{
    const int64_t most = rows * r->row;
    return most < FBANK_STREAM_CHUNK ? most : FBANK_STREAM_CHUNK;
}

int fbank_stream_least(struct fbank_stream *r, int least, int most, float *out, size_t ld, int *n, steno_error *e)
{
    int rc = pass_over(r, e);
    while (!rc && !r->ended && *n < most && !(*n >= least && r->is_slow)) {
        const int64_t got = samples_read(r, r->pcm, samples_for(r, most - *n), e);
        if (got < 0) rc = (int)got;
        if (got <= 0) break;
        const int64_t t = os_now_ns();
        *n += (int)fbank_push(r->fbank, r->pcm, got, out + (size_t)*n * ld, ld);
        r->time.features_ns += os_now_ns() - t;
    }
    return rc == STREAM_WAITS && *n >= least ? STENO_OK : rc;
}

void fbank_stream_restart(struct fbank_stream *r)
{
    fbank_begin(r->fbank);
}

int64_t fbank_stream_feed(struct fbank_stream *r, const float *pcm, int64_t n, int most, float *out, size_t ld, int *rows)
{
    const int64_t t = os_now_ns();
    int64_t at = 0;
    while (at < n && *rows < most) {
        const int64_t fit = samples_for(r, most - *rows), take = n - at < fit ? n - at : fit;
        *rows += (int)fbank_push(r->fbank, pcm + at, take, out + (size_t)*rows * ld, ld);
        at += take;
    }
    r->time.features_ns += os_now_ns() - t;
    return at;
}

/* First frame of a row. */
static int64_t frame_of(const struct fbank_bank *b, int64_t row)
{
    const int64_t chunk = b->chunk ? b->chunk : b->lfr_n, per = (chunk + b->lfr_n - 1) / b->lfr_n;
    const int64_t at = row / per * chunk + row % per * b->lfr_n - (b->kind == FBANK_CENTRED ? b->lead : 0);
    return at < 0 ? 0 : at;
}

/* Is there no speech in frames [from, to)? */
static int frames_lack_speech(const struct fbank_stream *r, int64_t from, int64_t to)
{
    struct frame_level level[2 * NEAR_FRAMES + FBANK_LFR_MAX];
    const int64_t oldest = fbank_frames(r->fbank) - r->n_levels;
    if (from < oldest) return 0; /* not known any more */
    for (int64_t t = from; t < to; t++) level[t - from] = r->levels[t % r->n_levels];
    return levels_lack_speech(level, to - from);
}

void fbank_stream_mute(const struct fbank_stream *r, int64_t row, int n, int64_t end, uint8_t *mute)
{
    const struct fbank_bank *b = fbank_bank_in(r->fbank);
    const int64_t all = fbank_frames(r->fbank), last = frame_of(b, end) < all ? frame_of(b, end) : all;
    for (int i = 0; i < n; i++) {
        const int64_t first = frame_of(b, row + i) - NEAR_FRAMES, all_near = frame_of(b, row + i + 1) + NEAR_FRAMES - first;
        const int64_t begin = first > 0 ? first : 0, to = begin + all_near < last ? begin + all_near : last, from = to - all_near;
        mute[i] = (uint8_t)frames_lack_speech(r, from < 0 ? 0 : from < begin ? from : begin, to);
    }
}

int fbank_stream_flush(struct fbank_stream *r, float *out, size_t ld)
{
    return (int)fbank_end(r->fbank, out, ld);
}

/* Reads as many samples as are gathered and give at most `max` rows, at least one read. *rc: why there are no more. @return the number of
 * samples */
static int64_t samples_gather(struct fbank_stream *r, int64_t max, int *rc, steno_error *e)
{
    int64_t n = 0;
    do {
        const int64_t got = samples_read(r, r->pcm + n, FBANK_STREAM_CHUNK, e);
        if (got < 0) *rc = (int)got;
        if (got < 0) break;
        n += got;
    } while (!r->ended && n + FBANK_STREAM_CHUNK <= r->gather && fbank_rows_for(r->fbank, n + FBANK_STREAM_CHUNK, 1) <= max);
    return n;
}

int fbank_stream_next(struct fbank_stream *r, int max, float *out, size_t ld, int *n, steno_error *e)
{
    int64_t rows = 0;
    *n = 0;
    int rc = r->failed ? r->failed : pass_over(r, e);
    while (!rc && !r->ended && rows + fbank_rows_for(r->fbank, FBANK_STREAM_CHUNK, 1) <= max) {
        const int64_t got = samples_gather(r, max - rows, &rc, e);
        if (rc == STENO_ECANCELED) return rc;
        const int64_t t = os_now_ns();
        rows += fbank_push(r->fbank, r->pcm, got, out + (size_t)rows * ld, ld);
        r->time.features_ns += os_now_ns() - t;
    }
    if (!rc && r->ended && !r->flushed) {
        rows += fbank_end(r->fbank, out + (size_t)rows * ld, ld);
        r->flushed = 1;
    }
    *n = (int)rows;
    if (!rows) return rc;
    if (rc) r->failed = rc == STREAM_WAITS ? STENO_OK : rc; /* samples that were read are processed first */
    return STENO_OK;
}
