/* steno: FunASR's families as GGUF files. SPDX-License-Identifier: MIT
 *
 * Settings, vocabulary and lists of each family, then its weights. The keys are those of FunASR's runtime, where it has such files. */
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/funasr.h"
#include "convert/lm.h"
#include "load/join.h"
#include "load/vocab.h"
#include "model/ct_transformer.h"
#include "model/funasr.h"
#include "model/nano.h"
#include "model/paraformer.h"
#include "model/parts.h"
#include "model/sensevoice.h"
#include "model/vad.h"
#include "text/seg_dict.h"

/* ---- SenseVoice ------------------------------------------------------------------------------------------------------------------- */

/* Writes the file as the runtime's own converter does, except that mean and variance are complete. */
int sensevoice_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    static const int32_t ask[SENSEVOICE_QUERY_ROWS] = { 0, 1, 2, 14 }; /* any language, event, emotion, digits and punctuation */
    struct sensevoice_shape s;
    struct gguf_writer g;
    int rc = sensevoice_read_shape(&s, w, e);
    if (!rc && !w->vocab) rc = weights_read_vocab(w, o->vocab, e);
    if (rc) return rc;
    gguf_begin(&g, sensevoice_architecture, to, e);
    funasr_put_settings(&g, &s, &sensevoice_settings);
    gguf_put_i32s(&g, "sv.query_tokens", ask, SENSEVOICE_QUERY_ROWS);
    gguf_put_vocab(&g, "sv.vocab", w->vocab, w->n_vocab_entries);
    rc = funasr_write_weights(&g, w, s.enc.width, o);
    gguf_end(&g);
    return rc;
}

/* ---- Paraformer ------------------------------------------------------------------------------------------------------------------- */

static void predictor_put(struct gguf_writer *g, const struct predictor *p)
{
    for (int i = 0; i < (p->fine ? PREDICTOR_NUMBERS : PREDICTOR_PLAIN); i++) {
        const struct predictor_number *it = &predictor_number[i];
        double v;
        memcpy(&v, (const char *)p + it->at, sizeof v);
        if (i < PREDICTOR_ALWAYS || (float)v != (float)it->gguf_value) gguf_put_f32(g, it->gguf, (float)v);
    }
    if (p->fine && p->after_conv) gguf_put_u32(g, predictor_after_conv, 1);
}

static void hot_put(struct gguf_writer *g, const struct hot_shape *h)
{
    if (h->kind == CIF_HOT_BESIDE) funasr_put_settings(g, h, &hot_settings);
    if (h->kind == CIF_HOT_WITHIN && h->shared) gguf_put_u32(g, hot_shared_key, 1);
}

static int dict_put(struct gguf_writer *g, struct weights *w, steno_error *e)
{
    struct seg_dict d;
    const char *text;
    size_t n;
    int rc = funasr_read_lines(w, dict_file, dict_key, &w->arena, &text, &n, e);
    if (!rc && text) rc = seg_dict_init(&d, &w->arena, dict_file, text, n, e);
    if (rc || !text || !d.n_lines) return rc;
    struct vocab_entry *line = arena_array(&w->arena, d.n_lines, sizeof *line);
    if (!line) return err_nomem(e, d.n_lines * sizeof *line, "a dictionary");
    for (uint32_t i = 0; i < d.n_lines; i++) line[i].s = (const uint8_t *)seg_dict_line(&d, i, &line[i].n);
    gguf_put_vocab(g, dict_key, line, d.n_lines);
    return STENO_OK;
}

int paraformer_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct paraformer_shape s;
    struct gguf_writer g;
    int rc = paraformer_read_shape(&s, w, e);
    if (!rc && !w->vocab) rc = weights_read_vocab(w, o->vocab, e);
    if (rc) return rc;
    gguf_begin(&g, paraformer_architecture, to, e);
    funasr_put_settings(&g, &s, &paraformer_settings);
    gguf_put_u32(&g, "pf.vocab_size", (uint32_t)s.n_vocab);
    gguf_put_vocab(&g, "pf.vocab", w->vocab, w->n_vocab_entries);
    predictor_put(&g, &s.predictor);
    hot_put(&g, &s.hot);
    if (s.hot.kind != CIF_HOT_NONE) rc = dict_put(&g, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, s.enc.width, o);
    gguf_end(&g);
    return rc;
}

/* ---- FSMN-VAD --------------------------------------------------------------------------------------------------------------------- */

/* Its rows have 400, 140 and 250 values: another type would save little, and the runtime reads f32. */
int vad_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct vad_shape s;
    struct vad_params p, usual_rules;
    struct gguf_writer g;
    int rc = vad_read_shape(&s, w, e);
    if (!rc) rc = vad_read_rules(&p, w, e);
    if (!rc && o->mix->base != DT_F32)
        rc = err_set(e, STENO_EARG, "%s: a model for voice activity is stored in f32, not %s", w->name, o->mix->name);
    if (rc) return rc;
    vad_params_init(&usual_rules);
    gguf_begin(&g, vad_architecture, to, e);
    funasr_put_settings(&g, &s, &vad_settings);
    funasr_put_settings(&g, &p, &(struct funasr_settings){ vad_rule_settings.row, vad_rule_settings.n, &usual_rules });
    if (p.fixed_threshold != usual_rules.fixed_threshold) gguf_put_f32(&g, vad_threshold_key, (float)p.fixed_threshold);
    rc = funasr_write_weights(&g, w, s.in, o);
    gguf_end(&g);
    return rc;
}

