/* steno: reference counting of models. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/family.h"
#include "text/tokenizer.h"

void model_free(steno_model *m)
{
    if (m->exact) arena_free(&m->exact->arena); /* all other memory belongs to m */
    free(m->exact);
    bpe_close(m->bpe);
    tokenizer_close(m->lm.tokenizer);
    buf_free(&m->non_speech);
    buf_free(&m->opened);
    weight_store_close(&m->store);
    arena_free(&m->arena);
    if (m->shares) model_release(m->shares);
    free(m);
}

int model_life_begin(steno_model *m, steno_error *e)
{
    m->life = arena_alloc(&m->arena, sizeof *m->life);
    if (!m->life) return err_nomem(e, sizeof *m->life, "a model");
    atomic_init(&m->life->users, 1);
    m->life->model = m;
    if (m->exact) m->exact->life = m->life;
    return STENO_OK;
}

/* The first and the last products, which affect everything, and the projections after attention, which matter most, use at least int16.
 * Products between them may use fewer bits. */
struct precision model_rows_precision(const steno_model *m)
{
    const enum packed_type layers = m->low_precision;
    const enum packed_type ends = layers && (layers == PK_I16_PAIR || executor_gains(m->executor, PK_I16_PAIR)) ? PK_I16_PAIR : 0;
    return (struct precision){ .by_role = { [LINEAR_OTHER] = ends, [LINEAR_QKV] = layers, [LINEAR_VALUES] = layers, [LINEAR_UP] = layers,
                                            [LINEAR_DOWN] = layers, [LINEAR_OUT] = ends, [LINEAR_CROSS_Q] = layers,
                                            [LINEAR_CROSS_KV] = ends, [LINEAR_LM_HEAD] = ends },
                               .bf16 = executor_gains(m->executor, PK_BF16_PAIR) ? PK_BF16_PAIR : 0, .int16 = ends,
                               .int16_attn = m->executor->caps.attn_i16 };
}

void model_hold(const steno_model *m)
{
    atomic_fetch_add(&m->life->users, 1);
}

void model_release(const steno_model *m)
{
    struct model_life *life = m->life;
    if (atomic_fetch_sub(&life->users, 1) == 1) model_free(life->model);
}

/* ---- pooling ---------------------------------------------------------------------------------------------------------------------- */

/* Folders of sentence-transformers have 1_Pooling/config.json, and sentence_bert_config.json, which may set a shorter maximum length
 * than the network supports. GGUF files have a number. */

static int is_true(const struct meta *m, const char *key)
{
    const struct meta_entry *it = meta_find(m, key);
    return it && it->kind == META_BOOL && it->i;
}

static int read_folder(steno_model *m, const struct weights *w, steno_error *e)
{
    static const struct { const char *key; int32_t pooling; } known[] = {
        { "pooling.pooling_mode_cls_token", STENO_POOLING_CLS },
        { "pooling.pooling_mode_mean_tokens", STENO_POOLING_MEAN },
        { "pooling.pooling_mode_lasttoken", STENO_POOLING_LAST },
        { "pooling.pooling_mode_max_tokens", 0 },
        { "pooling.pooling_mode_mean_sqrt_len_tokens", 0 },
        { "pooling.pooling_mode_weightedmean_tokens", 0 },
    };
    int n = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_true(&w->meta, known[i].key)) continue;
        if (!known[i].pooling || n++)
            return err_set(e, STENO_EUNSUPPORTED, "%s: 1_Pooling/config.json asks for %s%s; one of mean, CLS or last token is served",
                           w->name, known[i].key + strlen("pooling.pooling_mode_"), n > 1 ? " and another" : "");
        m->lm.pooling = known[i].pooling;
    }
    int32_t most = m->text_ctx;
    const int rc = meta_int(&w->meta, w->name, "sentence.max_seq_length", 1, 1 << 24, 1, &most, e);
    if (!rc && most < m->text_ctx) m->text_ctx = most;
    return rc;
}

static int read_gguf(steno_model *m, const struct weights *w, const char *architecture, steno_error *e)
{
    static int32_t const known[] = { 0, STENO_POOLING_MEAN, STENO_POOLING_CLS, STENO_POOLING_LAST };
    char key[96];
    int32_t type = 0;
    snprintf(key, sizeof key, "%.60s.pooling_type", architecture);
    const int rc = meta_int(&w->meta, w->name, key, 0, 100, 1, &type, e);
    if (rc) return rc;
    if (type >= (int32_t)(sizeof known / sizeof *known))
        return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %d; 1 (mean), 2 (CLS) and 3 (last) are served", w->name, key, (int)type);
    if (known[type]) m->lm.pooling = known[type];
    return STENO_OK;
}

int model_read_pooling(steno_model *m, const struct weights *w, int32_t usual, steno_error *e)
{
    const char *architecture = meta_text(&w->meta, "general.architecture", NULL);
    m->lm.pooling = usual;
    return architecture ? read_gguf(m, w, architecture, e) : read_folder(m, w, e);
}

int audio_lm_add_words(struct buf *p, const char *words, const char *before)
{
    int n = 0;
    for (const char *s = words; *s;) {
        const size_t len = strcspn(s, "\n");
        size_t from = strspn(s, " \t\r"), to = len;
        while (to > from && strchr(" \t\r", s[to - 1])) to--;
        if (to > from) {
            buf_str(p, n++ ? ", " : before);
            buf_add(p, s + from, to - from);
        }
        s += len + (s[len] == '\n');
    }
    return n;
}
