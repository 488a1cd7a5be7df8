/* steno: vocabularies in separate files. SPDX-License-Identifier: MIT */
#include "load/vocab_file.h"

#include <inttypes.h>
#include <string.h>
#include "load/kind.h"
#include "load/vocab_list.h"

static int check_size(const struct file *f, steno_error *e)
{
    if (f->size <= VOCAB_FILE) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for a vocabulary", f->name, f->size, VOCAB_FILE);
}

/* Read added_tokens.json in the folder of a vocab.json: some tokenizers store ids there that vocab.json omits. */
static int read_added_beside(struct vocab_list *extra, const struct model_source *p, struct arena *scrap, steno_error *e)
{
    struct file f;
    int rc = model_source_find(p, "added_tokens.json", scrap, &f, e);
    if (rc <= 0) return rc;
    rc = check_size(&f, e);
    if (!rc) rc = vocab_read_added(extra, &f, e);
    file_close(&f);
    return rc;
}

static int is_json(const uint8_t *head, size_t n)
{
    size_t i = 0;
    while (i < n && (head[i] == ' ' || head[i] == '\t' || head[i] == '\n' || head[i] == '\r')) i++;
    return i < n && (head[i] == '{' || head[i] == '[');
}

/* Whether the bytes contain characters that text lines never have. */
static int is_binary(const uint8_t *head, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (head[i] < 0x20 && !memchr("\t\n\r", head[i], 3)) return 1;
    return 0;
}

static int read_form(struct vocab_list *l, struct vocab_list *extra, const struct file *f, steno_error *e)
{
    uint8_t head[16] = { 0 };
    const size_t n = f->size < sizeof head ? (size_t)f->size : sizeof head;
    int rc = kind_check(f, e);
    if (!rc) rc = check_size(f, e);
    if (!rc) rc = file_read(f, 0, head, n, e);
    if (rc) return rc;
    if (sentencepiece_match(head, n)) return vocab_read_sentencepiece(l, f, e);
    if (is_binary(head, n))
        return err_set(e, STENO_EFORMAT,
                       "%s: this is not a vocabulary: expected JSON, a SentencePiece model, or lines of base64 and ranks (tiktoken)",
                       f->name);
    return is_json(head, n) ? vocab_read_json(l, extra, f, e) : vocab_read_tiktoken(l, f, e);
}

/* Read a vocabulary file; p: its folder. */
static int read_file(struct weights *w, const struct file *f, const struct model_source *p, steno_error *e)
{
    struct vocab_list list = { .name = f->name }, extra = { .name = f->name };
    struct arena scrap;
    arena_init(&scrap);
    int rc = read_form(&list, &extra, f, e);
    if (!rc) rc = read_added_beside(&extra, p, &scrap, e);
    if (!rc) rc = vocab_list_fill(&list, &extra, e);
    if (!rc) rc = vocab_list_done(&list, w, e);
    vocab_list_free(&list);
    vocab_list_free(&extra);
    arena_free(&scrap);
    return rc;
}

/* Open the first vocabulary of a folder. @return as model_source_find */
static int find_beside(const struct weights *w, const struct model_source *p, const struct meta *m, struct arena *a, struct file *f,
                       steno_error *e)
{
    const char *const name[] = {
        "vocab.json", "tokenizer.json", w->vocab_first, "multilingual.tiktoken", "gpt2.tiktoken",
        meta_text(m, "configuration.file_path_metas.tokenizer_conf.bpemodel", NULL), meta_text(m, "tokenizer_conf.bpemodel", NULL),
        "tokens.json"
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name && !rc; i++)
        if (name[i]) rc = model_source_find(p, name[i], a, f, e);
    return rc;
}

static int read_beside(struct weights *w, const struct model_source *p, const struct meta *m, steno_error *e)
{
    struct arena scrap;
    struct file f;
    arena_init(&scrap);
    int rc = find_beside(w, p, m, &scrap, &f, e);
    if (!rc) rc = err_set(e, STENO_ENOVOCAB, "%s: no vocabulary in it or beside it: none of vocab.json, tokenizer.json, "
                          "multilingual.tiktoken, gpt2.tiktoken, a SentencePiece model, tokens.json%s%s", p->name,
                          w->vocab_where ? "; " : "", w->vocab_where ? w->vocab_where : "");
    if (rc > 0) {
        rc = read_file(w, &f, p, e);
        file_close(&f);
    }
    arena_free(&scrap);
    return rc;
}

/* Copy the vocabulary of another model, in its file or its folder. */
static int read_model(struct weights *w, const struct model_source *p, steno_error *e)
{
    struct weights other;
    int rc = weights_open_source(&other, p, e);
    if (rc) return rc;
    struct vocab_list list = { .name = p->name };
    if (!other.vocab) rc = read_beside(w, p, &other.meta, e);
    for (uint32_t i = 0; i < other.n_vocab_entries && !rc; i++) {
        rc = vocab_list_add(&list, i, other.vocab[i].s, other.vocab[i].n, e);
        vocab_list_mark(&list, other.vocab[i].score, other.vocab[i].type);
    }
    if (!rc && other.vocab) rc = vocab_list_done(&list, w, e);
    vocab_list_free(&list);
    weights_close(&other);
    return rc;
}

static int read_folder(struct weights *w, const struct model_source *p, steno_error *e)
{
    struct arena scrap;
    struct meta m;
    arena_init(&scrap);
    meta_init(&m, &scrap);
    int rc = weights_read_settings(&m, p, e);
    if (!rc) rc = read_beside(w, p, &m, e);
    arena_free(&scrap);
    return rc;
}

static int read_place(struct weights *w, const struct model_source *p, steno_error *e)
{
    if (p->is_folder) return read_folder(w, p, e);
    struct kind k;
    const int rc = kind_of_file(&k, &p->file, e);
    if (rc) return rc;
    return k.form >= KIND_GGML ? read_model(w, p, e) : read_file(w, &p->file, p, e);
}

int weights_read_vocab(struct weights *w, const char *path, steno_error *e)
{
    if (!path) return read_beside(w, &w->source, &w->meta, e);
    struct model_source p;
    int rc = model_source_open(&p, path, w->source.opened, e);
    if (rc) return rc;
    rc = read_place(w, &p, e);
    model_source_close(&p);
    return rc;
}

int weights_read_pieces(struct weights *w, const char *name, const char *list, steno_error *e)
{
    const struct meta_list *l = meta_find_list(&w->meta, list);
    struct file f;
    if (l) return vocab_take_list(w, l, e);
    int rc = model_source_find(&w->source, name, &w->arena, &f, e);
    if (rc <= 0) return rc ? rc : err_set(e, STENO_ENOVOCAB, "%s: there is no %s beside it", w->name, name);
    rc = read_file(w, &f, &w->source, e);
    file_close(&f);
    return rc;
}