/* ---- CT-Transformer --------------------------------------------------------------------------------------------------------------- */

static uint32_t list_lines(const char *text, size_t n, struct vocab_entry *line)
{
    uint32_t n_lines = 0;
    for (size_t at = 0; at < n;) {
        const char *s = text + at, *end = memchr(s, '\n', n - at);
        const size_t len = end ? (size_t)(end - s) : n - at;
        if (line) line[n_lines] = (struct vocab_entry){ .s = (const uint8_t *)s, .n = (uint32_t)len };
        n_lines++;
        at += len + 1;
    }
    return n_lines;
}

/* Writes the lines of text[n] as an array. */
static int put_lines(struct gguf_writer *g, const char *key, const char *text, size_t n, struct arena *a, steno_error *e)
{
    const uint32_t n_lines = list_lines(text, n, NULL);
    struct vocab_entry *line = arena_array(a, n_lines, sizeof *line);
    if (!line) return err_nomem(e, n_lines * sizeof *line, "a dictionary");
    list_lines(text, n, line);
    gguf_put_vocab(g, key, line, n_lines);
    return STENO_OK;
}

static int ct_put_words(struct gguf_writer *g, struct weights *w, steno_error *e)
{
    const char *text;
    size_t n;
    const int rc = funasr_read_lines(w, ct_words_file, ct_words_key, &w->arena, &text, &n, e);
    return rc || !text ? rc : put_lines(g, ct_words_key, text, n, &w->arena, e);
}

/* FunASR's runtime has no GGUF form for these models, so names and keys follow its other models. */
int ct_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct ct_shape s;
    struct gguf_writer g;
    struct ct_mark_list l = { .w = w, .e = e };
    struct vocab_entry marks[CT_MARKS_MAX];
    int rc = ct_read_shape(&s, w, e);
    const int n = rc ? rc : ct_read_mark_list(&l);
    if (n < 0) return n;
    if (!w->vocab) rc = weights_read_vocab(w, o->vocab, e);
    if (rc) return rc;
    for (int i = 0; i < n; i++) marks[i] = (struct vocab_entry){ .s = (const uint8_t *)l.text[i], .n = (uint32_t)strlen(l.text[i]) };
    gguf_begin(&g, ct_architecture, to, e);
    funasr_put_settings(&g, &s, &ct_settings);
    gguf_put_vocab(&g, "ct.punc_list", marks, (uint32_t)n);
    gguf_put_vocab(&g, "ct.vocab", w->vocab, w->n_vocab_entries);
    rc = ct_put_words(&g, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, 0, o);
    gguf_end(&g);
    return rc;
}

/* ---- Fun-ASR-Nano ----------------------------------------------------------------------------------------------------------------- */

/* Writes the encoder's file of FunASR's runtime, with the tensors and keys of the language model added. Programs that read the encoder's
 * names find them. */

static int file_name(const char *name, char *out, size_t n)
{
    if (!strncmp(name, "encoder.", 8)) return snprintf(out, n, "audio_%s", name) < (int)n;
    return lm_gguf_name(name, out, n);
}

/* A head that equals the embedding is not written twice. */
static void leave_head(struct weights *w)
{
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        if (strcmp(w->tensor[i].name, "lm_head.weight") != 0) continue;
        memmove(&w->tensor[i], &w->tensor[i + 1], (w->n_tensors - i - 1) * sizeof *w->tensor);
        w->n_tensors--;
        return;
    }
}

/* Writes the settings and the vocabulary of the CTC branch. */
static int nano_ctc_put(struct gguf_writer *g, const struct nano_ctc *c, struct weights *w, steno_error *e)
{
    const int rc = nano_ctc_find_vocab(w, e);
    if (rc) return rc == STENO_ENOVOCAB ? STENO_OK : rc;
    gguf_put_u32(g, nano_key_heads, (uint32_t)c->adp.heads);
    gguf_put_u32(g, nano_key_blank, (uint32_t)c->blank);
    gguf_put_vocab(g, nano_key_tokens, w->vocab, w->n_vocab_entries);
    return STENO_OK;
}

int nano_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct nano_shape s;
    struct nano_ctc c;
    struct lm_dims d;
    struct gguf_writer g;
    int rc = nano_join(w, o->llm, e);
    if (!rc) rc = nano_rename(w, e);
    if (!rc) rc = nano_read_shape(&s, w, e);
    const char *own = weights_speak_of(w, w->joined);
    if (!rc) rc = lm_dims_read(&d, lm_qwen3, w, e);
    if (!rc && (d.scaling.kind != LM_ROPE_PLAIN || d.window || d.has_qkv_bias))
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: an audio language model is not written with scaled positions, windows or biases",
                     w->name);
    weights_speak_of(w, own);
    const int has_ctc = rc ? rc : nano_ctc_find(&c, w, s.enc.d, e);
    if (has_ctc < 0) return has_ctc;
    if (d.is_tied) leave_head(w);
    rc = weights_rename(w, file_name, e);
    if (rc) return rc;
    gguf_begin(&g, nano_architecture, to, e);
    funasr_put_settings(&g, &s, &nano_settings);
    lm_put_settings(&g, &d, lm_qwen3);
    weights_speak_of(w, w->joined);
    rc = lm_put_tokenizer(&g, w, 0, e);
    weights_speak_of(w, own);
    if (!rc && has_ctc) rc = nano_ctc_put(&g, &c, w, e);
    if (!rc) rc = funasr_write_weights(&g, w, 0, o);
    gguf_end(&g);
    return rc;
}
