/* steno: text, languages and special tokens of a model, and the streaming detokenizer. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "model/family.h"
#include "text/tokenizer.h"

int steno_language_id(const steno_model *m, const char *name)
{
    return m && name && m->family->language ? m->family->language(m, name) : -1;
}

const char *steno_language_name(const char *code)
{
    return code ? language_name(language_find(code)) : NULL;
}

const char *steno_language_code(const char *name)
{
    return language_code(language_find(name));
}

int32_t steno_token_id(const steno_model *m, enum steno_special which)
{
    if (!m) return -1;
    const struct token_roles *t = &m->tokens;
    switch (which) {
    case STENO_TOKEN_END: return t->eot;
    case STENO_TOKEN_START: return t->sot;
    case STENO_TOKEN_LANGUAGE: return t->n_languages ? t->first_language : -1;
    case STENO_TOKEN_TRANSLATE: return t->translate;
    case STENO_TOKEN_TRANSCRIBE: return t->transcribe;
    case STENO_TOKEN_START_LM: return t->turn;
    case STENO_TOKEN_PREVIOUS: return t->previous;
    case STENO_TOKEN_NO_SPEECH: return t->no_speech;
    case STENO_TOKEN_NO_TIMESTAMPS: return t->no_timestamps;
    case STENO_TOKEN_TIMESTAMP: return t->timestamp_begin;
    }
    return -1;
}

/* Tokenizes any text with the model's tokenizer. */
static int text_encode(const steno_model *m, const char *text, size_t n, unsigned flags, struct buf *ids)
{
    if (m->lm.tokenizer) return tokenizer_encode(m->lm.tokenizer, text, n, flags, ids, NULL);
    return !m->bpe || flags ? STENO_EUNSUPPORTED : bpe_encode(m->bpe, text, n, ids, NULL);
}

int steno_tokenize_text(const steno_model *m, const char *text, size_t n_text, uint32_t flags, int32_t *ids, int n)
{
    enum { KNOWN = STENO_TOKENIZE_SPECIAL | STENO_TOKENIZE_WHOLE };
    if (!m || (!text && n_text) || n < 0 || (n && !ids) || flags & ~(uint32_t)KNOWN) return STENO_EARG;
    const unsigned how = (flags & STENO_TOKENIZE_SPECIAL ? TOKENIZE_SPECIAL : 0) | (flags & STENO_TOKENIZE_WHOLE ? TOKENIZE_WHOLE : 0);
    struct buf b = { 0 };
    const int rc = text_encode(m, text ? text : "", n_text, how, &b);
    const int got = (int)(b.len / sizeof *ids);
    if (!rc && got && n) memcpy(ids, b.p, (size_t)(got < n ? got : n) * sizeof *ids);
    buf_free(&b);
    return rc ? rc : got;
}

int steno_tokenize_parts(const steno_model *m, const steno_text_part *parts, int n_parts, uint32_t flags, int32_t *ids, int n)
{
    if (!m || n_parts < 0 || (n_parts && !parts) || n < 0 || (n && !ids) || flags & ~(uint32_t)STENO_TOKENIZE_WHOLE) return STENO_EARG;
    if (!m->lm.tokenizer) return STENO_EUNSUPPORTED;
    struct buf text = { 0 }, part = { 0 }, b = { 0 };
    int rc = STENO_OK;
    for (int i = 0; i < n_parts && !rc; i++) {
        const steno_text_part *it = &parts[i];
        if ((!it->text && it->n) || it->flags & ~(uint32_t)STENO_TOKENIZE_SPECIAL) rc = STENO_EARG;
        if (!rc && it->n) buf_add(&text, it->text, it->n);
        buf_add(&part, &(struct token_part){ text.len, (it->flags & STENO_TOKENIZE_SPECIAL) != 0 }, sizeof(struct token_part));
    }
    if (!rc && (text.err || part.err)) rc = STENO_ENOMEM;
    if (!rc)
        rc = tokenizer_encode_parts(m->lm.tokenizer, text.p, (const struct token_part *)(const void *)part.p, (size_t)n_parts,
                                    flags ? TOKENIZE_WHOLE : 0, &b, NULL);
    const int got = (int)(b.len / sizeof *ids);
    if (!rc && got && n) memcpy(ids, b.p, (size_t)(got < n ? got : n) * sizeof *ids);
    buf_free(&text);
    buf_free(&part);
    buf_free(&b);
    return rc ? rc : got;
}

int steno_tokenize(const steno_model *m, const char *text, int32_t *ids, int n)
{
    return text ? steno_tokenize_text(m, text, strlen(text), 0, ids, n) : STENO_EARG;
}

