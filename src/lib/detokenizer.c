/* steno: streaming detokenizer: the public calls. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "model/family.h"
#include "text/tokenizer.h"

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
    token_stream_begin(&d->stream, m->tokenizer, d->special);
    model_hold(m);
    *out = d;
    return STENO_OK;
}

static const char *text_of(const steno_detokenizer *d, size_t *n)
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
    if (d->model->tokenizer) token_stream_push(&d->stream, id, &d->text);
    else if (id < v->n && (d->special || id < v->n_text)) token_stream_push_bytes(&d->stream, v->bytes[id], v->len[id], &d->text);
    return text_of(d, n);
}

const char *steno_detokenizer_end(steno_detokenizer *d, size_t *n)
{
    if (n) *n = 0;
    if (!d) return NULL;
    buf_clear(&d->text);
    token_stream_end(&d->stream, &d->text);
    token_stream_begin(&d->stream, d->model->tokenizer, d->special);
    return text_of(d, n);
}

void steno_detokenizer_close(steno_detokenizer *d)
{
    if (!d) return;
    model_release(d->model);
    buf_free(&d->text);
    free(d);
}
