/* steno: CT-Transformer, punctuation, as data. SPDX-License-Identifier: MIT
 *
 * Chen et al. 2020: words, one id each, pass through SAN-M layers. A linear head chooses the mark after each word. The streaming variant
 * only attends to earlier words, and in its last layer up to a pause in the speech. Reference: FunASR 1.4, funasr/models/ct_transformer and
 * ct_transformer_streaming. */
#include <stdio.h>
#include <string.h>
#include "model/ct_transformer.h"
#include "load/vocab.h"
#include "model/funasr.h"
#include "model/parts.h"
#include "model/sanm_encoder.h"
#include "plan/bind.h"
#include "plan/build.h"

enum { BLOCK_ROWS = 1024 /* words per run; the reference has no limit if no sentence ends */ };
static float const norm_eps = 1e-12f;

const char ct_architecture[] = "ct-transformer";
static const char offline[] = "CTTransformer", online[] = "CTTransformerStreaming";

static int ct_match(const struct weights *w)
{
    return funasr_match(w, offline, ct_architecture) || funasr_match(w, online, ct_architecture);
}

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
    { "model_conf.sentence_end_id", "ct.sentence_end_id", 0, CT_MARKS_MAX - 1, FUNASR_CONFIG | FUNASR_GGUF, AT(end) },
    { NULL, "ct.streaming", 0, 1, FUNASR_GGUF, AT(as_it_comes) },
};
#undef AT
static const struct ct_shape usual = { .enc = { .taps = 11, .lfr_m = 1, .lfr_n = 1 }, .end = 3 };
const struct funasr_settings ct_settings = { setting, sizeof setting / sizeof *setting, &usual };

