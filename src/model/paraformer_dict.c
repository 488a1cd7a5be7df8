/* steno: token ids of Paraformer's hot words. SPDX-License-Identifier: MIT */
#include "model/paraformer_dict.h"
#include <string.h>
#include "model/funasr.h"
#include "model/funasr_lines.h"
#include "text/seg_dict.h"

static const char file_name[] = "seg_dict", list_name[] = "pf.seg_dict";

int dict_read(steno_model *m, struct weights *w, steno_error *e)
{
    static const char unknown[] = "<unk>";
    struct cif_model *c = m->part;
    const char *text;
    size_t n;
    c->unknown = vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1);
    if (c->unknown < 0) return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %s, which hot words may need", w->name, unknown);
    const int rc = funasr_read_lines(w, file_name, list_name, &m->arena, &text, &n, e);
    if (rc || !text) return rc;
    struct seg_dict *d = arena_alloc(&m->arena, sizeof *d);
    c->dict = d;
    return d ? seg_dict_init(d, &m->arena, file_name, text, n, e) : err_nomem(e, sizeof *d, "a dictionary");
}

int dict_put(struct gguf_writer *g, struct weights *w, steno_error *e)
{
    struct seg_dict d;
    const char *text;
    size_t n;
    int rc = funasr_read_lines(w, file_name, list_name, &w->arena, &text, &n, e);
    if (!rc && text) rc = seg_dict_init(&d, &w->arena, file_name, text, n, e);
    if (rc || !text || !d.n_lines) return rc;
    struct vocab_entry *line = arena_array(&w->arena, d.n_lines, sizeof *line);
    if (!line) return err_nomem(e, d.n_lines * sizeof *line, "a dictionary");
    for (uint32_t i = 0; i < d.n_lines; i++) line[i].s = (const uint8_t *)seg_dict_line(&d, i, &line[i].n);
    gguf_put_vocab(g, list_name, line, d.n_lines);
    return STENO_OK;
}

int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids)
{
    const struct cif_model *c = m->part;
    return seg_dict_ids(c->dict, &m->vocab, c->unknown, phrase, n, ids);
}
