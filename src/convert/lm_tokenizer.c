/* steno: tokenizers of language models in GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys and the alphabet of tokens are llama.cpp's, whatever form was read. SentencePiece tokenizers need scores, which decide the order of
 * merges. They come from a tokenizer.model beside the model, or from the ranks of pairs in a tokenizer.json. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "convert/lm.h"
#include "load/byte_alphabet.h"
#include "load/tokenizer.h"
#include "load/vocab.h"

#define SPACE_SIGN "\xe2\x96\x81"
enum { PAD_SZ = 24 };
static float const score_special = -1000, score_unused = -10000;

/* The tokenizer to write. */
struct tokenizer_texts {
    struct gguf_writer *g;
    struct weights *w;
    const struct tokenizer_file *t;
    const struct vocab_entry *spm; /* [n_spm] entries of a tokenizer.model, unchanged; may be NULL */
    uint32_t n_spm, n;             /* n: number of tokens to write */
    struct vocab_entry *out;       /* [n] */
    int32_t *type;                 /* [n] */
    float *score;                  /* [n] */
    struct arena *a;
};

static int no_memory(const struct tokenizer_texts *v, size_t n)
{
    return err_nomem(v->g->e, n, "a vocabulary");
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------------ */

/* Writes the letter for a byte in UTF-8. Returns its length. */
static size_t put_letter(char *out, uint8_t byte)
{
    uint32_t c = 0x21;
    while (byte_of_letter(c) != byte) c++;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = (char)(0xc0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3f));
    return 2;
}

static size_t put_letters(char *out, const uint8_t *s, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) at += put_letter(out + at, s[i]);
    return at;
}

static size_t put_spaces(char *out, const uint8_t *s, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != ' ') {
            out[at++] = (char)s[i];
            continue;
        }
        memcpy(out + at, SPACE_SIGN, 3);
        at += 3;
    }
    return at;
}

/* Writes the text of a token in its GGUF form. out: three bytes for each byte of the token, plus PAD_SZ */
static size_t put_token(char *out, const struct tokenizer_texts *v, const struct vocab_entry *from)
{
    if (from->type == VOCAB_BYTE) return (size_t)snprintf(out, PAD_SZ, "<0x%02X>", from->n ? from->s[0] : 0u);
    if (from->type == VOCAB_NORMAL && v->t->form == TOKENIZER_BYTES) return put_letters(out, from->s, from->n);
    if (from->type == VOCAB_NORMAL && v->t->form == TOKENIZER_PIECES) return put_spaces(out, from->s, from->n);
    if (from->type == VOCAB_NORMAL && from->n && from->s[0] == ' ') { /* a piece that begins a word */
        memcpy(out, SPACE_SIGN, 3);
        memcpy(out + 3, from->s + 1, from->n - 1);
        return from->n + 2;
    }
    memcpy(out, from->s, from->n);
    return from->n;
}

static int32_t type_code(const struct tokenizer_texts *v, enum vocab_type type)
{
    static int32_t const code[] = { [VOCAB_NORMAL] = 1, [VOCAB_UNKNOWN] = 2, [VOCAB_CONTROL] = 3, [VOCAB_USER_DEFINED] = 4,
                                    [VOCAB_UNUSED] = 5, [VOCAB_BYTE] = 6 };
    return v->t->form == TOKENIZER_WORDS && type == VOCAB_UNKNOWN ? code[VOCAB_CONTROL] : code[type];
}

/* ---- tokens ------------------------------------------------------------------------------------------------------------------------ */

/* Replaces the space symbols of a token by spaces, because such tokens are matched against the raw text. */
static uint32_t bare_spaces(char *s, const struct vocab_entry *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n; n++) {
        const int is_sign = from->n - i >= 3 && !memcmp(from->s + i, SPACE_SIGN, 3);
        s[n] = is_sign ? ' ' : (char)from->s[i];
        i += is_sign ? 3 : 1;
    }
    return n;
}

