/* steno: token ids of Paraformer's hot words. SPDX-License-Identifier: MIT */
#include "model/paraformer.h"
#include <string.h>
#include "model/funasr.h"
#include "model/funasr_lines.h"
#include "text/seg_dict.h"

const char dict_file[] = "seg_dict", dict_key[] = "pf.seg_dict";

int dict_read(steno_model *m, struct weights *w, steno_error *e)
{
    static const char unknown[] = "<unk>";
    struct cif_model *c = m->part;
    const char *text;
    size_t n;
    c->unknown = vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1);
    if (c->unknown < 0) return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %s, which hot words may need", w->name, unknown);
    const int rc = funasr_read_lines(w, dict_file, dict_key, &m->arena, &text, &n, e);
    if (rc || !text) return rc;
    struct seg_dict *d = arena_alloc(&m->arena, sizeof *d);
    c->dict = d;
    return d ? seg_dict_init(d, &m->arena, dict_file, text, n, e) : err_nomem(e, sizeof *d, "a dictionary");
}

int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids)
{
    const struct cif_model *c = m->part;
    return seg_dict_ids(c->dict, &m->vocab, c->unknown, phrase, n, ids);
}
