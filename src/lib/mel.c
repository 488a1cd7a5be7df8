/* steno: the log-mel input of a model: the public calls. SPDX-License-Identifier: MIT */
#include <string.h>
#include "audio/mel_stream.h"
#include "model/family.h"

/* Where frames go, and how many are requested. */
struct mel_to {
    int (*frames)(void *user, const float *frames, int64_t n); /* not 0: end */
    void *user;
    int64_t most;
};

/* Passes the frames of all windows, one window at a time. */
static int mel_windows(struct mel_stream *f, const struct mel_to *to, float *window)
{
    const int64_t all = to->most < f->frames ? to->most : f->frames;
    int rc = STENO_OK;
    for (int64_t at = 0; at < all && !rc; at += f->window) {
        const int64_t left = all - at, n = left < f->window ? left : f->window;
        rc = mel_stream_window(f, at, (int)n, 0, window, NULL);
        if (!rc && to->frames(to->user, window, n)) rc = STENO_ECANCELED;
    }
    return rc;
}

static int64_t log_mel(const steno_model *m, const steno_source *src, const struct mel_to *to)
{
    struct arena a;
    struct mel_stream f = { 0 };
    arena_init(&a);
    const int frames = 2 * m->audio_ctx;
    float *window = arena_array(&a, (size_t)frames * (size_t)mel_bank_of(m)->n_mels, sizeof *window);
    int rc = window ? mel_stream_init(&f, &a, mel_bank_of(m), frames, NULL, NULL) : STENO_ENOMEM;
    if (!rc) rc = mel_stream_listen(&f, src, NULL);
    if (!rc) rc = mel_windows(&f, to, window);
    const int64_t made = f.frames;
    mel_stream_close(&f);
    arena_free(&a);
    return rc ? rc : made;
}

/* Fills pcm[n], except at the end. @return the number of samples, or a status */
static int64_t read_piece(const steno_source *src, float *pcm, int64_t n)
{
    int64_t have = 0, k = 1;
    while (have < n && (k = src->read(src->user, pcm + have, n - have)) > 0) have += k;
    return k < 0 ? STENO_ESOURCE : have;
}

/* Passes the frames of a whole clip before they are stacked. */
static int64_t clip_frames(const steno_model *m, const float *pcm, int64_t n, const struct mel_to *to)
{
    struct fbank_bank bank = *fbank_bank_of(m);
    struct arena a;
    struct fbank *f = NULL;
    bank.lfr_m = bank.lfr_n = 1;
    bank.chunk = 0;
    const size_t width = (size_t)fbank_width(&bank), n_mels = (size_t)bank.n_mels;
    arena_init(&a);
    int rc = fbank_open(&f, &a, &bank, NULL, NULL);
    if (!rc) fbank_begin(f);
    const int64_t made = rc ? 0 : fbank_rows_for(f, n, 1);
    float *rows = rc ? NULL : arena_array(&a, (size_t)made, width * sizeof *rows);
    if (!rc && !rows) rc = STENO_ENOMEM;
    if (!rc) fbank_clip(f, pcm, n, rows, width);
    for (int64_t i = 0; i < made && !rc; i++) memmove(rows + (size_t)i * n_mels, rows + (size_t)i * width, n_mels * sizeof *rows);
    if (!rc && made && to->frames(to->user, rows, made < to->most ? made : to->most)) rc = STENO_ECANCELED;
    fbank_close(f);
    arena_free(&a);
    return rc ? rc : made;
}

/* The same of a source: the clip is read as a whole. */
static int64_t clip_frames_of(const steno_model *m, const steno_source *src, const struct mel_to *to)
{
    struct buf all = { 0 };
    float piece[4096];
    int64_t k;
    while (!all.err && (k = read_piece(src, piece, 4096)) > 0) buf_add(&all, piece, (size_t)k * sizeof *piece);
    if (all.err) k = STENO_ENOMEM;
    const int64_t made = k < 0 ? k : clip_frames(m, (const float *)(const void *)all.p, (int64_t)(all.len / sizeof *piece), to);
    buf_free(&all);
    return made;
}

/* Passes Kaldi's frames before they are stacked: rows of one frame each. */
static int64_t filter_banks(const steno_model *m, const steno_source *src, const struct mel_to *to)
{
    const struct fbank_params single = { .n_mels = fbank_bank_of(m)->n_mels, .lfr_m = 1, .lfr_n = 1 };
    const size_t n_mels = (size_t)single.n_mels;
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f = NULL;
    arena_init(&a);
    int rc = fbank_bank_init(&bank, &a, &single, &m->kern, NULL);
    if (!rc) rc = fbank_open(&f, &a, &bank, NULL, NULL);
    float *pcm = rc ? NULL : arena_array(&a, FBANK_PUSH, sizeof *pcm);
    float *piece = pcm ? arena_array(&a, (FBANK_PUSH / FBANK_HOP + 1) * n_mels, sizeof *piece) : NULL;
    int64_t made = 0, n = 0;
    if (!rc && !piece) rc = STENO_ENOMEM;
    if (!rc) fbank_begin(f);
    while (!rc && (n = read_piece(src, pcm, FBANK_PUSH)) > 0) {
        const int64_t k = fbank_push(f, pcm, n, piece, n_mels), room = to->most > made ? to->most - made : 0;
        if (k && room && to->frames(to->user, piece, k < room ? k : room)) rc = STENO_ECANCELED;
        made += k;
    }
    fbank_close(f);
    arena_free(&a);
    return rc ? rc : n < 0 ? n : made;
}

/* Floats of a frame; 0: the model has no such input. */
static int n_mels_of(const steno_model *m)
{
    switch (m->family->front_end) {
    case FRONT_LOG_MEL: return mel_bank_of(m)->n_mels;
    case FRONT_FBANK_CLIPS:
    case FRONT_FBANK_STREAM: return fbank_bank_of(m)->n_mels;
    default: return 0;
    }
}

/* Do frames depend on their whole clip? */
static int is_of_clips(const steno_model *m)
{
    return m->family->front_end != FRONT_LOG_MEL && fbank_bank_of(m)->kind != FBANK_KALDI;
}

static int64_t frames_pass(const steno_model *m, const steno_source *src, const struct mel_to *to)
{
    if (is_of_clips(m)) return clip_frames_of(m, src, to);
    return m->family->front_end == FRONT_LOG_MEL ? log_mel(m, src, to) : filter_banks(m, src, to);
}

int64_t steno_mel_read(const steno_model *m, const steno_source *src, int (*frames)(void *user, const float *frames, int64_t n), void *user)
{
    if (!m || !src || !src->read || !frames || !n_mels_of(m)) return STENO_EARG;
    return frames_pass(m, src, &(struct mel_to){ frames, user, INT64_MAX });
}

struct mel_copy { float *out; size_t n_mels; };

static int copy_frames(void *user, const float *frames, int64_t n)
{
    struct mel_copy *c = user;
    memcpy(c->out, frames, (size_t)n * c->n_mels * sizeof *frames);
    c->out += (size_t)n * c->n_mels;
    return 0;
}

int64_t steno_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
{
    if (!m || n < 0 || (n && !pcm) || n_frames < 0 || (n_frames && !out) || !n_mels_of(m)) return STENO_EARG;
    struct mel_copy copy = { out, (size_t)n_mels_of(m) };
    const struct mel_to to = { copy_frames, &copy, n_frames };
    if (is_of_clips(m)) return clip_frames(m, pcm, n, &to);
    struct pcm memory = { pcm, n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    return frames_pass(m, &src, &to);
}
