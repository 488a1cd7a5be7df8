/* steno-serve: states of models and work. SPDX-License-Identifier: MIT */
#include "engines_in.h"

int engines_live(const struct engines *es)
{
    int n = 0;
    for (int i = 0; i < es->n; i++) n += es->engine[i].n_live;
    return n;
}

int engines_are_late(const struct engines *es)
{
    return es->p->live_delay_s > 0 && live_delays_exceed(&es->delays, loop_now_us());
}

void item_stop(struct item *it, enum api_code why)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&it->stop, &none, (int)why)) return;
    if (it->slot) steno_cancel(it->slot->session);
    pthread_cond_signal(&it->engine->es->for_keeper);
}

void item_begin(struct item *it)
{
    struct engine *g = it->engine;
    it->state = ITEM_RUNS;
    if (g->n_running++ == 0) g->busy_since_us = loop_now_us();
}

int engine_is_idle(const struct engine *g)
{
    return g->state == ENGINE_OPEN && !g->n_items && !g->n_live;
}

int engine_fits(const struct engine *g)
{
    const struct engines *es = g->es;
    int64_t sum = g->memory;
    for (int i = 0; i < es->n; i++)
        if (&es->engine[i] != g && es->engine[i].state != ENGINE_CLOSED) sum += es->engine[i].memory;
    return !es->p->memory_max || sum <= es->p->memory_max;
}

int engine_may_open(const struct engine *g)
{
    const struct engines *es = g->es;
    int64_t held = 0;
    if (g->state == ENGINE_OPEN || g->state == ENGINE_OPENING || !es->p->memory_max) return 1;
    for (int i = 0; i < es->n; i++) {
        const struct engine *o = &es->engine[i];
        if (o != g && (o->state == ENGINE_OPENING || (o->state == ENGINE_OPEN && !engine_is_idle(o)))) held += o->memory;
    }
    return held + g->memory <= es->p->memory_max;
}

void engine_close_soon(struct engine *g)
{
    g->state = ENGINE_CLOSING;
    steno_batch_stop(g->batch);
    pthread_cond_broadcast(&g->changed);
}

void engine_want(struct engine *g)
{
    if (g->state == ENGINE_OPEN || g->state == ENGINE_OPENING || g->is_wanted) return;
    g->is_wanted = 1;
    pthread_cond_broadcast(&g->changed);
}