int ct_read_shape(struct ct_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *words = weights_find(w, "embed.weight"), *head = weights_find(w, "decoder.bias");
    *s = usual;
    s->enc.eps = norm_eps;
    int rc = funasr_read_settings(s, &ct_settings, w, e);
    if (!rc) rc = sanm_encoder_check(&s->enc, w, e);
    if (rc) return rc;
    if (!words || words->n_dims != 2 || words->dim[0] < 1 || words->dim[0] > 1 << 20)
        return err_set(e, STENO_EFORMAT, "%s: tensor embed.weight is missing or of no use: the number of words is its length", w->name);
    if (!head || head->n_dims != 1 || head->dim[0] < 2 || head->dim[0] > CT_MARKS_MAX)
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

static int take_mark(void *user, uint64_t i, const char *s, size_t n)
{
    struct ct_mark_list *l = user;
    if (i >= CT_MARKS_MAX || n >= CT_MARK_SZ || memchr(s, 0, n))
        return err_set(l->e, STENO_EFORMAT, "%s: a mark of %zu bytes at place %u of the list, want %d of less than %d", l->w->name, n,
                       (unsigned)i, CT_MARKS_MAX, CT_MARK_SZ);
    memcpy(l->text[i], s, n);
    return STENO_OK;
}

int ct_read_mark_list(struct ct_mark_list *l)
{
    const struct meta *m = &l->w->meta;
    const struct meta_list *stored = meta_find_list(m, funasr_is_gguf(l->w) ? "ct.punc_list" : "model_conf.punc_list");
    if (stored) {
        const int rc = meta_list_texts(stored, CT_MARK_SZ - 1, take_mark, l, l->e);
        return rc ? rc : (int)stored->n;
    }
    for (int i = 0; i < CT_MARKS_MAX; i++) {
        char key[64];
        snprintf(key, sizeof key, "model_conf.punc_list.%d", i);
        const char *s = meta_text(m, key, NULL);
        const int rc = s ? take_mark(l, (uint64_t)i, s, strlen(s)) : i;
        if (!s || rc) return rc;
    }
    return CT_MARKS_MAX;
}

/* Kind of a full-width mark, as in the reference. */
static enum mark_kind kind_of(const char *s)
{
    if (!strcmp(s, "\xe3\x80\x82") || !strcmp(s, "\xef\xbc\x9f")) return MARK_END;
    return strcmp(s, "\xef\xbc\x8c") ? MARK_OTHER : MARK_COMMA;
}

static int read_punctuation(steno_model *m, struct punctuation_model *v, const struct weights *w, const struct ct_shape *s, steno_error *e)
{
    struct ct_mark_list l = { .w = w, .e = e };
    const int n = ct_read_mark_list(&l);
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
    return bad ? err_nomem(e, (size_t)n * CT_MARK_SZ, "marks") : STENO_OK;
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

static int find_unknown(steno_model *m, struct punctuation_model *v, const struct weights *w, steno_error *e)
{
    const char *unk = meta_text(&w->meta, "tokenizer_conf.unk_symbol", "<unk>");
    v->unknown = vocab_find(&m->vocab, (const uint8_t *)unk, strlen(unk));
    if (v->unknown >= 0) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %.40s, which stands for words that it does not have", w->name, unk);
}

/* ---- Chinese dictionaries --------------------------------------------------------------------------------------------------------- */

/* If the folder of a CT-Transformer has a file jieba_usr_dict, FunASR segments text with jieba. It uses jieba's own dictionary, which is
 * not part of the model, plus the words of that file. Reference: FunASR 1.4, funasr/models/ct_transformer/utils.py (split_words). */

const char ct_words_file[] = "jieba_usr_dict", ct_words_key[] = "ct.jieba_usr_dict";

/* Finds jieba's dictionary: at the caller's path, or beside the model as in its runtimes. @return 1, 0: there is none, or a status */
static int find_all(struct file *f, const steno_model *m, struct weights *w, steno_error *e)
{
    static const char *const name[] = { "jieba.c.dict", "dict.txt" };
    if (m->opening->jieba_dict) {
        const int rc = file_open(f, m->opening->jieba_dict, e);
        return rc ? rc : 1;
    }
    return model_source_find_first(&w->source, name, sizeof name / sizeof *name, &w->arena, f, e);
}

/* Reads the dictionary that segments the model's text, if the model has words of its own and jieba's dictionary is found. */
static int read_words(steno_model *m, struct punctuation_model *v, struct weights *w, steno_error *e)
{
    struct jieba_lines own = { .where = ct_words_file }, all = { .where = "the dictionary of jieba" };
    struct file f;
    int rc = funasr_read_lines(w, ct_words_file, ct_words_key, &w->arena, &own.text, &own.n, e);
    if (rc || !own.text) return rc;
    const int found = find_all(&f, m, w, e);
    if (found < 0) return found;
    m->jieba = found ? 1 : 2;
    if (!found) return STENO_OK;
    struct jieba *words = arena_alloc(&m->arena, sizeof *words);
    all.where = f.name;
    all.n = (size_t)f.size;
    rc = words ? file_text(&f, JIEBA_MAX_SZ, &w->arena, &all.text, e) : err_nomem(e, sizeof *words, "a dictionary");
    if (!rc) rc = jieba_init(words, &m->arena, &all, &own, e);
    file_close(&f);
    v->words = words;
    return rc;
}

/* ---- the model ------------------------------------------------------------------------------------------------------------------- */

static int ct_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct ct_shape s;
    int rc = ct_read_shape(&s, w, e);
    if (rc) return rc;
    struct punctuation_model *v = m->part = arena_alloc(&m->arena, sizeof *v);
    if (!v) return err_nomem(e, sizeof *v, "a model");
    m->name = s.as_it_comes ? "streaming" : "offline";
    m->n_vocab = s.n_vocab;
    m->n_plans = 1;
    m->text_ctx = BLOCK_ROWS;
    m->widths = (struct model_widths){ .text_state = s.enc.d, .text_heads = s.enc.heads, .text_layers = s.enc.layers };
    rc = read_punctuation(m, v, w, &s, e);
    if (!rc) rc = funasr_find_vocab(m, w, e);
    if (!rc) rc = build_plan(m, w, &s, e);
    if (!rc) rc = funasr_read_vocab(m, w, NULL, e);
    if (!rc) rc = find_unknown(m, v, w, e);
    return rc || s.as_it_comes ? rc : read_words(m, v, w, e);
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
    .low_precision = 0,
    .settings = SETTINGS_FILES,
    .match = ct_match,
    .describe = ct_describe,
    .spare = funasr_spare,
    .ids_to_bytes = ct_ids_to_bytes,
};
