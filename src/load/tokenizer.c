/* steno: tokenizers of language models, as stored in their files. SPDX-License-Identifier: MIT */
#include "load/tokenizer.h"

#include <stdio.h>
#include <string.h>
#include "load/vocab.h"

/* The files that define a tokenizer, in the order of preference. */
typedef int form_fn(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e);
static const struct { const char *name, *with; form_fn *read; } forms[] = {
    { "tokenizer.json", NULL, tokenizer_read_json },
    { "vocab.txt", NULL, tokenizer_read_txt },
    { "vocab.json", "merges.txt", tokenizer_read_merges },
};

typedef int find_fn(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e);

static int has_file(const struct weights *w, find_fn *find, const char *name, struct arena *scratch, steno_error *e)
{
    struct file f;
    const int found = name ? find(&w->source, name, scratch, &f, e) : 1;
    if (name && found > 0) file_close(&f);
    return found;
}

/* Open the first existing tokenizer file in the model's folder. A link to a missing file is an error if there is no other.
 * @return as model_source_find */
static int find_file(struct file *f, form_fn **read, const struct weights *w, struct arena *scratch, steno_error *e)
{
    enum { N = sizeof forms / sizeof *forms };
    int found = 0;
    for (size_t i = 0; i < 2 * N && !found; i++) {
        find_fn *find = i < N ? model_source_find_extra : model_source_find;
        *read = forms[i % N].read;
        found = has_file(w, find, forms[i % N].with, scratch, e);
        if (found > 0) found = find(&w->source, forms[i % N].name, scratch, f, e);
    }
    return found;
}

int tokenizer_is_there(const struct weights *w, steno_error *e)
{
    struct arena scratch;
    struct file f;
    form_fn *read;
    if (meta_find_list(&w->meta, "tokenizer.ggml.tokens")) return 1;
    arena_init(&scratch);
    const int found = find_file(&f, &read, w, &scratch, e);
    if (found > 0) file_close(&f);
    arena_free(&scratch);
    return found;
}

/* The chat template in settings; from a list of named templates the one called default, or the only one. */
static const char *template_of(const struct meta *m)
{
    const char *only = NULL;
    int n = 0;
    for (char key[64]; n < TOKENIZER_TEMPLATES; n++) {
        snprintf(key, sizeof key, "chat_template.%d.template", n);
        const char *text = meta_text(m, key, NULL);
        if (!text) break;
        snprintf(key, sizeof key, "chat_template.%d.name", n);
        if (!strcmp(meta_text(m, key, ""), "default")) return text;
        only = text;
    }
    return meta_text(m, "chat_template", n == 1 ? only : n ? "" : NULL); /* several, but no default: an unknown template */
}

/* Read the template from a settings file in the model's folder. */
static int read_settings(struct tokenizer_file *t, struct weights *w, const char *name, steno_error *e)
{
    struct arena scratch;
    struct meta m;
    struct file f;
    arena_init(&scratch);
    meta_init(&m, &scratch);
    int rc = model_source_find_extra(&w->source, name, &scratch, &f, e);
    if (rc > 0) {
        rc = meta_read_json(&m, NULL, &f, e);
        file_close(&f);
        const char *text = rc ? NULL : template_of(&m);
        if (text) t->chat_template = arena_strdup(&w->arena, text, strlen(text));
        if (text && !t->chat_template) rc = err_nomem(e, strlen(text), "a chat template");
    }
    arena_free(&scratch);
    return rc;
}

/* Read the chat template that belongs to a tokenizer.json: a separate file, or a setting. */
static int read_template(struct tokenizer_file *t, struct weights *w, steno_error *e)
{
    static const char *const places[] = { "tokenizer_config.json", "chat_template.json" };
    struct arena scratch;
    struct file f;
    arena_init(&scratch);
    int rc = model_source_find_extra(&w->source, "chat_template.jinja", &scratch, &f, e);
    if (rc > 0) {
        rc = file_text(&f, 1 << 20, &w->arena, &t->chat_template, e);
        file_close(&f);
    }
    arena_free(&scratch);
    for (size_t i = 0; i < sizeof places / sizeof *places && !rc && !t->chat_template; i++) rc = read_settings(t, w, places[i], e);
    return rc;
}

