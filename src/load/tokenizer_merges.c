/* steno: a byte-level tokenizer as separate files. SPDX-License-Identifier: MIT
 *
 * vocab.json has the strings in GPT-2's alphabet, merges.txt a pair on each line in the order of joining, and tokenizer_config.json the
 * added tokens and the class, which stands for the pattern that cuts text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/tokenizer.h"
#include "load/vocab.h"

static int class_find(struct tokenizer_file *t, const struct meta *m, const char *where, steno_error *e)
{
    const char *name = meta_text(m, "tokenizer_class", ""), *known = "";
    for (const struct tokenizer_cut *c = t->names->cut; c->name; c++) {
        const size_t n = c->class_name ? strlen(c->class_name) : 0;
        if (!n) continue;
        known = c->class_name;
        if (strncmp(name, known, n) != 0 || (name[n] && strcmp(name + n, "Fast") != 0)) continue;
        t->composes = c->composes;
        t->pattern = c->pattern;
        return STENO_OK;
    }
    return err_set(e, STENO_EUNSUPPORTED, "%s: the tokenizer_class is '%.40s'; without a tokenizer.json this version knows %s", where, name,
                   known);
}

/* "added_tokens_decoder.ID.content" */
static int added_read(struct vocab_list *extra, const struct meta *m, steno_error *e)
{
    static const char prefix[] = "added_tokens_decoder.";
    int rc = STENO_OK;
    for (uint32_t i = 0; i < m->n && !rc; i++) {
        const struct meta_entry *it = &m->entry[i];
        char *end, key[64];
        if (strncmp(it->key, prefix, sizeof prefix - 1) != 0) continue;
        const long long id = strtoll(it->key + sizeof prefix - 1, &end, 10);
        if (strcmp(end, ".content") != 0) continue;
        if (it->kind != META_TEXT || id < 0 || id >= VOCAB_IDS)
            return err_set(e, STENO_EFORMAT, "%s: %.60s: want a text, for an id below %d", it->source, it->key, VOCAB_IDS);
        snprintf(key, sizeof key, "%s%lld.special", prefix, id);
        const struct meta_entry *special = meta_find(m, key);
        rc = vocab_list_add(extra, id, it->text, strlen(it->text), e);
        vocab_list_mark(extra, 0, special && special->kind == META_BOOL && special->i ? VOCAB_CONTROL : VOCAB_USER_DEFINED);
    }
    return rc;
}

/* A pair on each line, separated by a space. The first line may be a comment. */
static int merges_read(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e)
{
    struct tokenizer_pairs pairs = { 0 };
    struct arena scratch;
    const char *stored = NULL;
    arena_init(&scratch);
    int rc = file_text(f, VOCAB_FILE, &scratch, &stored, e), line = 0;
    char *text = rc ? NULL : arena_strdup(&scratch, stored, (size_t)f->size);
    if (!rc && !text) rc = err_nomem(e, (size_t)f->size, "the pairs of a tokenizer");
    for (char *s = text, *next; !rc && *s; s = next, line++) {
        size_t n = strcspn(s, "\n");
        next = s + n + (s[n] == '\n');
        if (n && s[n - 1] == '\r') n--;
        char *space = memchr(s, ' ', n);
        if (!n || (!line && !strncmp(s, "#version", 8))) continue;
        const size_t left = space ? (size_t)(space - s) : 0;
        if (!left || left + 1 == n || n > VOCAB_STRING)
            rc = err_set(e, STENO_EFORMAT, "%s: line %d is not a pair of texts with a space between them", f->name, line + 1);
        else
            rc = tokenizer_pair_add(&pairs, TOKENIZER_BYTES, (struct tokenizer_text){ s, left },
                                    (struct tokenizer_text){ space + 1, n - left - 1 }, e);
    }
    if (!rc) rc = tokenizer_pairs_done(t, &pairs, w, e);
    tokenizer_pairs_free(&pairs);
    arena_free(&scratch);
    return rc;
}

/* Opens a file that belongs to vocab.json. */
static int beside_open(struct file *f, const struct weights *w, const char *name, struct arena *scratch, steno_error *e)
{
    const int found = model_source_find(&w->source, name, scratch, f, e);
    return found > 0 ? STENO_OK : found ? found : err_set(e, STENO_ENOVOCAB, "%s: vocab.json needs %s beside it", w->name, name);
}

static int settings_read(struct tokenizer_file *t, struct vocab_list *extra, struct weights *w, struct meta *m, steno_error *e)
{
    struct file f;
    int rc = beside_open(&f, w, "tokenizer_config.json", m->arena, e);
    if (rc) return rc;
    rc = meta_read_json(m, NULL, &f, e);
    if (!rc) rc = class_find(t, m, f.name, e);
    if (!rc) rc = added_read(extra, m, e);
    file_close(&f);
    return rc;
}

int tokenizer_read_merges(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e)
{
    struct vocab_list list = { .name = f->name }, unused = { .name = f->name }, extra = { .name = f->name };
    struct arena scratch;
    struct file merges;
    struct meta m;
    arena_init(&scratch);
    meta_init(&m, &scratch);
    t->form = TOKENIZER_BYTES;
    int rc = vocab_read_json(&list, &unused, f, e);
    if (!rc) rc = settings_read(t, &extra, w, &m, e);
    if (!rc) rc = vocab_list_override(&list, &extra, e);
    if (!rc) rc = vocab_list_done(&list, w, e);
    if (!rc) rc = beside_open(&merges, w, "merges.txt", &scratch, e);
    if (!rc) {
        rc = merges_read(t, &merges, w, e);
        file_close(&merges);
    }
    if (!rc) {
        t->entry = w->vocab;
        t->n = w->n_vocab_entries;
        t->eos = tokenizer_id_of(w, meta_text(&m, "eos_token", NULL));
        tokenizer_ends_find(t, w);
    }
    vocab_list_free(&list);
    vocab_list_free(&unused);
    vocab_list_free(&extra);
    arena_free(&scratch);
    return rc;
}