/* A tokenizer.model has more information, except for tokens that were added later. */
static int is_of_spm(const struct tokenizer_texts *v, uint32_t i)
{
    if (i >= v->n_spm) return 0;
    const enum vocab_type was = v->spm[i].type, is = i < v->t->n ? v->t->entry[i].type : VOCAB_NORMAL;
    return (was != VOCAB_NORMAL && was != VOCAB_UNUSED) || (is != VOCAB_CONTROL && is != VOCAB_USER_DEFINED);
}

static int take_token(struct tokenizer_texts *v, uint32_t i)
{
    const int is_spm = is_of_spm(v, i);
    const struct vocab_entry *from = is_spm ? &v->spm[i] : i < v->t->n ? &v->t->entry[i] : NULL;
    char *s = arena_alloc(v->a, (from ? 3 * (size_t)from->n : 0) + PAD_SZ);
    if (!s) return no_memory(v, PAD_SZ);
    v->out[i].s = (const uint8_t *)s;
    if (!from || (!from->n && from->type != VOCAB_BYTE)) {
        v->out[i].n = (uint32_t)snprintf(s, PAD_SZ, "[PAD%u]", (unsigned)i);
        v->type[i] = type_code(v, VOCAB_UNUSED);
        v->score[i] = score_unused;
        return STENO_OK;
    }
    v->type[i] = type_code(v, from->type);
    v->score[i] = is_spm && from->type != VOCAB_USER_DEFINED ? from->score : score_special;
    if (is_spm && from->type == VOCAB_USER_DEFINED) v->out[i].n = bare_spaces(s, from);
    else if (is_spm) memcpy(s, from->s, v->out[i].n = from->n);
    else v->out[i].n = (uint32_t)put_token(s, v, from);
    return STENO_OK;
}

/* ---- scores from merge ranks ------------------------------------------------------------------------------------------------------- */

struct by_text { const uint8_t *s; uint32_t n, id; };

