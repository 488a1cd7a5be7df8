/* steno: what a model knows about tokens, languages and sound, one question at a time. SPDX-License-Identifier: MIT */
#include <string.h>
#include "task/mel_stream.h"
#include "model/family.h"

int steno_language_id(const steno_model *m, const char *name)
{
    return m && name && m->family->speech ? m->family->speech->language(m, name) : -1;
}

const char *steno_language_name(const char *code)
{
    return code ? language_name(language_find(code)) : NULL;
}

int32_t steno_token_id(const steno_model *m, enum steno_special which)
{
    if (!m || !m->family->speech) return -1;
    const struct token_roles *t = &m->tokens;
    switch (which) {
    case STENO_TOKEN_END: return t->eot;
    case STENO_TOKEN_START: return t->sot;
    case STENO_TOKEN_LANGUAGE: return t->n_languages ? t->first_language : -1;
    case STENO_TOKEN_TRANSLATE: return t->translate;
    case STENO_TOKEN_TRANSCRIBE: return t->transcribe;
    case STENO_TOKEN_START_LM: return t->turn;
    case STENO_TOKEN_PREVIOUS: return t->previous;
    case STENO_TOKEN_NO_SPEECH: return t->no_speech;
    case STENO_TOKEN_NO_TIMESTAMPS: return t->no_timestamps;
    case STENO_TOKEN_TIMESTAMP: return t->timestamp_begin;
    }
    return -1;
}

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
