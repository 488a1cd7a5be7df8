/* steno: CT-Transformer, punctuation, as data. SPDX-License-Identifier: MIT
 *
 * Chen et al. 2020: words, one id each, pass through SAN-M layers. A linear head chooses the mark after each word. The streaming variant
 * only attends to earlier words, and in its last layer up to a pause in the speech. Reference: FunASR 1.4, funasr/models/ct_transformer and
 * ct_transformer_streaming. */
#include <stdio.h>
#include <string.h>
#include "load/vocab_file.h"
#include "model/ct_words.h"
#include "model/funasr.h"
#include "model/funasr_vocab.h"
#include "model/sanm_encoder.h"
#include "plan/emit.h"
#include "plan/linear.h"

enum {
    BLOCK_ROWS = 1024, /* words per run; the reference has no limit if no sentence ends */
    MARKS_MAX = 64, MARK_SZ = 64
};
static float const norm_eps = 1e-12f;

static const char architecture[] = "ct-transformer", offline[] = "CTTransformer", online[] = "CTTransformerStreaming";

static int ct_match(const struct weights *w)
{
    return funasr_match(w, offline, architecture) || funasr_match(w, online, architecture);
}

struct ct_shape { struct sanm_encoder enc; int32_t n_vocab, n_marks, end, as_it_comes; };
#define AT(field) offsetof(struct ct_shape, field)

/* A row of the front end is a word. */
static const struct funasr_setting setting[] = {
    { "encoder_conf.input_size", "ct.input_size", 4, 8192, 0, AT(enc.n_mels) },
    { "encoder_conf.output_size", "ct.output_size", 4, 8192, 0, AT(enc.d) },
    { "encoder_conf.attention_heads", "ct.attention_heads", 1, 256, 0, AT(enc.heads) },
    { "encoder_conf.linear_units", NULL, 1, 65536, 0, AT(enc.d_ff) },
    { "encoder_conf.num_blocks", "ct.num_blocks", 1, 256, 0, AT(enc.layers) },
    { "encoder_conf.kernel_size", "ct.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(enc.taps) },
    { "encoder_conf.sanm_shfit", "ct.sanm_shift", 0, FSMN_TAPS, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.shift) }, /* spelled as in FunASR */
    { "model_conf.sentence_end_id", "ct.sentence_end_id", 0, MARKS_MAX - 1, FUNASR_CONFIG | FUNASR_GGUF, AT(end) },
    { NULL, "ct.streaming", 0, 1, FUNASR_GGUF, AT(as_it_comes) },
};
#undef AT
enum { N_SETTINGS = sizeof setting / sizeof *setting };
static const struct ct_shape usual = { .enc = { .taps = 11, .lfr_m = 1, .lfr_n = 1 }, .end = 3 };

static int read_shape(struct ct_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *words = weights_find(w, "embed.weight"), *head = weights_find(w, "decoder.bias");
    *s = usual;
    s->enc.eps = norm_eps;
    int rc = funasr_read_settings(s, setting, N_SETTINGS, w, e);
    if (!rc) rc = sanm_encoder_check(&s->enc, w, e);
    if (rc) return rc;
    if (!words || words->n_dims != 2 || words->dim[0] < 1 || words->dim[0] > 1 << 20)
        return err_set(e, STENO_EFORMAT, "%s: tensor embed.weight is missing or of no use: the number of words is its length", w->name);
    if (!head || head->n_dims != 1 || head->dim[0] < 2 || head->dim[0] > MARKS_MAX)
        return err_set(e, STENO_EFORMAT, "%s: tensor decoder.bias is missing or of no use: the number of marks is its length", w->name);
    s->n_vocab = (int32_t)words->dim[0];
    s->n_marks = (int32_t)head->dim[0];
    if (!funasr_is_gguf(w)) s->as_it_comes = !strcmp(meta_text(&w->meta, "model", ""), online);
    s->enc.causal = s->as_it_comes;
    if (s->end >= s->n_marks)
        return err_set(e, STENO_EFORMAT, "%s: sentence_end_id is %d, but there are %d marks", w->name, (int)s->end, (int)s->n_marks);
    if (2 * s->enc.shift > s->enc.taps - 1)
        return err_set(e, STENO_EFORMAT, "%s: sanm_shfit is %d, of a memory of %d", w->name, (int)s->enc.shift, (int)s->enc.taps);
    return STENO_OK;
}

