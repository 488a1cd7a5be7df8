/* steno: vocabularies in JSON. SPDX-License-Identifier: MIT
 *
 * Four files: vocab.json, {"string": id}; tokenizer.json, with such an object inside its model; vocabulary.json and tokens.json, lists of
 * strings. The strings of the first three use the alphabet of GPT-2's byte-level pairs, in which every byte is a printable character, and
 * are converted to bytes. Those of the fourth, and added tokens, are plain text. */
#include <inttypes.h>
#include <string.h>
#include "load/byte_alphabet.h"
#include "load/json.h"
#include "load/vocab.h"

struct json_vocab {
    struct json_reader j;
    struct vocab_list *list, *extra;
    steno_error *e;
    int has_model, is_bpe, is_byte_level, has_others;
};

/* Add an entry "string": id, with the string in the byte alphabet, decoded in place. */
static int add_entry(struct json_vocab *v, char *s, size_t len, int64_t id)
{
    uint32_t bad;
    const int64_t n = bytes_of_letters(s, len, &bad);
    if (n < 0)
        return json_fail(&v->j, v->e, "the string of id %" PRId64 " has U+%04" PRIX32 ", which stands for no byte: not byte-level", id,
                         bad);
    return vocab_list_add(v->list, id, s, (size_t)n, v->e);
}

static int read_entries(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        char *s = j->s;
        const size_t len = j->len;
        if (kind != JSON_KEY || json_next(j) != JSON_INT) return json_fail(j, v->e, "want a string and its id");
        const int rc = add_entry(v, s, len, j->i);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int read_model(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    if (v->has_model++) return json_fail(j, v->e, "model is written twice");
    while ((kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, v->e, "want a key");
        const int is_vocab = !strcmp(j->s, "vocab"), is_type = !strcmp(j->s, "type");
        kind = json_next(j);
        if (is_type && kind == JSON_TEXT) v->is_bpe = !strcmp(j->s, "BPE");
        if (!is_vocab) json_skip(j, kind);
        else if (kind != JSON_OBJECT) return json_fail(j, v->e, "model.vocab is not an object: not byte-level pairs");
        else {
            const int rc = read_entries(v);
            if (rc) return rc;
        }
    }
    return STENO_OK;
}

/* Read an added token of tokenizer.json: {"id": 5, "content": "<|x|>", …}. */
static int read_added_token(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    int64_t id = -1;
    const char *s = NULL;
    size_t n = 0;
    int special = 0;
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, v->e, "want a key");
        const int is_id = !strcmp(j->s, "id"), is_content = !strcmp(j->s, "content"), is_special = !strcmp(j->s, "special");
        kind = json_next(j);
        if (is_id && kind == JSON_INT) id = j->i;
        else if (is_content && kind == JSON_TEXT) s = j->s, n = j->len;
        else if (is_special && kind == JSON_BOOL) special = (int)j->i;
        else json_skip(j, kind);
    }
    if (!s) return json_fail(j, v->e, "an added token without content");
    const int rc = vocab_list_add(v->extra, id, s, n, v->e);
    vocab_list_mark(v->extra, 0, special ? VOCAB_CONTROL : VOCAB_USER_DEFINED);
    return rc;
}

