/* steno: words that a caller gives Paraformer. SPDX-License-Identifier: MIT */
#include "model/paraformer_dict.h"
#include <string.h>
#include "model/funasr.h"
#include "text/seg_dict.h"

enum { LINE_MAX = 1 << 16 };
static const char file_name[] = "seg_dict", list_name[] = "pf.seg_dict";

static int add_line(void *user, uint64_t i, const char *s, size_t n)
{
    struct buf *text = user;
    (void)i;
    buf_add(text, s, n);
    buf_str(text, "\n");
    return text->err || text->len > SEG_DICT_MAX_SZ ? STENO_ENOMEM : STENO_OK;
}

/* Its text, from the arena; NULL: there is none. */
static int read_text(struct weights *w, struct arena *a, const char **text, size_t *n, steno_error *e)
{
    const struct meta_list *list = funasr_is_gguf(w) ? meta_find_list(&w->meta, list_name) : NULL;
    struct buf lines = { 0 };
    struct file f;
    *text = NULL;
    if (list) {
        int rc = meta_list_texts(list, LINE_MAX, add_line, &lines, e);
        if (rc == STENO_ENOMEM) rc = err_nomem(e, lines.len, "a dictionary");
        *n = lines.len;
        if (!rc && !(*text = arena_strdup(a, lines.p ? lines.p : "", lines.len))) rc = err_nomem(e, lines.len, "a dictionary");
        buf_free(&lines);
        return rc;
    }
    const int found = model_source_find(&w->source, file_name, a, &f, e);
    if (found <= 0) return found;
    const int rc = file_text(&f, SEG_DICT_MAX_SZ, a, text, e);
    *n = (size_t)f.size;
    file_close(&f);
    return rc;
}

int dict_read(steno_model *m, struct weights *w, steno_error *e)
{
    static const char unknown[] = "<unk>";
    struct cif_model *c = m->part;
    const char *text;
    size_t n;
    c->unknown = vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1);
    if (c->unknown < 0) return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %s, which hot words may need", w->name, unknown);
    const int rc = read_text(w, &m->arena, &text, &n, e);
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
    int rc = read_text(w, &w->arena, &text, &n, e);
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
