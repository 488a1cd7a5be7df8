/* steno: Whisper models as OpenAI's .pt files. SPDX-License-Identifier: MIT
 *
 * Two dictionaries: the ten numbers, and the weights by name. Such a file has no vocabulary, mel filters or alignment heads; the program
 * that reads it has its own. */
#include <stddef.h>
#include <string.h>
#include "load/torch_write.h"
#include "model/whisper_forms.h"
#include "model/whisper_write.h"

static void put_dims(struct torch_writer *t, const struct whisper_dims *d)
{
    static const struct { const char *name; size_t at; } dim[] = { /* in the order of ModelDimensions */
#define DIM(name) { #name, offsetof(struct whisper_dims, name) }
        DIM(n_mels), DIM(n_audio_ctx), DIM(n_audio_state), DIM(n_audio_head), DIM(n_audio_layer),
        DIM(n_vocab), DIM(n_text_ctx), DIM(n_text_state), DIM(n_text_head), DIM(n_text_layer),
#undef DIM
    };
    torch_put_dict(t, "dims");
    for (size_t i = 0; i < sizeof dim / sizeof *dim; i++) {
        int32_t v;
        memcpy(&v, (const char *)d + dim[i].at, sizeof v);
        torch_put_number(t, dim[i].name, v);
    }
    torch_put_dict_end(t);
}

static void put_tensors(struct torch_writer *t, const struct whisper_file *f)
{
    torch_put_dict(t, "model_state_dict");
    for (uint32_t i = 0; i < f->list.n; i++) {
        const struct tensor *it = f->list.tensor[i];
        torch_put_tensor(t, it->name, whisper_change_free(f, it).type, it->dim, whisper_rank(it));
    }
    torch_put_dict_end(t);
}

static int write_tensors(struct torch_writer *t, struct whisper_file *f)
{
    int rc = STENO_OK;
    for (uint32_t i = 0; i < f->list.n && !rc; i++) {
        const struct tensor_change change = whisper_change_free(f, f->list.tensor[i]);
        rc = torch_write_tensor(t, whisper_tensor_sz(f->list.tensor[i], change.type));
        if (!rc) rc = whisper_file_tensor(f, i, &change);
        if (!rc) rc = torch_write_tensor_end(t);
    }
    return rc;
}

int whisper_to_pt(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct whisper_file f;
    struct torch_writer t;
    int rc = whisper_file_begin(&f, w, o, to, 0, e);
    if (rc) return rc;
    torch_write_start(&t, &f.b, "whisper");
    put_dims(&t, &f.d);
    put_tensors(&t, &f);
    rc = torch_write_pickle(&t);
    if (!rc) rc = write_tensors(&t, &f);
    if (!rc) rc = torch_write_end(&t);
    torch_write_free(&t);
    return rc;
}
