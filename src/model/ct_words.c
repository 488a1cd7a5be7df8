/* steno: Chinese dictionaries of punctuation models. SPDX-License-Identifier: MIT */
#include "model/ct_words.h"
#include "model/funasr_lines.h"

static const char own_file[] = "jieba_usr_dict", own_key[] = "ct.jieba_usr_dict";

/* Finds jieba's dictionary: at the caller's path, or beside the model as in its runtimes. @return 1, 0: there is none, or a status */
static int find_all(struct file *f, const steno_model *m, struct weights *w, steno_error *e)
{
    static const char *const name[] = { "jieba.c.dict", "dict.txt" };
    if (m->opening->jieba_dict) {
        const int rc = file_open(f, m->opening->jieba_dict, e);
        return rc ? rc : 1;
    }
    int found = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name && !found; i++) found = model_source_find(&w->source, name[i], &w->arena, f, e);
    return found;
}

int ct_read_words(steno_model *m, struct marks_model *v, struct weights *w, steno_error *e)
{
    struct jieba_lines own = { .where = own_file }, all = { .where = "the dictionary of jieba" };
    struct file f;
    int rc = funasr_read_lines(w, own_file, own_key, &w->arena, &own.text, &own.n, e);
    if (rc || !own.text) return rc;
    const int found = find_all(&f, m, w, e);
    if (found < 0) return found;
    m->jieba = found ? 1 : 2;
    if (!found) return STENO_OK;
    struct jieba *words = arena_alloc(&m->arena, sizeof *words);
    all.where = f.name;
    all.n = (size_t)f.size;
    rc = words ? file_text(&f, JIEBA_MAX_SZ, &w->arena, &all.text, e) : err_nomem(e, sizeof *words, "a dictionary");
    if (!rc) rc = jieba_init(words, &m->arena, &all, &own, e);
    file_close(&f);
    v->words = words;
    return rc;
}

int ct_put_words(struct gguf_writer *g, struct weights *w, steno_error *e)
{
    const char *text;
    size_t n;
    const int rc = funasr_read_lines(w, own_file, own_key, &w->arena, &text, &n, e);
    return rc || !text ? rc : funasr_put_lines(g, own_key, text, n, &w->arena, e);
}