int steno_chat_tokenize(const steno_model *m, const steno_message *messages, int n_messages, uint32_t flags, int32_t *ids, int n,
                        steno_error *e)
{
    enum { KNOWN = STENO_CHAT_ANSWER | STENO_CHAT_NO_THINKING, AS = 0x700 };
    static enum chat_format const formats[] = { CHAT_NONE, CHAT_ML, CHAT_INST, CHAT_HEADERS, CHAT_TURNS_SYSTEM };
    const uint32_t as = (flags & AS) >> 8;
    err_clear(e);
    const int known = !(flags & ~(uint32_t)(KNOWN | AS)) && as < sizeof formats / sizeof *formats;
    if (!m || (!messages && n_messages) || n_messages < 0 || n < 0 || (n && !ids) || !known)
        return err_set(e, STENO_EARG, "steno_chat_tokenize needs a model, messages, and flags that are known");
    const struct chat_form form = as ? chat_usual(formats[as]) : m->lm.chat;
    if (!m->lm.tokenizer || form.format == CHAT_NONE)
        return err_set(e, STENO_EUNSUPPORTED, "%s: the model has no chat template", m->name);
    if (form.format == CHAT_UNKNOWN)
        return err_set(e, STENO_EUNSUPPORTED, "%s: the model's chat template is not one that this version knows", m->name);
    const unsigned how = (flags & STENO_CHAT_ANSWER ? CHAT_ANSWER : 0) | (flags & STENO_CHAT_NO_THINKING ? CHAT_NO_THINKING : 0);
    struct buf b = { 0 };
    int rc = STENO_OK;
    for (int i = 0; i < n_messages && !rc; i++)
        if (!messages[i].role || !messages[i].content) rc = err_set(e, STENO_EARG, "message %d has no role or no content", i);
    if (!rc) rc = chat_encode(m->lm.tokenizer, &form, messages, n_messages, how, &b, e);
    const int got = (int)(b.len / sizeof *ids);
    if (!rc && got && n) memcpy(ids, b.p, (size_t)(got < n ? got : n) * sizeof *ids);
    buf_free(&b);
    return rc ? rc : got;
}

int64_t steno_token_bytes(const steno_model *m, int32_t id, char *out, size_t n)
{
    if (!m || id < 0 || id >= m->n_vocab || (n && !out)) return STENO_EARG;
    const uint8_t *s = NULL;
    const size_t len = m->lm.tokenizer ? tokenizer_piece(m->lm.tokenizer, id, 1, &s) : id < m->vocab.n ? m->vocab.len[id] : 0;
    if (!m->lm.tokenizer && len) s = m->vocab.bytes[id];
    if (len && n) memcpy(out, s, len < n ? len : n);
    return (int64_t)len;
}

int steno_token_ends(const steno_model *m, int32_t id)
{
    if (!m || id < 0 || id >= m->n_vocab) return 0;
    return m->lm.tokenizer ? tokenizer_is_end(m->lm.tokenizer, id) : id == m->tokens.eot;
}

int64_t steno_detokenize(const steno_model *m, const int32_t *ids, int n_ids, char *out, size_t n)
{
    if (!m || n_ids < 0 || (n_ids && !ids) || (n && !out)) return STENO_EARG;
    char near[2][1024]; /* a few tokens need no allocation, which could fail */
    struct buf bytes = { .p = near[0], .cap = sizeof near[0], .lent = 1 }, text = { .p = near[1], .cap = sizeof near[1], .lent = 1 };
    int rc = STENO_OK;
    for (int i = 0; i < n_ids && !rc; i++)
        if (ids[i] < 0 || ids[i] >= m->n_vocab) rc = STENO_EARG;
    if (!rc && m->family->ids_to_bytes) m->family->ids_to_bytes(m, ids, n_ids, &bytes);
    if (bytes.len) utf8_append(&text, (const uint8_t *)bytes.p, bytes.len);
    if (!rc && (bytes.err || text.err)) rc = STENO_ENOMEM;
    const int64_t len = rc ? rc : (int64_t)text.len;
    if (n) {
        const size_t copy = rc ? 0 : utf8_complete((const uint8_t *)text.p, text.len < n - 1 ? text.len : n - 1);
        if (copy) memcpy(out, text.p, copy);
        out[copy] = 0;
    }
    buf_free(&bytes);
    buf_free(&text);
    return len;
}

/* ---- the streaming detokenizer ------------------------------------------------------------------------------------------------ */

struct steno_detokenizer {
    const steno_model *model;
    int special;
    struct token_stream stream;
    struct buf text; /* of the last call */
};

int steno_detokenizer_open(steno_detokenizer **out, const steno_model *m, int special, steno_error *e)
{
    err_clear(e);
    if (out) *out = NULL;
    if (!out || !m) return err_set(e, STENO_EARG, "steno_detokenizer_open needs a model, and where to put what it opens");
    struct steno_detokenizer *d = calloc(1, sizeof *d);
    if (!d) return err_nomem(e, sizeof *d, "a detokenizer");
    d->model = m;
    d->special = special != 0;
    token_stream_begin(&d->stream, m->lm.tokenizer, d->special);
    model_hold(m);
    *out = d;
    return STENO_OK;
}

static const char *detokenizer_text(const steno_detokenizer *d, size_t *n)
{
    if (n) *n = d->text.err ? 0 : d->text.len;
    if (d->text.err) return NULL;
    return d->text.p ? d->text.p : "";
}

const char *steno_detokenizer_push(steno_detokenizer *d, int32_t id, size_t *n)
{
    if (n) *n = 0;
    if (!d || id < 0 || id >= d->model->n_vocab) return NULL;
    const struct vocab *v = &d->model->vocab;
    buf_clear(&d->text);
    if (d->model->lm.tokenizer) token_stream_push(&d->stream, id, &d->text);
    else if (id < v->n && (d->special || id < v->n_text)) token_stream_push_bytes(&d->stream, v->bytes[id], v->len[id], &d->text);
    return detokenizer_text(d, n);
}

const char *steno_detokenizer_end(steno_detokenizer *d, size_t *n)
{
    if (n) *n = 0;
    if (!d) return NULL;
    buf_clear(&d->text);
    token_stream_end(&d->stream, &d->text);
    token_stream_begin(&d->stream, d->model->lm.tokenizer, d->special);
    return detokenizer_text(d, n);
}

void steno_detokenizer_close(steno_detokenizer *d)
{
    if (!d) return;
    model_release(d->model);
    buf_free(&d->text);
    free(d);
}
