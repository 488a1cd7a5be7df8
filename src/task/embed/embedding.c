/* steno: pools the rows of a text into one vector. SPDX-License-Identifier: MIT */
#include "task/embed/embedding.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "text/tokenizer.h"

/* ---- tokens -------------------------------------------------------------------------------------------------------------------- */

static int too_long(steno_session *s, int i, size_t n)
{
    return err_set(&s->error, STENO_EARG, "text %d has %zu tokens, and the model takes %d: shorten it, or ask for truncation", i + 1, n,
                   (int)s->model->text_ctx);
}

/* Appends the ids of the text. */
static int read_text(steno_session *s, struct embed_call *c, const char *text, int i)
{
    const struct tokenizer *tokenizer = s->model->lm.tokenizer;
    const size_t from = c->ids.len / sizeof(int32_t), most = (size_t)s->model->text_ctx;
    if (!text) return err_set(&s->error, STENO_EARG, "text %d is NULL", i + 1);
    int rc = tokenizer_encode(tokenizer, text, strlen(text), TOKENIZE_WHOLE, &c->ids, &s->error);
    if (rc) return rc;
    const size_t n = c->ids.len / sizeof(int32_t) - from;
    int32_t *ids = (int32_t *)(void *)c->ids.p + from;
    const int ends = tokenizer_adds(tokenizer);
    if (n <= (size_t)ends) return err_set(&s->error, STENO_EARG, "text %d has no tokens: it is empty", i + 1);
    if (n > most && (!c->p->truncate || most <= (size_t)ends)) return too_long(s, i, n);
    for (size_t k = 0; k < n; k++)
        if (ids[k] < 0 || ids[k] >= s->model->n_vocab)
            return err_set(&s->error, STENO_EARG, "text %d has token %d, which is not in a vocabulary of %d", i + 1, (int)ids[k],
                           (int)s->model->n_vocab);
    const struct embed_text t = { from, (int32_t)(n < most ? n : most), n > most };
    if (t.is_truncated && tokenizer_ends(tokenizer)) ids[most - 1] = ids[n - 1];
    c->ids.len = (from + (size_t)t.n) * sizeof *ids;
    buf_add(&c->texts, &t, sizeof t);
    c->n_texts++;
    return c->texts.err ? err_nomem(&s->error, c->texts.len, "texts") : STENO_OK;
}

int embed_texts_read(steno_session *s, struct embed_call *c, const char *const *texts, int n)
{
    int rc = STENO_OK;
    if (!s->model->lm.tokenizer) return err_set(&s->error, STENO_ENOVOCAB, "the model has no tokenizer, so it reads no text");
    for (int i = 0; i < n && !rc; i++) rc = read_text(s, c, texts[i], i);
    return rc;
}

void embed_texts_free(struct embed_call *c)
{
    buf_free(&c->ids);
    buf_free(&c->texts);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

int pool_open(struct pool *l, steno_session *s, const struct embed_call *c)
{
    const int32_t width = s->model->widths.text_state;
    *l = (struct pool){ .width = width, .pooling = c->p->pooling ? c->p->pooling : s->model->lm.pooling };
    l->sum = calloc((size_t)width, sizeof *l->sum);
    return l->sum ? STENO_OK : err_nomem(&s->error, (size_t)width * sizeof *l->sum, "a vector");
}

void pool_close(struct pool *l)
{
    free(l->sum);
}

void pool_begin(struct pool *l, const struct embed_text *t)
{
    l->t = t;
    l->at = 0;
    memset(l->sum, 0, (size_t)l->width * sizeof *l->sum);
}

int pool_counts(const struct pool *l, int32_t row)
{
    return l->pooling == STENO_POOLING_MEAN || row == (l->pooling == STENO_POOLING_CLS ? 0 : l->t->n - 1);
}

void pool_add(struct pool *l, const float *rows, size_t ld, int32_t n)
{
    for (int32_t r = 0; r < n; r++, l->at++) {
        const float *x = rows + (size_t)r * ld;
        for (int32_t i = 0; pool_counts(l, l->at) && i < l->width; i++) l->sum[i] += (double)x[i];
    }
}

void pool_end(struct pool *l, steno_session *s, const struct embed_call *c)
{
    const double n = l->pooling == STENO_POOLING_MEAN ? l->t->n : 1;
    double squares = 0;
    for (int32_t i = 0; i < l->width; i++) {
        l->sum[i] /= n;
        squares += l->sum[i] * l->sum[i];
    }
    const double length = c->p->normalize && squares > 0 ? sqrt(squares) : 1;
    for (int32_t i = 0; i < l->width; i++) {
        const float x = (float)(l->sum[i] / length);
        buf_add(&s->vectors, &x, sizeof x);
    }
    buf_add(&s->embedded, &(struct embedded) { l->t->n, l->t->is_truncated, l->pooling }, sizeof(struct embedded));
}
