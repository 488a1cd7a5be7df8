/* steno: named Whisper models. SPDX-License-Identifier: MIT */
#include "model/whisper_shapes.h"

#include <stdio.h>
#include <string.h>
#include "model/whisper_tokens.h"

enum { EN = WHISPER_VOCAB_ENGLISH, MULTI = WHISPER_VOCAB_99, MULTI_100 = WHISPER_VOCAB_100 };

static const struct whisper_shape {
    const char *name;
    int32_t d, heads, enc, dec, mels, vocab;
} shapes[] = {
    { "tiny", 384, 6, 4, 4, 80, MULTI },         { "tiny.en", 384, 6, 4, 4, 80, EN },
    { "base", 512, 8, 6, 6, 80, MULTI },         { "base.en", 512, 8, 6, 6, 80, EN },
    { "small", 768, 12, 12, 12, 80, MULTI },     { "small.en", 768, 12, 12, 12, 80, EN },
    { "medium", 1024, 16, 24, 24, 80, MULTI },   { "medium.en", 1024, 16, 24, 24, 80, EN },
    { "large-v2", 1280, 20, 32, 32, 80, MULTI }, { "large-v3", 1280, 20, 32, 32, 128, MULTI_100 },
    { "turbo", 1280, 20, 32, 4, 128, MULTI_100 }, { "distil-small.en", 768, 12, 12, 4, 80, EN },
    { "distil-medium.en", 1024, 16, 24, 2, 80, EN }, { "distil-large-v2", 1280, 20, 32, 2, 80, MULTI },
    { "distil-large-v3", 1280, 20, 32, 2, 128, MULTI_100 },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

int whisper_shape(const char *name, struct whisper_dims *d, steno_error *e)
{
    for (int i = 0; i < N_SHAPES; i++) {
        const struct whisper_shape *s = &shapes[i];
        if (strcmp(s->name, name) != 0) continue;
        *d = (struct whisper_dims){ s->mels, 1500, s->d, s->heads, s->enc, s->vocab, 448, s->d, s->heads, s->dec };
        return STENO_OK;
    }
    char list[400] = "";
    for (int i = 0; i < N_SHAPES; i++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", shapes[i].name);
    }
    return err_set(e, STENO_EARG, "unknown shape '%s'; known are %s", name, list);
}

const char *whisper_shape_name(const struct whisper_dims *d)
{
    for (int i = 0; i < N_SHAPES; i++) {
        const struct whisper_shape *s = &shapes[i];
        if (s->d == d->n_audio_state && s->enc == d->n_audio_layer && s->dec == d->n_text_layer && s->mels == d->n_mels &&
            s->vocab == d->n_vocab)
            return s->name;
    }
    return "custom";
}

int whisper_shape_is_shared(const struct whisper_dims *d)
{
    return !strcmp(whisper_shape_name(d), "large-v2");
}

/* The version after "large" at p: 1 or 2; 0: another one, or none. */
static int version_at(const char *p)
{
    static const char large[] = "large";
    for (size_t i = 0; i < sizeof large - 1; i++)
        if ((p[i] | 32) != large[i]) return 0;
    p += sizeof large - 1;
    if (*p && strchr("-._", *p)) p++;
    if ((*p | 32) != 'v') return 0;
    return (p[1] == '1' || p[1] == '2') && !(p[2] >= '0' && p[2] <= '9') ? p[1] - '0' : 0;
}

const char *whisper_official_name(const struct whisper_dims *d, const char *path)
{
    const char *name = whisper_shape_name(d);
    int version = 0;
    if (!whisper_shape_is_shared(d)) return name;
    for (const char *p = path; p && *p; p++) {
        const int v = version_at(p);
        if (v) version = v;
    }
    return version == 1 ? "large-v1" : version == 2 ? "large-v2" : "custom";
}
