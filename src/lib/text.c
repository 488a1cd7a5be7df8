/* steno: calls on texts: generation, embeddings and punctuation. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include "engine/params.h"
#include "lib/entry.h"
#include "task/embed/embedding.h"

/* ---- generation --------------------------------------------------------------------------------------------------------------- */

static int not_by_tokens(steno_session *s)
{
    return err_set(&s->error, STENO_EARG, "a %s model does not decode token by token", s->model->family->name);
}

static int encode(steno_session *s, const float *pcm, int64_t n)
{
    if (!s->model->task->encode)
        return s->model->task->generate ? err_set(&s->error, STENO_EARG, "a %s model does not take audio", s->model->family->name)
                                        : not_by_tokens(s);
    const int rc = pcm_check(s, pcm, n);
    return rc ? rc : s->model->task->encode(s, pcm, n);
}

int steno_encode(steno_session *s, const float *pcm, int64_t n)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, encode(s, pcm, n));
}

int generate_params_take(steno_session *s, steno_generate_params *own, const steno_generate_params *p)
{
    steno_generate_params_init(own);
    if (!params_take(own, p, sizeof *own, offsetof(steno_generate_params, top_k))) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_generate_params was not filled by its init function");
}

static int generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    steno_generate_params own;
    generated_clear(s);
    int rc = generate_params_take(s, &own, p);
    if (rc) return rc;
    const struct task *t = s->model->task;
    if (!t->generate) return not_by_tokens(s);
    rc = params_check(s, STENO_CALL_GENERATE, &own);
    if (rc) return rc;
    s->should_abort = own.should_abort;
    s->abort_user = own.user;
    return t->generate(s, ids, n, &own, again);
}

int steno_generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, generate(s, ids, n, p, 0));
}

int steno_generate_continue(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, generate(s, ids, n, p, 1));
}

static int read_ids(steno_session *s, const int32_t *ids, int n, int again)
{
    if (!s->model->task->read)
        return err_set(&s->error, STENO_EARG, "a %s model is not a language model", s->model->family->name);
    return s->model->task->read(s, ids, n, again);
}

int steno_prefill(steno_session *s, const int32_t *ids, int n)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, read_ids(s, ids, n, 0));
}

int steno_prefill_continue(steno_session *s, const int32_t *ids, int n)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, read_ids(s, ids, n, 1));
}

/* ---- embeddings --------------------------------------------------------------------------------------------------------------- */

static void vectors_forget(steno_session *s)
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
    if (rc) vectors_forget(s);
    return rc;
}

int steno_embed(steno_session *s, const char *const *texts, int n, const steno_embed_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    vectors_forget(s);
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

/* ---- punctuation -------------------------------------------------------------------------------------------------------------- */

static int copy_params(steno_session *s, steno_punctuate_params *own, const steno_punctuate_params *p)
{
    steno_punctuate_params_init(own);
    if (!params_take(own, p, sizeof *own, sizeof *own)) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_punctuate_params was not filled by steno_punctuate_params_init");
}

static int punctuate(steno_session *s, const char *text, const steno_punctuate_params *p)
{
    steno_punctuate_params own;
    if (!s->model->task->punctuate) return request_refuse(s, "does not punctuate");
    if (!text) return err_set(&s->error, STENO_EARG, "there is no text to punctuate");
    const int rc = copy_params(s, &own, p);
    return rc ? rc : s->model->task->punctuate(s, text, &own);
}

int steno_punctuate(steno_session *s, const char *text, const steno_punctuate_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, punctuate(s, text, p));
}

static int punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p)
{
    steno_punctuate_params own;
    if (!s->model->task->punctuate_result) return request_refuse(s, "does not punctuate");
    if (of->model->task->punctuate_result || of->request_state != REQUEST_NONE)
        return err_set(&s->error, STENO_EARG, "the other session has no transcript, or is at work on one");
    const int rc = copy_params(s, &own, p);
    struct result *r = of->selected == &of->result ? &of->result : &of->translation;
    return rc ? rc : s->model->task->punctuate_result(s, r, &own);
}

int steno_punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    if (!of || !session_may_change(of))
        return call_leave(s, err_set(&s->error, STENO_EARG, "there is no other session, or a call is at work on it"));
    of->entered = 1; /* its results are in use */
    const int status = punctuate_result(s, of, p);
    of->entered = 0;
    return call_leave(s, status);
}

int steno_mark_count(const steno_session *s)
{
    return s ? (int)(s->result.marks.len / sizeof(steno_mark)) : 0;
}

int steno_mark_get(const steno_session *s, int i, steno_mark *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_mark_count(s)) return STENO_EARG;
    steno_mark mark = ((const steno_mark *)(const void *)s->result.marks.p)[i];
    mark.size = out->size < sizeof mark ? out->size : (uint32_t)sizeof mark;
    memcpy(out, &mark, mark.size);
    return STENO_OK;
}