/* ---- marks --------------------------------------------------------------------------------------------------------------------- */

struct mark_list { char text[MARKS_MAX][MARK_SZ]; const struct weights *w; steno_error *e; };

static int take_mark(void *user, uint64_t i, const char *s, size_t n)
{
    struct mark_list *l = user;
    if (i >= MARKS_MAX || n >= MARK_SZ || memchr(s, 0, n))
        return err_set(l->e, STENO_EFORMAT, "%s: a mark of %zu bytes at place %u of the list, want %d of less than %d", l->w->name, n,
                       (unsigned)i, MARKS_MAX, MARK_SZ);
    memcpy(l->text[i], s, n);
    return STENO_OK;
}

/* @return the number of marks, or a status */
static int read_mark_list(struct mark_list *l)
{
    const struct meta *m = &l->w->meta;
    const struct meta_list *stored = meta_find_list(m, funasr_is_gguf(l->w) ? "ct.punc_list" : "model_conf.punc_list");
    if (stored) {
        const int rc = meta_list_texts(stored, MARK_SZ - 1, take_mark, l, l->e);
        return rc ? rc : (int)stored->n;
    }
    for (int i = 0; i < MARKS_MAX; i++) {
        char key[64];
        snprintf(key, sizeof key, "model_conf.punc_list.%d", i);
        const char *s = meta_text(m, key, NULL);
        const int rc = s ? take_mark(l, (uint64_t)i, s, strlen(s)) : i;
        if (!s || rc) return rc;
    }
    return MARKS_MAX;
}

/* Kind of a full-width mark, as in the reference. */
static enum mark_kind kind_of(const char *s)
{
    if (!strcmp(s, "\xe3\x80\x82") || !strcmp(s, "\xef\xbc\x9f")) return MARK_END;
    return strcmp(s, "\xef\xbc\x8c") ? MARK_OTHER : MARK_COMMA;
}

static int read_marks(steno_model *m, struct marks_model *v, const struct weights *w, const struct ct_shape *s, steno_error *e)
{
    struct mark_list l = { .w = w, .e = e };
    const int n = read_mark_list(&l);
    if (n < 0) return n;
    if (n != s->n_marks)
        return err_set(e, STENO_EFORMAT, "%s: punc_list has %d marks, the head %d", w->name, n, (int)s->n_marks);
    v->mark = arena_array(&m->arena, (size_t)n, sizeof *v->mark);
    v->kind = arena_array(&m->arena, (size_t)n, sizeof *v->kind);
    int bad = !v->mark || !v->kind;
    for (int i = 0; i < n && !bad; i++) {
        const char *text = strcmp(l.text[i], "_") && strcmp(l.text[i], "<unk>") ? l.text[i] : "";
        if (utf8_valid((const uint8_t *)text, strlen(text)) != strlen(text))
            return err_set(e, STENO_EFORMAT, "%s: mark %d of punc_list is not UTF-8", w->name, i);
        v->mark[i] = arena_strdup(&m->arena, text, strlen(text));
        v->kind[i] = (uint8_t)kind_of(text);
        bad = !v->mark[i];
    }
    v->n = n;
    for (v->none = n - 1; v->none > 0 && strcmp(l.text[v->none], "_") != 0;) v->none--;
    v->end = s->end;
    v->as_it_comes = s->as_it_comes;
    return bad ? err_nomem(e, (size_t)n * MARK_SZ, "marks") : STENO_OK;
}

/* ---- the network --------------------------------------------------------------------------------------------------------------- */

