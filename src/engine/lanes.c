/* steno: positions that lanes hold of their texts. SPDX-License-Identifier: MIT */
#include "engine/lanes.h"

static int grows(const struct steno_batch *b, int state) { return b->state[state].desc.kind == STATE_APPEND; }

int32_t lane_reach(const struct steno_batch *b, uint32_t lane, int32_t len)
{
    int32_t was;
    do { /* all states have the same mark */
        was = len;
        for (int i = 0; i < b->model->n_states; i++)
            if (grows(b, i)) len = (int32_t)state_reach(&b->state[i], lane, (uint32_t)len);
    } while (len != was);
    return len;
}

int32_t lane_marked(const struct steno_batch *b, uint32_t lane)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i) && b->state[i].mark[lane]) return (int32_t)b->state[i].mark[lane];
    return 0;
}

void lane_mark(struct steno_batch *b, uint32_t lane, int32_t len)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_mark(&b->state[i], lane, (uint32_t)len);
}

void lane_cut(struct steno_batch *b, uint32_t lane, int32_t len)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_truncate(&b->state[i], lane, (uint32_t)len);
}

void lane_fork(struct steno_batch *b, uint32_t to, uint32_t from)
{
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) state_fork(&b->state[i], to, from);
}

int lane_prepare(struct steno_batch *b, uint32_t lane, int32_t from, int32_t to)
{
    int bad = 0;
    for (int i = 0; i < b->model->n_states; i++)
        if (grows(b, i)) bad |= state_prepare(&b->state[i], lane, (uint32_t)from, (uint32_t)to);
    return bad;
}
