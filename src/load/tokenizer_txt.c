/* steno: vocab.txt, BERT's vocabulary. SPDX-License-Identifier: MIT
 *
 * One token per line; the line number is its id. tokenizer_config.json in the same folder gives preprocessing and special tokens.
 * Reference: transformers 5.23, models/bert/tokenization_bert.py. */
#include <string.h>
#include "load/tokenizer_text.h"
#include "load/vocab_list.h"

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

static int32_t id_of(const struct weights *w, const char *text)
{
    for (uint32_t i = 0; i < w->n_vocab_entries; i++)
        if (w->vocab[i].n == strlen(text) && !memcmp(w->vocab[i].s, text, w->vocab[i].n)) return (int32_t)i;
    return -1;
}

/* Special tokens are those of the settings, or the defaults. */
static void find_special(struct tokenizer_file *t, struct weights *w, const struct meta *m)
{
    static const struct { const char *key, *usual; enum vocab_type type; } known[] = {
        { "pad_token", "[PAD]", VOCAB_CONTROL }, { "unk_token", "[UNK]", VOCAB_UNKNOWN }, { "cls_token", "[CLS]", VOCAB_CONTROL },
        { "sep_token", "[SEP]", VOCAB_CONTROL }, { "mask_token", "[MASK]", VOCAB_CONTROL },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int32_t id = id_of(w, meta_text(m, known[i].key, known[i].usual));
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
    struct arena scrap;
    struct meta m;
    const char *text = NULL;
    arena_init(&scrap);
    meta_init(&m, &scrap);
    t->form = TOKENIZER_WORDS;
    t->space_first = 1;
    t->words = tokenizer_words_usual;
    int rc = file_text(f, VOCAB_FILE, &scrap, &text, e);
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
    arena_free(&scrap);
    return rc;
}
