/* steno: the ten numbers every Whisper model follows from. SPDX-License-Identifier: MIT */
#include "load/dims.h"

#include <stddef.h>
#include <string.h>

enum {
    MAX_HEAD = 256, /* what the attention kernels take */
    MAX_LAYERS = 256,
    MAX_STATE = 8192,
    MAX_CTX = 65536,
    MAX_VOCAB = 1 << 20
};

#define DIM(name, max) { #name, max, offsetof(struct model_dims, name) }
const struct model_dim model_dim[MODEL_DIMS] = {
    DIM(n_vocab, MAX_VOCAB),     DIM(n_audio_ctx, MAX_CTX),    DIM(n_audio_state, MAX_STATE), DIM(n_audio_head, MAX_STATE),
    DIM(n_audio_layer, MAX_LAYERS), DIM(n_text_ctx, MAX_CTX),  DIM(n_text_state, MAX_STATE),  DIM(n_text_head, MAX_STATE),
    DIM(n_text_layer, MAX_LAYERS), DIM(n_mels, 128),
};
#undef DIM

static int check_heads(const char *where, const char *part, int32_t state, int32_t heads, steno_error *e)
{
    if (state % heads)
        return err_set(e, STENO_EFORMAT, "%s: n_%s_state is %d, no multiple of n_%s_head, %d", where, part, (int)state, part, (int)heads);
    const int32_t d = state / heads;
    if (d > MAX_HEAD || d % 4)
        return err_set(e, STENO_EFORMAT, "%s: n_%s_state / n_%s_head is %d, want a multiple of 4 up to %d", where, part, part, (int)d,
                       MAX_HEAD);
    return STENO_OK;
}

int model_dims_check(const struct model_dims *d, const char *where, steno_error *e)
{
    for (int i = 0; i < MODEL_DIMS - 1; i++) { /* n_mels is the last */
        int32_t v;
        memcpy(&v, (const char *)d + model_dim[i].at, sizeof v);
        if (v < 1 || v > model_dim[i].max)
            return err_set(e, STENO_EFORMAT, "%s: %s is %d, want 1..%d", where, model_dim[i].name, (int)v, (int)model_dim[i].max);
    }
    if (d->n_mels != 80 && d->n_mels != 128)
        return err_set(e, STENO_EFORMAT, "%s: n_mels is %d, want 80 or 128", where, (int)d->n_mels);
    if (d->n_audio_state != d->n_text_state)
        return err_set(e, STENO_EFORMAT, "%s: n_audio_state is %d and n_text_state is %d, want the same", where, (int)d->n_audio_state,
                       (int)d->n_text_state);
    const int rc = check_heads(where, "audio", d->n_audio_state, d->n_audio_head, e);
    return rc ? rc : check_heads(where, "text", d->n_text_state, d->n_text_head, e);
}
