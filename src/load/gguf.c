/* steno: reader of GGUF files. SPDX-License-Identifier: MIT
 *
 * A GGUF file contains the whole model: settings, vocabulary and weights. No neighbouring files are read. */
#include "load/gguf.h"
#include "load/formats.h"

static int gguf_match(const struct kind *k, const struct file *f)
{
    (void)f;
    return k->form == KIND_GGUF;
}

static int gguf_read(struct weights *w, const struct file *f, steno_error *e)
{
    uint64_t n;
    w->has_shape = 1;
    int rc = gguf_read_file(w, f, &w->meta, &n, e);
    if (!rc) rc = gguf_read_parts(w, n, e);
    if (!rc) rc = gguf_check_network(w, meta_text(&w->meta, "general.architecture", NULL), e);
    return rc ? rc : gguf_read_vocab(w, e);
}

const struct format format_gguf = { "GGUF", gguf_match, gguf_read };
