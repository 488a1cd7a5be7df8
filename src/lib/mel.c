/* steno: the log-mel that a model would hear. SPDX-License-Identifier: MIT */
#include <string.h>
#include "model/family.h"
#include "task/mel_stream.h"

/* Frames of all windows, one window after the other; what does not fit is not made. */
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

int64_t steno_mel(const steno_model *m, const float *pcm, int64_t n, float *out, int64_t n_frames)
{
    if (!m || m->family->front_end != FRONT_LOG_MEL || n < 0 || (n && !pcm) || n_frames < 0 || (n_frames && !out)) return STENO_EARG;
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
