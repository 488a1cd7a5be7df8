/* steno: vocabularies in separate files. SPDX-License-Identifier: MIT */
#include "load/vocab.h"

#include <inttypes.h>
#include <string.h>
#include "load/base64.h"
#include "load/file_probe.h"

static int check_size(const struct file *f, steno_error *e)
{
    if (f->size <= VOCAB_FILE) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d for a vocabulary", f->name, f->size, VOCAB_FILE);
}

/* Read added_tokens.json in the folder of a vocab.json: some tokenizers store ids there that vocab.json omits. */
static int read_added_beside(struct vocab_list *extra, const struct model_source *p, struct arena *scratch, steno_error *e)
{
    struct file f;
    int rc = model_source_find_extra(p, "added_tokens.json", scratch, &f, e);
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

/* One string per line. An empty line is the empty string. CR is part of the line ends only if all lines have it. */
static int read_listed(struct vocab_list *l, const struct file *f, steno_error *e)
{
    struct arena scratch;
    arena_init(&scratch);
    char *text = f->size < SIZE_MAX ? arena_alloc(&scratch, (size_t)f->size + 1) : NULL;
    int rc = text ? file_read(f, 0, text, (size_t)f->size, e) : err_nomem(e, (size_t)f->size, "a vocabulary");
    const char *const end = rc ? NULL : text + f->size;
    size_t all_cr = 1;
    for (char *s = text, *stop; !rc && s < end; s = stop + 1) {
        stop = memchr(s, '\n', (size_t)(end - s));
        if (!stop) stop = text + f->size;
        all_cr &= stop > s && stop[-1] == '\r';
    }
    int64_t id = 0;
    for (char *s = text, *stop; !rc && s < end; s = stop + 1, id++) {
        stop = memchr(s, '\n', (size_t)(end - s));
        if (!stop) stop = text + f->size;
        rc = vocab_add_listed(l, id, s, (size_t)(stop - s) - all_cr, e);
    }
    arena_free(&scratch);
    return rc;
}

static int read_form(struct vocab_list *l, struct vocab_list *extra, const struct file *f, steno_error *e)
{
    uint8_t head[16] = { 0 };
    const size_t n = f->size < sizeof head ? (size_t)f->size : sizeof head;
    int rc = probe_check(f, e);
    if (!rc) rc = check_size(f, e);
    if (!rc) rc = file_read(f, 0, head, n, e);
    if (rc) return rc;
    if (vocab_is_listed(f->name) && !is_json(head, n)) return read_listed(l, f, e);
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
    struct arena scratch;
    arena_init(&scratch);
    int rc = read_form(&list, &extra, f, e);
    if (!rc) rc = read_added_beside(&extra, p, &scratch, e);
    if (!rc) rc = vocab_list_fill(&list, &extra, e);
    if (!rc) rc = vocab_list_done(&list, w, e);
    w->vocab_is_listed = vocab_is_listed(f->name);
    vocab_list_free(&list);
    vocab_list_free(&extra);
    arena_free(&scratch);
    return rc;
}

static const char *const listed[] = { "vocabulary.json", "vocabulary.txt" };

/* Open the first vocabulary of a folder. @return as model_source_find */
static int find_beside(const struct weights *w, const struct model_source *p, const struct meta *m, struct arena *a, struct file *f,
                       steno_error *e)
{
    const char *const name[] = {
        w->vocab_is_listed ? listed[0] : NULL, w->vocab_is_listed ? listed[1] : NULL,
        "vocab.json", "tokenizer.json", w->vocab_first, "multilingual.tiktoken", "gpt2.tiktoken",
        meta_text(m, "configuration.file_path_metas.tokenizer_conf.bpemodel", NULL), meta_text(m, "tokenizer_conf.bpemodel", NULL),
        "tokens.json", listed[0], listed[1]
    };
    return model_source_find_first(p, name, sizeof name / sizeof *name, a, f, e);
}

static int read_beside(struct weights *w, const struct model_source *p, const struct meta *m, steno_error *e)
{
    struct arena scratch;
    struct file f;
    arena_init(&scratch);
    int rc = find_beside(w, p, m, &scratch, &f, e);
    if (!rc)
        rc = err_set(e, STENO_ENOVOCAB, "%s: no vocabulary in it or beside it: none of vocab.json, tokenizer.json, multilingual.tiktoken, "
                     "gpt2.tiktoken, a SentencePiece model, tokens.json, vocabulary.json, vocabulary.txt%s%s", p->name,
                     w->vocab_where ? "; " : "", w->vocab_where ? w->vocab_where : "");
    if (rc > 0) {
        rc = read_file(w, &f, p, e);
        file_close(&f);
    }
    arena_free(&scratch);
    return rc;
}

/* Copy the vocabulary of another model, in its file or its folder. */
static int read_model(struct weights *w, const struct model_source *p, steno_error *e)
{
    struct weights other;
    int rc = weights_open_source(&other, p, e);
    if (rc) return rc;
    struct vocab_list list = { .name = p->name };
    if (!other.vocab && !other.has_shape) rc = weights_read_settings(&other.meta, p, SETTINGS_FILES, e);
    if (!rc && !other.vocab) rc = read_beside(w, p, &other.meta, e);
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
    struct arena scratch;
    struct meta m;
    arena_init(&scratch);
    meta_init(&m, &scratch);
    int rc = weights_read_settings(&m, p, SETTINGS_NETWORK | SETTINGS_FILES, e);
    if (!rc) rc = read_beside(w, p, &m, e);
    arena_free(&scratch);
    return rc;
}

static int read_place(struct weights *w, const struct model_source *p, steno_error *e)
{
    if (p->is_folder) return read_folder(w, p, e);
    struct file_probe k;
    const int rc = probe_file(&k, &p->file, e);
    if (rc) return rc;
    return k.form >= PROBE_GGML ? read_model(w, p, e) : read_file(w, &p->file, p, e);
}

int weights_read_vocab(struct weights *w, const char *path, steno_error *e)
{
    if (!path) return read_beside(w, &w->source, &w->meta, e);
    struct model_source p;
    w->vocab_is_listed = 0;
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

/* ---- tiktoken files ------------------------------------------------------------------------------------------------------------------ */

/* Lines of a base64 string, a space and its rank, which is its id. */

static int bad_line(const struct vocab_list *l, uint32_t line, const char *what, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: line %" PRIu32 ": %s", l->name, line, what);
}

/* One line without its end. */
static int add_line(struct vocab_list *l, uint32_t line, const uint8_t *s, size_t n, steno_error *e)
{
    uint8_t bytes[VOCAB_STRING + 3];
    const uint8_t *space = memchr(s, ' ', n), *end = s + n;
    if (!space) return bad_line(l, line, "want a string in base64, a space and a rank", e);
    const size_t n_base = (size_t)(space - s), is_empty = n_base == 1 && *s == '='; /* in one existing file, the empty string is "=" */
    const int64_t len = is_empty ? 0 : n_base / 4 * 3 > sizeof bytes ? -1 : bytes_of_base64(bytes, (const char *)s, n_base);
    if (len < 0 || len > VOCAB_STRING) return bad_line(l, line, "the string is not base64, or has more than 4096 bytes", e);
    int64_t id = 0;
    const uint8_t *c = space + 1;
    if (c == end || end - c > 7) return bad_line(l, line, "want a rank of 1 to 7 digits", e);
    for (; c < end; c++) {
        if (*c < '0' || *c > '9') return bad_line(l, line, "the rank is not a number", e);
        id = 10 * id + (*c - '0');
    }
    return vocab_list_add(l, id, bytes, (size_t)len, e);
}

int vocab_read_tiktoken(struct vocab_list *l, const struct file *f, steno_error *e)
{
    struct arena scratch;
    const char *text;
    arena_init(&scratch);
    int rc = file_text(f, VOCAB_FILE, &scratch, &text, e);
    const uint8_t *s = rc ? NULL : (const uint8_t *)text, *const end = rc ? NULL : s + f->size;
    for (uint32_t line = 1; !rc && s < end; line++) {
        const uint8_t *eol = memchr(s, '\n', (size_t)(end - s)), *stop = eol ? eol : end;
        size_t n = (size_t)(stop - s);
        if (n && s[n - 1] == '\r') n--;
        if (n) rc = add_line(l, line, s, n, e);
        s = eol ? eol + 1 : end;
    }
    arena_free(&scratch);
    return rc;
}
