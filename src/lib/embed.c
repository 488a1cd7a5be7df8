/* steno: text embeddings: the public calls. SPDX-License-Identifier: MIT */
#include <string.h>
#include "lib/call.h"
#include "lib/entry.h"
#include "task/embed/embedding.h"
#include "engine/params.h"

static void forget(steno_session *s)
{
    buf_clear(&s->vectors);
    buf_clear(&s->embedded);
}

static int embed(steno_session *s, const char *const *texts, int n, const steno_embed_params *p)
{
    steno_embed_params own;
    struct embed_call c = { .p = &own };
    if (!s->model->task->embed) return request_refuse(s, "makes no vectors of texts");
    if (n < 0 || (n && !texts)) return err_set(&s->error, STENO_EARG, n < 0 ? "n is %d, want 0 or more" : "texts is NULL but n is %d", n);
    steno_embed_params_init(&own);
    if (params_take(&own, p, sizeof own, sizeof own))
        return err_set(&s->error, STENO_EARG, "steno_embed_params was not filled by steno_embed_params_init");
    int rc = params_check(s, STENO_CALL_EMBED, &own);
    if (rc) return rc;
    s->should_abort = own.should_abort;
    s->abort_user = own.user;
    rc = embed_texts_read(s, &c, texts, n);
    if (!rc) rc = s->model->task->embed(s, &c);
    embed_texts_free(&c);
    if (!rc && (s->vectors.err || s->embedded.err)) rc = err_nomem(&s->error, s->vectors.len, "vectors");
    if (rc) forget(s);
    return rc;
}

int steno_embed(steno_session *s, const char *const *texts, int n, const steno_embed_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    forget(s);
    return call_leave(s, embed(s, texts, n, p));
}

int steno_embedding_count(const steno_session *s)
{
    return s ? (int)(s->embedded.len / sizeof(struct embedded)) : 0;
}

int steno_embedding_get(const steno_session *s, int i, steno_embedding *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_embedding_count(s)) return STENO_EARG;
    const struct embedded *it = (const struct embedded *)(const void *)s->embedded.p + i;
    const int32_t n = s->model->widths.text_state;
    steno_embedding e = { .n = n, .vector = (const float *)(const void *)s->vectors.p + (size_t)i * (size_t)n, .n_tokens = it->n_tokens,
                          .is_truncated = it->is_truncated, .pooling = it->pooling };
    e.size = out->size < sizeof e ? out->size : (uint32_t)sizeof e;
    memcpy(out, &e, e.size);
    return STENO_OK;
}
