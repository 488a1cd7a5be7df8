/* steno: who hold a model. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "model/family.h"
#include "text/tokenizer.h"

void model_free(steno_model *m)
{
    if (m->exact) arena_free(&m->exact->arena); /* all else is m's */
    free(m->exact);
    bpe_close(m->bpe);
    tokenizer_close(m->tokenizer);
    buf_free(&m->non_speech);
    buf_free(&m->opened);
    weight_store_close(&m->store);
    arena_free(&m->arena);
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

void model_hold(const steno_model *m)
{
    atomic_fetch_add(&m->life->users, 1);
}

void model_release(const steno_model *m)
{
    struct model_life *life = m->life;
    if (atomic_fetch_sub(&life->users, 1) == 1) model_free(life->model);
}