static int text_order(const void *a, const void *b)
{
    const struct by_text *x = a, *y = b;
    const int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* The earlier a pair is merged, the higher the score of its piece. Pieces without a pair get the lowest scores. */
static int rank_pieces(struct tokenizer_texts *v)
{
    const struct tokenizer_file *t = v->t;
    struct arena scratch;
    uint32_t n = 0;
    if (v->spm || t->form != TOKENIZER_PIECES || !t->n_pairs) return STENO_OK;
    arena_init(&scratch);
    struct by_text *list = arena_array(&scratch, t->n, sizeof *list);
    for (uint32_t i = 0; list && i < t->n; i++) {
        if (t->entry[i].type != VOCAB_NORMAL) continue;
        v->score[i] = -(float)t->n_pairs - 1;
        list[n++] = (struct by_text){ t->entry[i].s, t->entry[i].n, i };
    }
    if (n) qsort(list, n, sizeof *list, text_order);
    for (uint32_t i = t->n_pairs; n && i-- > 0;) { /* the first pair of a piece gives its rank */
        const struct by_text key = { t->pair[i].s, t->pair[i].left + t->pair[i].right, 0 };
        const struct by_text *it = bsearch(&key, list, n, sizeof *list, text_order);
        if (it) v->score[it->id] = -(float)i;
    }
    arena_free(&scratch);
    return list ? STENO_OK : no_memory(v, t->n * sizeof *list);
}

static int put_tokens(struct tokenizer_texts *v)
{
    v->out = arena_array(v->a, v->n, sizeof *v->out);
    v->type = arena_array(v->a, v->n, sizeof *v->type);
    v->score = arena_array(v->a, v->n, sizeof *v->score);
    int rc = v->out && v->type && v->score ? STENO_OK : no_memory(v, v->n * sizeof *v->out);
    for (uint32_t i = 0; i < v->n && !rc; i++) rc = take_token(v, i);
    if (!rc) rc = rank_pieces(v);
    if (rc) return rc;
    gguf_put_vocab(v->g, "tokenizer.ggml.tokens", v->out, v->n);
    if (v->t->form == TOKENIZER_PIECES) gguf_put_f32s(v->g, "tokenizer.ggml.scores", v->score, v->n);
    gguf_put_i32s(v->g, "tokenizer.ggml.token_type", v->type, v->n);
    return STENO_OK;
}

static int put_pairs(struct tokenizer_texts *v)
{
    const struct tokenizer_file *t = v->t;
    struct vocab_entry *out = arena_array(v->a, (size_t)t->n_pairs + 1, sizeof *out);
    if (!out) return no_memory(v, t->n_pairs * sizeof *out);
    for (uint32_t i = 0; i < t->n_pairs; i++) {
        const struct tokenizer_pair *p = &t->pair[i];
        char *s = arena_alloc(v->a, 2 * ((size_t)p->left + p->right) + 1);
        if (!s) return no_memory(v, p->left);
        size_t n = put_letters(s, p->s, p->left);
        s[n++] = ' ';
        n += put_letters(s + n, p->s + p->left, p->right);
        out[i] = (struct vocab_entry){ .s = (const uint8_t *)s, .n = (uint32_t)n };
    }
    gguf_put_vocab(v->g, "tokenizer.ggml.merges", out, t->n_pairs);
    return STENO_OK;
}

/* ---- other settings ---------------------------------------------------------------------------------------------------------------- */

/* The id of a special token by its text, or -1. */
static int32_t id_of(const struct tokenizer_file *t, const char *text)
{
    for (uint32_t i = 0; text && i < t->n; i++)
        if (t->entry[i].n == strlen(text) && t->entry[i].type != VOCAB_BYTE && !memcmp(t->entry[i].s, text, t->entry[i].n))
            return (int32_t)i;
    return -1;
}

/* The id from the settings of the tokenizer, or of the network. */
static int32_t configured_id(const struct tokenizer_texts *v, const struct meta *m, const char *what)
{
    char key[64];
    snprintf(key, sizeof key, "%s_token", what);
    const char *text = meta_text(m, key, NULL);
    snprintf(key, sizeof key, "%s_token.content", what);
    const int32_t id = id_of(v->t, text ? text : meta_text(m, key, NULL));
    if (id >= 0) return id;
    snprintf(key, sizeof key, "%s_token_id", what);
    return (int32_t)meta_whole(&v->w->meta, key, 0, v->n - 1, -1);
}

/* A second end id, for the end of a turn; the main one has a key of its own. */
static int32_t end_of_turn(const struct tokenizer_file *t, int32_t eos)
{
    for (int i = 0; i < t->n_ends && t->eot < 0; i++)
        if (t->end[i] != eos) return t->end[i];
    return t->eot;
}

static void put_ids(const struct tokenizer_texts *v, const struct meta *m)
{
    static const struct { const char *what, *key; } known[] = {
        { "unk", "unknown" }, { "sep", "seperator" }, { "pad", "padding" }, { "cls", "cls" }, { "mask", "mask" },
    };
    const struct tokenizer_file *t = v->t;
    const int32_t bos = t->bos >= 0 ? t->bos : configured_id(v, m, "bos"), end = configured_id(v, m, "eos"), eos = end >= 0 ? end : t->eos;
    const int32_t eot = end_of_turn(t, eos);
    if (bos >= 0) gguf_put_u32(v->g, "tokenizer.ggml.bos_token_id", (uint32_t)bos);
    if (eos >= 0) gguf_put_u32(v->g, "tokenizer.ggml.eos_token_id", (uint32_t)eos);
    if (eot >= 0) gguf_put_u32(v->g, "tokenizer.ggml.eot_token_id", (uint32_t)eot);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char key[64];
        const int32_t id = configured_id(v, m, known[i].what);
        snprintf(key, sizeof key, "tokenizer.ggml.%s_token_id", known[i].key);
        if (id >= 0) gguf_put_u32(v->g, key, (uint32_t)id);
    }
}

static void put_flags(const struct tokenizer_texts *v)
{
    const struct tokenizer_file *t = v->t;
    const int is_words = t->form == TOKENIZER_WORDS;
    if (!is_words || !t->adds_bos) gguf_put_bool(v->g, "tokenizer.ggml.add_bos_token", t->adds_bos);
    if (t->form == TOKENIZER_PIECES || t->adds_eos != is_words) gguf_put_bool(v->g, "tokenizer.ggml.add_eos_token", t->adds_eos);
    if (t->form == TOKENIZER_PIECES) gguf_put_bool(v->g, "tokenizer.ggml.add_space_prefix", t->space_first);
    if (is_words) gguf_put_bool(v->g, "tokenizer.ggml.normalizer.lowercase", t->words.lowers);
    if (is_words && t->words.strips >= 0) gguf_put_bool(v->g, "tokenizer.ggml.normalizer.strip_accents", t->words.strips);
    if (t->chat_template) gguf_put_text(v->g, "tokenizer.chat_template", t->chat_template);
}

