/* steno: the log-mel input of a model: the public calls. SPDX-License-Identifier: MIT */
#include <string.h>
#include "audio/mel_stream.h"
#include "model/family.h"

/* Writes the frames of all windows, one window at a time, up to n_frames. */
static int mel_windows(struct mel_stream *f, float *out, int64_t n_frames, float *window)
{
    int rc = STENO_OK;
    for (int64_t at = 0; at < n_frames && !rc; at += f->window) {
        const int64_t left = n_frames - at, n = left < f->window ? left : f->window;
        rc = mel_stream_window(f, at, (int)n, 0, window, NULL);
        if (!rc) memcpy(out + at * f->n_mels, window, (size_t)(n * f->n_mels) * sizeof *out);
    }
    return rc;
}

static int64_t log_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
{
    struct pcm memory = { pcm, n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    struct arena a;
    struct mel_stream f = { 0 };
    arena_init(&a);
    const int frames = 2 * m->audio_ctx;
    float *window = arena_array(&a, (size_t)frames * (size_t)mel_bank_of(m)->n_mels, sizeof *window);
    int rc = window ? mel_stream_init(&f, &a, mel_bank_of(m), frames, NULL, NULL) : STENO_ENOMEM;
    if (!rc) rc = mel_stream_listen(&f, &src, NULL);
    if (!rc) rc = mel_windows(&f, out, n_frames < f.frames ? n_frames : f.frames, window);
    const int64_t made = f.frames;
    mel_stream_close(&f);
    arena_free(&a);
    return rc ? rc : made;
}

/* Writes the frames of a whole clip before they are stacked. */
static int64_t clip_frames(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
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
    for (int64_t i = 0; i < made && i < n_frames && !rc; i++)
        memcpy(out + (size_t)i * n_mels, rows + (size_t)i * width, n_mels * sizeof *out);
    fbank_close(f);
    arena_free(&a);
    return rc ? rc : made;
}

/* Writes Kaldi's frames before they are stacked: rows of one frame each. */
static int64_t filter_banks(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
{
    const int n_mels = fbank_bank_of(m)->n_mels;
    const struct fbank_params single = { .n_mels = n_mels, .lfr_m = 1, .lfr_n = 1 };
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f = NULL;
    arena_init(&a);
    int rc = fbank_bank_init(&bank, &a, &single, &m->kern, NULL);
    if (!rc) rc = fbank_open(&f, &a, &bank, NULL, NULL);
    float *piece = rc ? NULL : arena_array(&a, (size_t)(FBANK_PUSH / FBANK_HOP + 1) * (size_t)n_mels, sizeof *piece);
    int64_t made = 0;
    if (!rc && !piece) rc = STENO_ENOMEM;
    if (!rc) fbank_begin(f);
    for (int64_t at = 0; at < n && !rc; at += FBANK_PUSH) {
        const int64_t k = fbank_push(f, pcm + at, n - at < FBANK_PUSH ? n - at : FBANK_PUSH, piece, (size_t)n_mels);
        const int64_t room = n_frames > made ? n_frames - made : 0;
        if (k && room) memcpy(out + made * n_mels, piece, (size_t)(k < room ? k : room) * (size_t)n_mels * sizeof *out);
        made += k;
    }
    fbank_close(f);
    arena_free(&a);
    return rc ? rc : made;
}

int64_t steno_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
{
    if (!m || n < 0 || (n && !pcm) || n_frames < 0 || (n_frames && !out)) return STENO_EARG;
    switch (m->family->front_end) {
    case FRONT_LOG_MEL: return log_mel(m, pcm, n, out, n_frames);
    case FRONT_FBANK_CLIPS:
    case FRONT_FBANK_STREAM:
        return fbank_bank_of(m)->kind == FBANK_KALDI ? filter_banks(m, pcm, n, out, n_frames) : clip_frames(m, pcm, n, out, n_frames);
    default: return STENO_EARG;
    }
}
