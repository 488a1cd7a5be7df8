/* steno: Hugging Face's tokenizer.json. SPDX-License-Identifier: MIT
 *
 * The file's many small objects reduce to a few facts: the pattern that cuts text, the pairs that are joined, the sign for a space, and the
 * special tokens. Parts come in any order, so strings are decoded at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "load/json.h"
#include "load/tokenizer.h"
#include "load/vocab.h"

struct json_words {
    struct json_reader j;
    struct tokenizer_file *t;
    struct vocab_list list, extra;
    struct buf merges;            /* struct tokenizer_text, two per pair */
    steno_error *e;
    const char *pattern, *unknown;
    const char *unknown_cut;      /* kind of a pre_tokenizer that this version does not support; NULL: none */
    int n_patterns, cuts_digits;
    const char *bos, *eos;        /* special tokens before and after a text */
    const char *within;           /* mark of pieces that do not begin a word, NULL: the default */
    int is_bpe, is_byte_level, uses_pattern, byte_fallback, has_model;
    int is_words, cuts_words;     /* of the model; of the pre_tokenizer */
};

/* ---- vocabulary and pairs */

static int read_vocab(struct json_words *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        const char *s = j->s;
        const size_t n = j->len;
        if (kind != JSON_KEY || json_next(j) != JSON_INT) return json_fail(j, v->e, "want a string and its id");
        const int rc = vocab_list_add(&v->list, j->i, s, n, v->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

/* "left right" */
static int merge_of_text(struct json_reader *j, struct tokenizer_text pair[2])
{
    char *space = j->len > 2 ? memchr(j->s + 1, ' ', j->len - 2) : NULL;
    if (!space) return 0;
    pair[0] = (struct tokenizer_text){ j->s, (size_t)(space - j->s) };
    pair[1] = (struct tokenizer_text){ space + 1, j->len - pair[0].n - 1 };
    return 1;
}

/* ["left", "right"] */
static int merge_of_list(struct json_reader *j, struct tokenizer_text pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (json_next(j) != JSON_TEXT || !j->len) return 0;
        pair[i] = (struct tokenizer_text){ j->s, j->len };
    }
    return json_next(j) == JSON_CLOSE;
}

static int read_merges(struct json_words *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    for (int64_t i = 0; (kind = json_next(j)) != JSON_CLOSE; i++) {
        struct tokenizer_text pair[2];
        const int good = kind == JSON_TEXT ? merge_of_text(j, pair) : kind == JSON_ARRAY && merge_of_list(j, pair);
        if (!good) return json_fail(j, v->e, "merge %" PRId64 " is not a pair of texts", i);
        if (pair[0].n > VOCAB_STRING || pair[1].n > VOCAB_STRING) return json_fail(j, v->e, "merge %" PRId64 " is too long", i);
        buf_add(&v->merges, pair, sizeof pair);
    }
    return v->merges.err ? err_nomem(v->e, v->merges.len, "the pairs of a tokenizer") : STENO_OK;
}

static int read_model(struct json_words *v)
{
    struct json_reader *j = &v->j;
    enum json_event kind;
    int rc = STENO_OK;
    if (v->has_model++) return json_fail(j, v->e, "model is written twice");
    while (!rc && (kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, v->e, "want a key");
        const char *key = j->s;
        kind = json_next(j);
        if (!strcmp(key, "vocab") && kind == JSON_OBJECT) rc = read_vocab(v);
        else if (!strcmp(key, "merges") && kind == JSON_ARRAY) rc = read_merges(v);
        else if (!strcmp(key, "type") && kind == JSON_TEXT) v->is_bpe = !strcmp(j->s, "BPE"), v->is_words = !strcmp(j->s, "WordPiece");
        else if (!strcmp(key, "continuing_subword_prefix") && kind == JSON_TEXT && j->len) v->within = j->s;
        else if (!strcmp(key, "max_input_chars_per_word") && kind == JSON_INT && j->i > 0 && j->i <= VOCAB_STRING)
            v->t->words.most_chars = (int32_t)j->i;
        else if (!strcmp(key, "unk_token") && kind == JSON_TEXT) v->unknown = j->s;
        else if (!strcmp(key, "byte_fallback") && kind == JSON_BOOL) v->byte_fallback = (int)j->i;
        else if (!strcmp(key, "ignore_merges") && kind == JSON_BOOL) v->t->whole_first = (int)j->i;
        else json_skip(j, kind);
    }
    return rc;
}

/* {"id": 5, "content": "<|x|>", "special": true, …} */
static int read_added(struct json_words *v)
{
    struct json_reader *j = &v->j;
    struct tokenizer_text content = { 0 };
    int64_t id = -1;
    int special = 0;
    enum json_event kind;
    while ((kind = json_next(j)) != JSON_CLOSE) {
        if (kind != JSON_KEY) return json_fail(j, v->e, "want a key");
        const char *key = j->s;
        kind = json_next(j);
        if (!strcmp(key, "id") && kind == JSON_INT) id = j->i;
        else if (!strcmp(key, "content") && kind == JSON_TEXT) content = (struct tokenizer_text){ j->s, j->len };
        else if (!strcmp(key, "special") && kind == JSON_BOOL) special = (int)j->i;
        else json_skip(j, kind);
    }
    if (!content.s) return json_fail(j, v->e, "an added token without content");
    const int rc = vocab_list_add(&v->extra, id, content.s, content.n, v->e);
    vocab_list_mark(&v->extra, 0, special ? VOCAB_CONTROL : VOCAB_USER_DEFINED);
    return rc;
}

/* ---- preprocessing of text */

/* Preprocessing of characters. */
static void take_normalizer(struct json_words *v, const char *key, enum json_event kind)
{
    const struct json_reader *j = &v->j;
    struct tokenizer_words *to = &v->t->words;
    const struct { const char *key; int32_t *to; } flag[] = { { "clean_text", &to->cleans }, { "handle_chinese_chars", &to->splits_han },
                                                              { "strip_accents", &to->strips }, { "lowercase", &to->lowers } };
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
        if (kind == JSON_BOOL && !strcmp(key, flag[i].key)) *flag[i].to = (int32_t)j->i;
    if (kind != JSON_TEXT || strcmp(key, "type") != 0) return;
    if (!strcmp(j->s, "NFC")) v->t->composes = 1;
    if (!strcmp(j->s, "Lowercase")) to->lowers = 1;
    if (!strcmp(j->s, "StripAccents")) to->strips = 1;
}

/* Read the kind of a pre_tokenizer. */
static void take_cut(struct json_words *v, const char *type)
{
    static const char *const known[] = { "Sequence", "Split", "Metaspace" };
    int is_known = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= !strcmp(type, known[i]);
    if (!strcmp(type, "ByteLevel")) v->is_byte_level = v->uses_pattern = 1; /* unless use_regex is false */
    else if (!strcmp(type, "BertPreTokenizer")) v->cuts_words = 1;
    else if (!strcmp(type, "Digits")) v->cuts_digits = 1;
    else if (!is_known) v->unknown_cut = type;
}

/* Read a setting of a part, at any depth. */
static void take_fact(struct json_words *v, const char *part, const char *key, enum json_event kind)
{
    const struct json_reader *j = &v->j;
    const int is_text = kind == JSON_TEXT, before = !strcmp(part, "pre_tokenizer");
    if (is_text && !strcmp(key, "prepend")) v->t->space_first = 1;
    if (!before) take_normalizer(v, key, kind);
    if (!before) return;
    if (is_text && !strcmp(key, "Regex")) {
        v->pattern = j->s;
        v->n_patterns++;
    }
    if (is_text && !strcmp(key, "type")) take_cut(v, j->s);
    if (is_text && !strcmp(key, "prepend_scheme")) v->t->space_first = strcmp(j->s, "never") != 0;
    if (kind == JSON_BOOL && !strcmp(key, "use_regex")) v->uses_pattern = j->i != 0;
    if (kind == JSON_BOOL && !strcmp(key, "individual_digits") && !j->i) v->unknown_cut = "Digits, several together";
}

/* Read the settings of a part whose object or list has been opened. */
static void read_part(struct json_words *v, const char *part)
{
    struct json_reader *j = &v->j;
    const int outer = j->depth - 1;
    const char *key = "";
    for (enum json_event kind; j->depth > outer && (kind = json_next(j)) != JSON_FAILED;)
        if (kind == JSON_KEY) key = j->s;
        else take_fact(v, part, key, kind);
}

/* {..., "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}], "pair": ...}: the special tokens before and after a
 * text. */
static void read_template(struct json_words *v)
{
    struct json_reader *j = &v->j;
    const int outer = j->depth - 1;
    const char *key = "", *list = "", *item = "";
    int behind = 0;
    for (enum json_event kind; j->depth > outer && (kind = json_next(j)) != JSON_FAILED;) {
        if (kind == JSON_KEY) key = j->s;
        if (kind == JSON_ARRAY) list = key;
        if (kind == JSON_OBJECT) item = key;
        if (kind == JSON_TEXT && !strcmp(list, "cls") && !v->bos) v->bos = j->s; /* ["[CLS]", 101], the form of older files */
        if (kind == JSON_TEXT && !strcmp(list, "sep") && !v->eos) v->eos = j->s;
        if (kind != JSON_TEXT || strcmp(key, "id") != 0 || strcmp(list, "single") != 0) continue;
        const int is_special = !strcmp(item, "SpecialToken");
        if (!is_special) behind = 1;
        else if (behind && !v->eos) v->eos = j->s;
        else if (!behind && !v->bos) v->bos = j->s;
    }
}

static int read_member(struct json_words *v)
{
    struct json_reader *j = &v->j;
    const char *key = j->s;
    enum json_event kind = json_next(j);
    int rc = STENO_OK;
    if (!strcmp(key, "model") && kind == JSON_OBJECT) return read_model(v);
    if (!strcmp(key, "added_tokens") && kind == JSON_ARRAY) {
        while (!rc && (kind = json_next(j)) != JSON_CLOSE)
            rc = kind == JSON_OBJECT ? read_added(v) : json_fail(j, v->e, "added_tokens: want an object");
        return rc;
    }
    if (kind == JSON_OBJECT && (!strcmp(key, "normalizer") || !strcmp(key, "pre_tokenizer"))) read_part(v, key);
    else if (kind == JSON_OBJECT && !strcmp(key, "post_processor")) read_template(v);
    else json_skip(j, kind);
    return STENO_OK;
}

/* ---- the whole file */

/* Find the pattern among the known ones. Byte-level pairs without a pattern use the first one. */
static int pattern_find(struct json_words *v)
{
    const struct tokenizer_names *names = v->t->names;
    const char *const pattern = v->cuts_digits ? TOKENIZER_DIGITS : v->pattern;
    if (v->unknown_cut)
        return err_set(v->e, STENO_EUNSUPPORTED, "%s: text is split by '%.40s' (pre_tokenizer), which this version does not know",
                       v->j.name, v->unknown_cut);
    v->t->pattern = v->uses_pattern && !pattern ? names->cut[0].pattern : NULL;
    for (const struct tokenizer_cut *c = names->cut; c->name && pattern && v->n_patterns + v->cuts_digits == 1; c++)
        if (c->regex && !strcmp(c->regex, pattern) && v->uses_pattern == v->cuts_digits) v->t->pattern = c->pattern;
    if (v->t->pattern) return STENO_OK;
    return err_set(v->e, STENO_EUNSUPPORTED, "%s: text is cut by a pattern that this version does not know; it knows %s", v->j.name,
                   names->known);
}

static int form_find(struct json_words *v)
{
    if (!v->has_model) return json_fail(&v->j, v->e, "no tokenizer.json: it has no model");
    if (v->is_bpe && v->is_byte_level) {
        v->t->form = TOKENIZER_BYTES;
        return pattern_find(v);
    }
    if (v->is_words && v->cuts_words) {
        v->t->form = TOKENIZER_WORDS;
        v->t->space_first = 1;
        return STENO_OK;
    }
    v->t->form = TOKENIZER_PIECES;
    if (v->is_bpe && v->byte_fallback) return STENO_OK;
    return err_set(v->e, STENO_EUNSUPPORTED, "%s: a tokenizer of another kind than byte-level pairs, pairs of pieces with bytes for the "
                   "rest, or words and their pieces", v->j.name);
}

static int has_space_sign(const char *s, size_t n)
{
    for (size_t i = 0; i + 3 <= n; i++)
        if (!memcmp(s + i, "\xe2\x96\x81", 3)) return 1;
    return 0;
}

/* Set types and bytes of the entries. Their strings are still in the file's spelling. */
static int decode_entries(struct json_words *v, struct weights *w)
{
    const char *unknown = v->unknown ? v->unknown : "";
    for (uint32_t i = 0; i < w->n_vocab_entries; i++) {
        struct vocab_entry *it = &w->vocab[i];
        char *s = (char *)(uintptr_t)it->s; /* in the arena, so it may be changed */
        if (it->n && it->n == strlen(unknown) && !memcmp(s, unknown, it->n)) it->type = VOCAB_UNKNOWN;
        /* Runs of spaces among the added tokens are joined like other pieces: they use the space sign, which never occurs in text. */
        if (it->type == VOCAB_USER_DEFINED && v->t->form == TOKENIZER_PIECES && has_space_sign(s, it->n)) it->type = VOCAB_NORMAL;
        if (v->t->form == TOKENIZER_WORDS) continue;
        const int is_byte = v->byte_fallback && it->type == VOCAB_NORMAL && it->n == 6 && !memcmp(s, "<0x", 3) && s[5] == '>';
        const int64_t n = tokenizer_bytes(v->t->form, is_byte ? VOCAB_BYTE : it->type, s, it->n);
        if (n < 0)
            return err_set(v->e, STENO_EFORMAT, "%s: token %" PRIu32 " is not written in the alphabet of byte-level pairs", v->j.name, i);
        if (is_byte) it->type = VOCAB_BYTE;
        it->n = (uint32_t)n;
    }
    return v->t->form == TOKENIZER_WORDS ? tokenizer_words_decode(w, v->within, v->e) : STENO_OK;
}

static int words_done(struct json_words *v, struct weights *w)
{
    struct tokenizer_file *t = v->t;
    struct tokenizer_pairs pairs = { 0 };
    const struct tokenizer_text *text = (const struct tokenizer_text *)(const void *)v->merges.p;
    int rc = form_find(v);
    if (!rc) rc = vocab_list_override(&v->list, &v->extra, v->e);
    if (!rc) rc = vocab_list_done(&v->list, w, v->e);
    if (!rc) rc = decode_entries(v, w);
    for (size_t i = 0; !rc && i + 1 < v->merges.len / sizeof *text; i += 2)
        rc = tokenizer_pair_add(&pairs, t->form, text[i], text[i + 1], v->e);
    if (!rc) rc = tokenizer_pairs_done(t, &pairs, w, v->e);
    tokenizer_pairs_free(&pairs);
    if (rc) return rc;
    t->entry = w->vocab;
    t->n = w->n_vocab_entries;
    t->bos = tokenizer_id_of(w, v->bos);
    t->adds_bos = t->bos >= 0;
    t->eos = tokenizer_id_of(w, v->eos);
    t->adds_eos = t->eos >= 0;
    tokenizer_ends_find(t, w);
    return STENO_OK;
}

int tokenizer_read_json(struct tokenizer_file *t, const struct file *f, struct weights *w, steno_error *e)
{
    struct json_words v = { .t = t, .list = { .name = f->name }, .extra = { .name = f->name }, .e = e };
    enum json_event kind;
    struct arena scratch;
    arena_init(&scratch);
    int rc = f->size > VOCAB_FILE ? err_set(e, STENO_EFORMAT, "%s: %" PRIu64 " bytes, want at most %d", f->name, f->size, VOCAB_FILE)
                                  : json_open(&v.j, f, 0, f->size, &scratch, e);
    t->words = (struct tokenizer_words){ 0, 0, 0, -1, tokenizer_words_usual.most_chars };
    if (!rc && json_next(&v.j) != JSON_OBJECT) rc = json_fail(&v.j, e, "want an object");
    while (!rc && (kind = json_next(&v.j)) != JSON_CLOSE) rc = kind == JSON_KEY ? read_member(&v) : json_fail(&v.j, e, "want a key");
    if (!rc && json_next(&v.j) != JSON_EOF) rc = json_fail(&v.j, e, "text follows the tokenizer");
    if (!rc) rc = words_done(&v, w);
    vocab_list_free(&v.list);
    vocab_list_free(&v.extra);
    buf_free(&v.merges);
    arena_free(&scratch);
    return rc;
}