static int read_added_tokens(struct json_vocab *v)
{
    enum json_event kind;
    while ((kind = json_next(&v->j)) != JSON_CLOSE) {
        const int rc = kind == JSON_OBJECT ? read_added_token(v) : json_fail(&v->j, v->e, "added_tokens: want an object");
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Whether a part of tokenizer.json has the type ByteLevel at any depth. */
static void look_for_byte_level(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    const int outer = j->depth - 1;
    int is_type = 0;
    for (enum json_event kind; j->depth > outer && (kind = json_next(j)) != JSON_FAILED;) {
        if (is_type && kind == JSON_TEXT && !strcmp(j->s, "ByteLevel")) v->is_byte_level = 1;
        is_type = kind == JSON_KEY && !strcmp(j->s, "type");
    }
}

/* Read a key of the outermost object and its value. Numbers are ids of vocab.json. */
static int read_member(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    char *s = j->s;
    const size_t len = j->len;
    const enum json_event kind = json_next(j);
    if (kind == JSON_INT) return add_entry(v, s, len, j->i);
    v->has_others = 1;
    if (kind == JSON_OBJECT && !strcmp(s, "model")) return read_model(v);
    if (kind == JSON_ARRAY && !strcmp(s, "added_tokens")) return read_added_tokens(v);
    if (kind == JSON_OBJECT && (!strcmp(s, "pre_tokenizer") || !strcmp(s, "decoder"))) look_for_byte_level(v);
    else json_skip(j, kind);
    return STENO_OK;
}

static int read_object(struct json_vocab *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        const int rc = kind == JSON_KEY ? read_member(v) : json_fail(j, v->e, "want a key");
        if (rc) return rc;
    }
    if (j->why || !v->has_others) return STENO_OK;
    if (!v->has_model) return json_fail(j, v->e, "neither a vocabulary nor a tokenizer.json with a model");
    if (!v->is_bpe || !v->is_byte_level)
        return err_set(v->e, STENO_EUNSUPPORTED, "%s: a tokenizer of another kind than byte-level pairs (BPE, ByteLevel)", j->name);
    return STENO_OK;
}

int vocab_is_listed(const char *path)
{
    static const char *const name[] = { "vocabulary.json", "vocabulary.txt" };
    const size_t n = strlen(path);
    for (int i = 0; i < 2; i++) {
        const size_t m = strlen(name[i]);
        if (n >= m && !strcmp(path + n - m, name[i]) && (n == m || path[n - m - 1] == '/' || path[n - m - 1] == '\\')) return 1;
    }
    return 0;
}

/* Special tokens, "<|...|>", are plain text. */
int vocab_add_listed(struct vocab_list *l, int64_t id, char *s, size_t n, steno_error *e)
{
    uint32_t bad;
    if (n >= 4 && !memcmp(s, "<|", 2) && !memcmp(s + n - 2, "|>", 2)) return vocab_list_add(l, id, s, n, e);
    const int64_t bytes = bytes_of_letters(s, n, &bad);
    if (bytes >= 0) return vocab_list_add(l, id, s, (size_t)bytes, e);
    return err_set(e, STENO_EFORMAT, "%s: the string of id %" PRId64 " has U+%04" PRIX32 ", which stands for no byte: not byte-level",
                   l->name, id, bad);
}

static int read_list(struct json_vocab *v)
{
    const int is_listed = vocab_is_listed(v->j.name);
    enum json_event kind;
    for (int64_t id = 0; (kind = json_next(&v->j)) != JSON_CLOSE; id++) {
        if (kind != JSON_TEXT) return json_fail(&v->j, v->e, "member %" PRId64 " of the list is not a string", id);
        const int rc = is_listed ? vocab_add_listed(v->list, id, v->j.s, v->j.len, v->e)
                                 : vocab_list_add(v->list, id, v->j.s, v->j.len, v->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int vocab_read_json(struct vocab_list *list, struct vocab_list *extra, const struct file *f, steno_error *e)
{
    struct json_vocab v = { .list = list, .extra = extra, .e = e };
    struct arena scratch;
    arena_init(&scratch);
    int rc = json_open(&v.j, f, 0, f->size, &scratch, e);
    if (!rc) {
        const enum json_event kind = json_next(&v.j);
        rc = kind == JSON_OBJECT ? read_object(&v) : kind == JSON_ARRAY ? read_list(&v) : json_fail(&v.j, e, "want an object or a list");
    }
    if (!rc && json_next(&v.j) != JSON_EOF) rc = json_fail(&v.j, e, "text follows the vocabulary");
    arena_free(&scratch);
    return rc;
}

int vocab_read_added(struct vocab_list *extra, const struct file *f, steno_error *e)
{
    struct arena scratch;
    struct json_reader j;
    enum json_event kind = JSON_EOF;
    arena_init(&scratch);
    int rc = json_open(&j, f, 0, f->size, &scratch, e);
    if (!rc && json_next(&j) != JSON_OBJECT) rc = json_fail(&j, e, "want an object of added tokens");
    while (!rc && (kind = json_next(&j)) != JSON_CLOSE) {
        const char *s = j.s;
        const size_t n = j.len;
        if (kind != JSON_KEY || json_next(&j) != JSON_INT) rc = json_fail(&j, e, "want a string and its id");
        else rc = vocab_list_add(extra, j.i, s, n, e);
    }
    arena_free(&scratch);
    return rc;
}

/* ---- a vocabulary under construction ---------------------------------------------------------------------------------------------- */

struct item { uint32_t id, n; size_t at; float score; enum vocab_type type; };

static const struct item *items(const struct vocab_list *l, uint32_t *n)
{
    *n = (uint32_t)(l->items.len / sizeof(struct item));
    return (const struct item *)(const void *)l->items.p;
}

void vocab_list_free(struct vocab_list *l)
{
    buf_free(&l->bytes);
    buf_free(&l->items);
}

int vocab_list_add(struct vocab_list *l, int64_t id, const void *s, size_t n, steno_error *e)
{
    if (id < 0 || id >= VOCAB_IDS)
        return err_set(e, STENO_EFORMAT, "%s: id %" PRId64 " of a vocabulary, want 0..%d", l->name, id, VOCAB_IDS - 1);
    if (n > VOCAB_STRING)
        return err_set(e, STENO_EFORMAT, "%s: the string of id %" PRId64 " has %zu bytes, want at most %d", l->name, id, n, VOCAB_STRING);
    if (l->items.len / sizeof(struct item) >= VOCAB_IDS)
        return err_set(e, STENO_EFORMAT, "%s: more than %d strings in a vocabulary", l->name, VOCAB_IDS);
    buf_add(&l->items, &(struct item) { .id = (uint32_t)id, .n = (uint32_t)n, .at = l->bytes.len }, sizeof(struct item));
    buf_add(&l->bytes, s, n);
    return l->items.err || l->bytes.err ? err_nomem(e, l->bytes.len, "a vocabulary") : STENO_OK;
}

void vocab_list_mark(struct vocab_list *l, float score, enum vocab_type type)
{
    if (l->items.err || l->items.len < sizeof(struct item)) return;
    struct item *last = (struct item *)(void *)(l->items.p + l->items.len) - 1;
    last->score = score;
    last->type = type;
}

int vocab_list_fill(struct vocab_list *l, const struct vocab_list *extra, steno_error *e)
{
    uint32_t n, n_extra, top = 0;
    const struct item *it = items(l, &n), *more = items(extra, &n_extra);
    if (!n_extra) return STENO_OK;
    struct arena scratch;
    arena_init(&scratch);
    uint8_t *there = arena_alloc(&scratch, VOCAB_IDS);
    int rc = there ? STENO_OK : err_nomem(e, VOCAB_IDS, "a vocabulary");
    for (uint32_t i = 0; i < n && !rc; i++) {
        there[it[i].id] = 1;
        if (it[i].id > top) top = it[i].id;
    }
    for (uint32_t i = 0; i < n_extra && !rc; i++) {
        if (more[i].id >= top || there[more[i].id]) continue;
        there[more[i].id] = 1;
        rc = vocab_list_add(l, more[i].id, extra->bytes.p + more[i].at, more[i].n, e);
        vocab_list_mark(l, more[i].score, more[i].type);
    }
    arena_free(&scratch);
    return rc;
}

int vocab_list_override(struct vocab_list *l, const struct vocab_list *extra, steno_error *e)
{
    uint32_t n, n_extra;
    const struct item *it = items(l, &n), *more = items(extra, &n_extra);
    struct arena scratch;
    arena_init(&scratch);
    uint32_t *place = arena_array(&scratch, VOCAB_IDS, sizeof *place); /* index + 1 of the item of an id */
    int rc = place ? STENO_OK : err_nomem(e, VOCAB_IDS * sizeof *place, "a vocabulary");
    for (uint32_t i = 0; i < n && !rc; i++) place[it[i].id] = i + 1;
    for (uint32_t i = 0; i < n_extra && !rc; i++) {
        const uint32_t at = place[more[i].id];
        rc = vocab_list_add(l, more[i].id, extra->bytes.p + more[i].at, more[i].n, e);
        vocab_list_mark(l, more[i].score, more[i].type);
        if (rc || !at) continue;
        struct item *all = (struct item *)(void *)l->items.p, *last = (struct item *)(void *)(l->items.p + l->items.len) - 1;
        all[at - 1] = *last;
        l->items.len -= sizeof *last;
    }
    arena_free(&scratch);
    return rc;
}

/* Without gaps, ids are a permutation of 0..n-1. A table that is full then has neither gaps nor duplicates. */
static int by_id(struct vocab_entry *v, const struct vocab_list *l, const uint8_t *bytes, steno_error *e)
{
    uint32_t n, past = 0;
    const struct item *it = items(l, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (it[i].id >= n) {
            past = it[i].id;
            continue;
        }
        struct vocab_entry *to = &v[it[i].id];
        if (to->s)
            return err_set(e, STENO_EFORMAT, "%s: id %" PRIu32 " is given twice, to '%.*s' and to '%.*s'", l->name, it[i].id, (int)to->n,
                           (const char *)to->s, (int)it[i].n, (const char *)bytes + it[i].at);
        *to = (struct vocab_entry){ bytes + it[i].at, it[i].n, it[i].score, it[i].type };
    }
    for (uint32_t i = 0; i < n; i++)
        if (!v[i].s)
            return err_set(e, STENO_EFORMAT, "%s: no string has the id %" PRIu32 ", but one has %" PRIu32, l->name, i, past);
    return STENO_OK;
}

int vocab_list_done(const struct vocab_list *l, struct weights *w, steno_error *e)
{
    uint32_t n;
    items(l, &n);
    if (!n) return err_set(e, STENO_EFORMAT, "%s: a vocabulary without strings", l->name);
    struct vocab_entry *v = arena_array(&w->arena, n, sizeof *v);
    uint8_t *bytes = arena_alloc(&w->arena, l->bytes.len + 1);
    if (!v || !bytes) return err_nomem(e, l->bytes.len + n * sizeof *v, "the vocabulary");
    if (l->bytes.len) memcpy(bytes, l->bytes.p, l->bytes.len);
    const int rc = by_id(v, l, bytes, e);
    if (rc) return rc;
    w->vocab = v;
    w->n_vocab_entries = n;
    return STENO_OK;
}

struct taking { struct vocab_list list; steno_error *e; };

static int take_text(void *user, uint64_t i, const char *s, size_t n)
{
    struct taking *t = user;
    return vocab_list_add(&t->list, (int64_t)i, s, n, t->e);
}

int vocab_take_list(struct weights *w, const struct meta_list *from, steno_error *e)
{
    struct taking t = { .list = { .name = w->name }, .e = e };
    int rc = meta_list_texts(from, VOCAB_STRING, take_text, &t, e);
    if (!rc) rc = vocab_list_done(&t.list, w, e);
    vocab_list_free(&t.list);
    return rc;
}
