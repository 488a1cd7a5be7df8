/* steno: reference counting of models. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "model/family.h"
#include "text/tokenizer.h"

void model_free(steno_model *m)
{
    if (m->exact) arena_free(&m->exact->arena); /* all other memory belongs to m */
    free(m->exact);
    bpe_close(m->bpe);
    tokenizer_close(m->tokenizer);
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
    const enum packed_type layers = m->narrow;
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