/* Writes the settings of tokenizer_config.json, if there is one. */
static int put_settings(const struct tokenizer_texts *v)
{
    struct arena scratch;
    struct meta m;
    struct file f;
    arena_init(&scratch);
    meta_init(&m, &scratch);
    int rc = model_source_find(&v->w->source, "tokenizer_config.json", &scratch, &f, v->g->e);
    if (rc > 0) {
        rc = meta_read_json(&m, NULL, &f, v->g->e);
        file_close(&f);
    }
    if (!rc) put_ids(v, &m);
    if (!rc) put_flags(v);
    arena_free(&scratch);
    return rc;
}

/* Writes the tokenizer type under the name that other programs use. */
static int put_kind(const struct tokenizer_texts *v)
{
    const struct tokenizer_names *names = &lm_tokenizer_names;
    const struct tokenizer_cut *cut = names->cut;
    if (v->t->form != TOKENIZER_BYTES) {
        gguf_put_text(v->g, "tokenizer.ggml.model", v->t->form == TOKENIZER_WORDS ? names->words : names->pieces);
        gguf_put_text(v->g, "tokenizer.ggml.pre", "default");
        return STENO_OK;
    }
    while (cut->name && (strcmp(cut->pattern, v->t->pattern) != 0 || cut->whole_first != v->t->whole_first)) cut++;
    if (!cut->name)
        return err_set(v->g->e, STENO_EUNSUPPORTED, "%s: its tokenizer cuts text as %s, and %s whole words first, for which GGUF files "
                       "have no name", v->w->name, v->t->pattern, v->t->whole_first ? "takes" : "does not take");
    gguf_put_text(v->g, "tokenizer.ggml.model", names->bytes);
    gguf_put_text(v->g, "tokenizer.ggml.pre", cut->name);
    return STENO_OK;
}

/* Reads the SentencePiece file beside the model. */
static int read_spm(struct tokenizer_texts *v)
{
    struct vocab_list list = { .name = v->w->name };
    struct file f;
    if (v->t->form != TOKENIZER_PIECES) return STENO_OK;
    int rc = model_source_find(&v->w->source, "tokenizer.model", v->a, &f, v->g->e);
    if (rc <= 0) return rc;
    list.name = f.name;
    rc = f.size <= VOCAB_FILE ? vocab_read_sentencepiece(&list, &f, v->g->e)
                              : err_set(v->g->e, STENO_EFORMAT, "%s: too large for a vocabulary", f.name);
    if (!rc) rc = vocab_list_done(&list, v->w, v->g->e);
    if (!rc) v->spm = v->w->vocab, v->n_spm = v->w->n_vocab_entries;
    vocab_list_free(&list);
    file_close(&f);
    return rc;
}

int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, uint32_t rows, steno_error *e)
{
    struct tokenizer_file t;
    struct tokenizer_texts v = { .g = g, .w = w, .t = &t, .a = &w->arena };
    int rc = tokenizer_read(&t, w, &lm_tokenizer_names, e);
    if (!rc) rc = read_spm(&v);
    if (rc) return rc;
    v.n = t.n > v.n_spm ? t.n : v.n_spm;
    if (rows && v.n > rows)
        return err_set(e, STENO_EFORMAT, "%s: its tokenizer has %u tokens, but the embedding %u rows", w->name, (unsigned)v.n,
                       (unsigned)rows);
    if (rows) v.n = rows;
    rc = put_kind(&v);
    if (!rc) rc = put_tokens(&v);
    if (!rc && t.form == TOKENIZER_BYTES) rc = put_pairs(&v);
    return rc ? rc : put_settings(&v);
}
