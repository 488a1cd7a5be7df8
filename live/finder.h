/* steno: where somebody speaks, while sound comes. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_FINDER_H
#define STENO_LIVE_FINDER_H
#include "kept.h"

struct edge { int64_t t0_ms, t1_ms; }; /* the one that it is; the other is -1 */

struct finder {
    const struct kept *sound;
    steno_batch *batch; /* NULL: nobody looks for speech */
    steno_session *session;
    steno_vad_params params;
    int64_t given;      /* samples that it has */
    int is_over;        /* no more sound comes */
    struct edge *edge;  /* what it told of in the last call of finder_look */
    size_t n_edges, cap;
    int rc;
};

/* In place: it is not moved. p: NULL for the defaults. @return a status, with the reason in *e */
int finder_open(struct finder *f, const struct kept *sound, const steno_model *vad, steno_team *team, const steno_vad_params *p,
                steno_error *e);
void finder_close(struct finder *f);
int finder_look(struct finder *f, int is_over); /* at what has come since. @return STENO_OK, STENO_ENOMEM, or why it cannot go on */
#endif
