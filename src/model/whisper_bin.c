/* steno: Whisper models as whisper.cpp's .bin files. SPDX-License-Identifier: MIT
 *
 * Matrices have the type of the file. Filters are f16 unless all is f32, and the rest is f32: whisper.cpp reads nothing else. Blocks are
 * rounded from f16, whatever the weights were before, because whisper.cpp's quantizer reads f16 files only. */
#include <string.h>
#include "audio/mel.h"
#include "load/ggml_write.h"
#include "model/whisper_forms.h"
#include "model/whisper_write.h"

static struct tensor_change change_of(const struct whisper_file *f, const struct tensor *t)
{
    switch (whisper_part_of(t)) {
    case WHISPER_MATRIX:
        return (struct tensor_change){ .type = f->type, .via = dtype_block(f->type) > 1 && t->type != DT_F16 ? DT_F16 : DT_F32 };
    case WHISPER_FILTER: return (struct tensor_change){ .type = f->type == DT_F32 ? DT_F32 : DT_F16 };
    default: return (struct tensor_change){ .type = DT_F32 };
    }
}

/* Biases of convolutions have two dimensions in these files. */
static int write_record(struct whisper_file *f, const struct tensor *t, enum dtype type)
{
    const int is_wide = t->n_dims == 1 && strstr(t->name, "conv") != NULL;
    return ggml_write_record(&f->b, t->name, type, t->dim, is_wide ? 2 : t->n_dims);
}

static int write_head(struct whisper_file *f)
{
    struct ggml_head head = { .type = f->type, .filters = f->w->mel_filters, .vocab = f->w->vocab, .n_entries = f->w->n_vocab_entries };
    for (int i = 0; i < WHISPER_DIMS; i++) memcpy(&head.number[i], (const char *)&f->d + whisper_dim[i].at, sizeof head.number[i]);
    if (!head.filters) {
        const size_t n = (size_t)f->d.n_mels * MEL_BINS;
        float *filters = arena_array(&f->w->arena, n, sizeof *filters);
        if (!filters) return err_nomem(f->e, n * sizeof *filters, "mel filters");
        mel_filters_slaney(filters, f->d.n_mels);
        head.filters = filters;
    }
    return ggml_write_head(&f->b, &head);
}

int whisper_to_bin(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct whisper_file f;
    int rc = whisper_file_begin(&f, w, o, to, 1, e);
    if (!rc) rc = whisper_file_vocab(&f);
    if (!rc) rc = write_head(&f);
    for (uint32_t i = 0; i < f.list.n && !rc; i++) {
        const struct tensor_change change = change_of(&f, f.list.tensor[i]);
        rc = write_record(&f, f.list.tensor[i], change.type);
        if (!rc) rc = whisper_file_tensor(&f, i, &change);
    }
    return rc;
}
