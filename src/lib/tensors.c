/* steno: lists the tensors of a model file: the public call. SPDX-License-Identifier: MIT
 *
 * Any file or folder of a known form can be listed. No family needs to recognise the network. */
#include <string.h>
#include "base/err.h"
#include "load/model_source.h"
#include "load/tensor.h"
#include "load/weights.h"

static void give(const struct tensor *t, void (*take)(void *user, const steno_tensor *t), void *user)
{
    steno_tensor out = { .size = sizeof out, .n_dims = t->n_dims, .name = t->name, .type = form_name(t->form, t->type) };
    out.file = t->file->name;
    out.offset = t->offset;
    out.bytes = t->size;
    for (int i = 0; i < 4; i++) out.dim[i] = i < t->n_dims ? t->dim[i] : 1;
    take(user, &out);
}

int steno_tensors_list(const char *path, void (*take)(void *user, const steno_tensor *t), void *user, steno_error *e)
{
    struct model_source place;
    struct weights w;
    struct buf opened = { 0 };
    err_clear(e);
    if (!path || !take) return err_set(e, STENO_EARG, "steno_tensors_list needs a path, and a function that takes tensors");
    int rc = model_source_open(&place, path, &opened, e);
    if (!rc) {
        rc = weights_open_source(&w, &place, e);
        if (!rc) {
            rc = weights_settle(&w, e);
            for (uint32_t i = 0; i < w.n_tensors && !rc; i++) give(&w.tensor[i], take, user);
            weights_close(&w);
        }
    }
    model_source_close(&place);
    buf_free(&opened);
    return rc;
}