static int build_plan(steno_model *m, struct weights *w, const struct ct_shape *s, steno_error *e)
{
    struct build b;
    const struct build_params p = { .name = "words", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = BLOCK_ROWS, .max_out = 1 };
    const uint32_t width = (uint32_t)s->enc.width, d = (uint32_t)s->enc.d;
    const struct linear_part table = { "embed.weight", NULL, (uint64_t)s->n_vocab };
    const struct linear_part head = { "decoder.weight", "decoder.bias", (uint64_t)s->n_marks };
    build_begin(&b, &p, e);
    build_phase(&b, "words");
    const uint16_t in = build_slot(&b, width), mid = build_slot(&b, d), out = b.plan.output = build_slot(&b, (uint32_t)s->n_marks);
    emit(&b, OP_EMBED, "embed", in, NO_SLOT, bind_matrix(&b, &table, width, LINEAR_OTHER, NO_BIND));
    const uint16_t x = sanm_encoder_layers(&b, &s->enc, in);
    emit(&b, OP_NORM, "encoder.after_norm", mid, x, bind_norm(&b, "encoder.after_norm.weight", "encoder.after_norm.bias", d, norm_eps));
    emit(&b, OP_LINEAR, "decoder", out, mid, bind_matrix(&b, &head, d, LINEAR_OTHER, NO_BIND));
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

static int find_unknown(steno_model *m, struct marks_model *v, const struct weights *w, steno_error *e)
{
    const char *unk = meta_text(&w->meta, "tokenizer_conf.unk_symbol", "<unk>");
    v->unknown = vocab_find(&m->vocab, (const uint8_t *)unk, strlen(unk));
    if (v->unknown >= 0) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %.40s, which stands for words that it does not have", w->name, unk);
}

static int ct_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct ct_shape s;
    int rc = read_shape(&s, w, e);
    if (rc) return rc;
    struct marks_model *v = m->part = arena_alloc(&m->arena, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a model");
    m->name = s.as_it_comes ? "streaming" : "offline";
    m->n_vocab = s.n_vocab;
    m->n_plans = 1;
    m->text_ctx = BLOCK_ROWS;
    m->widths = (struct model_widths){ .text_state = s.enc.d, .text_heads = s.enc.heads, .text_layers = s.enc.layers };
    rc = read_marks(m, v, w, &s, e);
    if (!rc) rc = funasr_find_vocab(m, w, e);
    if (!rc) rc = build_plan(m, w, &s, e);
    if (!rc) rc = funasr_read_vocab(m, w, NULL, e);
    if (!rc) rc = find_unknown(m, v, w, e);
    return rc || s.as_it_comes ? rc : ct_read_words(m, v, w, e);
}

/* FunASR's runtime has no GGUF form for these models, so names and keys follow its other models. */
static int ct_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct ct_shape s;
    struct gguf_writer g;
    struct mark_list l = { .w = w, .e = e };
    struct vocab_entry marks[MARKS_MAX];
    int rc = read_shape(&s, w, e);
    const int n = rc ? rc : read_mark_list(&l);
    if (n < 0) return n;
    if (!w->vocab) rc = weights_read_vocab(w, o->vocab, e);
    if (rc) return rc;
    for (int i = 0; i < n; i++) marks[i] = (struct vocab_entry){ .s = (const uint8_t *)l.text[i], .n = (uint32_t)strlen(l.text[i]) };
    gguf_begin(&g, architecture, to, e);
    funasr_put_settings(&g, &s, &usual, setting, N_SETTINGS);
    gguf_put_vocab(&g, "ct.punc_list", marks, (uint32_t)n);
    gguf_put_vocab(&g, "ct.vocab", w->vocab, w->n_vocab_entries);
    rc = ct_put_words(&g, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, 0, o);
    gguf_end(&g);
    return rc;
}

static void ct_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    for (int32_t i = 0; i < n; i++) {
        if (i) buf_str(bytes, " ");
        vocab_append(&m->vocab, ids[i], bytes);
    }
}

const struct family family_ct_transformer = {
    .name = "ct-transformer",
    .front_end = FRONT_NONE,
    .task = "marks",
    .narrow = 0,
    .match = ct_match,
    .describe = ct_describe,
    .to_gguf = ct_to_gguf,
    .spare = funasr_spare,
    .ids_to_bytes = ct_ids_to_bytes,
};