int tokenizer_read(struct tokenizer_file *t, struct weights *w, const struct tokenizer_names *names, steno_error *e)
{
    struct arena scratch;
    struct file f;
    *t = (struct tokenizer_file){ .names = names, .bos = -1, .eos = -1, .eot = -1, .eom = -1 };
    if (meta_find_list(&w->meta, "tokenizer.ggml.tokens")) return tokenizer_read_gguf(t, w, e);
    arena_init(&scratch);
    form_fn *read;
    int rc = find_file(&f, &read, w, &scratch, e);
    if (!rc) rc = err_set(e, STENO_ENOVOCAB, "%s: no tokenizer in it or beside it: want tokenizer.ggml.tokens, a tokenizer.json, a "
                          "vocab.json with merges.txt, or BERT's vocab.txt", w->name);
    if (rc > 0) {
        rc = read(t, &f, w, e);
        file_close(&f);
        if (!rc) rc = read_template(t, w, e);
    }
    arena_free(&scratch);
    return rc;
}

/* ---- vocab.txt, BERT's vocabulary ------------------------------------------------------------------------------------------------- */

/* One token per line; the line number is its id. tokenizer_config.json in the same folder gives preprocessing and special tokens.
 * Reference: transformers 5.23, models/bert/tokenization_bert.py. */

static int read_lines(struct vocab_list *l, const char *s, size_t n, steno_error *e)
{
    int64_t id = 0;
    for (size_t at = 0, end; at < n; at = end + 1) {
        const char *stop = memchr(s + at, '\n', n - at);
        end = stop ? (size_t)(stop - s) : n;
        const size_t len = end - at - (end > at && s[end - 1] == '\r');
        const int rc = vocab_list_add(l, id++, s + at, len, e);
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Special tokens are those of the settings, or the defaults. */
static void find_special(struct tokenizer_file *t, struct weights *w, const struct meta *m)
{
    static const struct { const char *key, *usual; enum vocab_type type; } known[] = {
        { "pad_token", "[PAD]", VOCAB_CONTROL }, { "unk_token", "[UNK]", VOCAB_UNKNOWN }, { "cls_token", "[CLS]", VOCAB_CONTROL },
        { "sep_token", "[SEP]", VOCAB_CONTROL }, { "mask_token", "[MASK]", VOCAB_CONTROL },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int32_t id = tokenizer_id_of(w, meta_text(m, known[i].key, known[i].usual));
        if (id < 0) continue;
        w->vocab[id].type = known[i].type;
        if (i == 2) t->bos = id;
        if (i == 3) t->eos = id;
    }
    t->adds_bos = t->bos >= 0;
    t->adds_eos = t->eos >= 0;
}

/* Read a truth value of the settings. A value that is null or missing leaves *to unchanged. */
static void take_flag(int32_t *to, const struct meta *m, const char *key)
{
    const struct meta_entry *it = meta_find(m, key);
    if (it && it->kind == META_BOOL) *to = (int32_t)it->i;
}

static int read_beside(struct meta *m, const struct weights *w, steno_error *e)
{
    struct file f;
    int rc = model_source_find(&w->source, "tokenizer_config.json", m->arena, &f, e);
    if (rc <= 0) return rc;
    rc = meta_read_json(m, NULL, &f, e);
    file_close(&f);
    return rc;
}

int tokenizer_read_txt(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e)
{
    struct vocab_list list = { .name = f->name };
    struct arena scratch;
    struct meta m;
    const char *text = NULL;
    arena_init(&scratch);
    meta_init(&m, &scratch);
    t->form = TOKENIZER_WORDS;
    t->space_first = 1;
    t->words = tokenizer_words_usual;
    int rc = file_text(f, VOCAB_FILE, &scratch, &text, e);
    if (!rc) rc = read_lines(&list, text, (size_t)f->size, e);
    if (!rc) rc = vocab_list_done(&list, w, e);
    if (!rc) rc = read_beside(&m, w, e);
    if (!rc) {
        take_flag(&t->words.lowers, &m, "do_lower_case");
        take_flag(&t->words.strips, &m, "strip_accents");
        take_flag(&t->words.splits_han, &m, "tokenize_chinese_chars");
        find_special(t, w, &m);
        rc = tokenizer_words_decode(w, NULL, e);
        t->entry = w->vocab;
        t->n = w->n_vocab_entries;
    }
    vocab_list_free(&list);
    arena_free(&scratch);
    return rc;
}
