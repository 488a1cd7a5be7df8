/* steno: live voice activity detection. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_FINDER_H
#define STENO_LIVE_FINDER_H
#include "kept.h"

struct edge { int64_t t0_ms, t1_ms; }; /* start or end of speech; the other time is -1 */

struct finder {
    const struct kept *sound;
    steno_batch *batch; /* NULL without voice activity detection */
    steno_session *session;
    steno_vad_params params;
    int64_t given;      /* samples that it has read */
    int is_over;        /* no more audio follows */
    struct edge *edge;  /* edges found in the last call of finder_look */
    size_t n_edges, cap;
    int rc;
};

/* Opens it in place: *f must not move. p may be NULL. @return a status, with the reason in *e */
int finder_open(struct finder *f, const struct kept *sound, const steno_model *vad, steno_team *team, const steno_vad_params *p,
                steno_error *e);
void finder_close(struct finder *f);
int finder_look(struct finder *f, int is_over); /* processes new audio. @return STENO_OK, STENO_ENOMEM, or another status */
#endif
