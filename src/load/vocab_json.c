/* steno: vocabularies in JSON. SPDX-License-Identifier: MIT
 *
 * Three files: vocab.json, {"string": id}; tokenizer.json, with such an object inside its model; tokens.json, a list of strings. The
 * strings of the first two use the alphabet of GPT-2's byte-level pairs, in which every byte is a printable character, and are converted to
 * bytes. Those of the third, and added tokens, are plain text. */
#include "load/vocab_list.h"

#include <inttypes.h>
#include <string.h>
#include "load/byte_alphabet.h"
#include "load/json_reader.h"

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

static int read_list(struct json_vocab *v)
{
    enum json_event kind;
    for (int64_t id = 0; (kind = json_next(&v->j)) != JSON_CLOSE; id++) {
        if (kind != JSON_TEXT) return json_fail(&v->j, v->e, "member %" PRId64 " of the list is not a string", id);
        const int rc = vocab_list_add(v->list, id, v->j.s, v->j.len, v->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int vocab_read_json(struct vocab_list *list, struct vocab_list *extra, const struct file *f, steno_error *e)
{
    struct json_vocab v = { .list = list, .extra = extra, .e = e };
    struct arena scrap;
    arena_init(&scrap);
    int rc = json_open(&v.j, f, 0, f->size, &scrap, e);
    if (!rc) {
        const enum json_event kind = json_next(&v.j);
        rc = kind == JSON_OBJECT ? read_object(&v) : kind == JSON_ARRAY ? read_list(&v) : json_fail(&v.j, e, "want an object or a list");
    }
    if (!rc && json_next(&v.j) != JSON_EOF) rc = json_fail(&v.j, e, "text follows the vocabulary");
    arena_free(&scrap);
    return rc;
}

int vocab_read_added(struct vocab_list *extra, const struct file *f, steno_error *e)
{
    struct arena scrap;
    struct json_reader j;
    enum json_event kind = JSON_EOF;
    arena_init(&scrap);
    int rc = json_open(&j, f, 0, f->size, &scrap, e);
    if (!rc && json_next(&j) != JSON_OBJECT) rc = json_fail(&j, e, "want an object of added tokens");
    while (!rc && (kind = json_next(&j)) != JSON_CLOSE) {
        const char *s = j.s;
        const size_t n = j.len;
        if (kind != JSON_KEY || json_next(&j) != JSON_INT) rc = json_fail(&j, e, "want a string and its id");
        else rc = vocab_list_add(extra, j.i, s, n, e);
    }
    arena_free(&scrap);
    return rc;
}
