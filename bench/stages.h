/* steno: the work of a model's phases. SPDX-License-Identifier: MIT */
#ifndef STENO_BENCH_STAGES_H
#define STENO_BENCH_STAGES_H
#include "plan_model.h"
#include "model/parts.h"
#include "roof.h"

enum { TOKENS = 128, BEAMS = 5, WINDOWS = 8, POOL = 384 << 20 };

/* The stages compared with their bounds: encoder and cross keys of a window; a step of one row, of beams, of windows; a prompt per row. */
enum stage { STAGE_ENCODE, STAGE_CROSS, STAGE_STEP, STAGE_BEAMS, STAGE_WINDOWS, STAGE_PROMPT, STAGES };

/* The work of an encoder's run of this number of rows. */
static inline struct work work_of_encoder(const steno_model *m, double rows)
{
    const struct plan *p = inside_plan(m, PLAN_ENCODER);
    return work_of(m, p, p->phase[PHASE_ENCODE].first, p->phase[PHASE_ENCODE].last, &(struct shape){ .rows = rows });
}

/* The work of all stages of a model that decodes windows. */
static inline void work_of_stages(struct work work[STAGES], const steno_model *m)
{
    const struct plan *enc = inside_plan(m, PLAN_ENCODER), *dec = inside_plan(m, PLAN_DECODER);
    const struct phase all = { "decode", 0, dec->n_ops };
    /* half: average number of tokens before a step, or before a row of the prompt */
    const double audio = inside_audio_ctx(m), half = TOKENS / 2.0;
    const struct { const struct plan *plan; const struct phase *phase; double units; struct shape shape; } of[STAGES] = {
        [STAGE_ENCODE] = { enc, &enc->phase[PHASE_ENCODE], 1, { .rows = audio } },
        [STAGE_CROSS] = { enc, &enc->phase[PHASE_CROSS], 1, { .rows = audio } },
        [STAGE_STEP] = { dec, &all, 1, { 1, 1, 1, 1, half, half, audio } },
        [STAGE_BEAMS] = { dec, &all, 1, { BEAMS, BEAMS, BEAMS, 1, half, half, audio } },
        [STAGE_WINDOWS] = { dec, &all, 1, { WINDOWS, WINDOWS, WINDOWS, WINDOWS, half, half, audio } },
        [STAGE_PROMPT] = { dec, &all, TOKENS, { TOKENS, 1, 1, 1, half, TOKENS, audio } },
    };
    for (int i = 0; i < STAGES; i++) {
        struct work *w = &work[i];
        *w = work_of(m, of[i].plan, of[i].phase->first, of[i].phase->last, &of[i].shape);
        w->flops /= of[i].units;
        w->bytes /= of[i].units;
        for (int k = 0; k < ROOFS; k++) w->ops[k] /= of[i].units;
    }
}

/* A session for steps of one row, of beams and of windows. May have no team. */
static inline steno_session *open_lanes(steno_batch **batch, steno_model *m, steno_team *team)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_session *s;
    steno_error e;
    steno_batch_params_init(&bp);
    bp.max_windows = WINDOWS;
    bp.max_lanes = BEAMS;
    if (steno_batch_open(batch, m, team, &bp, &e)) fail("batch", e.text);
    steno_session_params_init(&sp);
    sp.batch = *batch;
    if (steno_session_open(&s, m, team, &sp, &e)) fail("session", e.text);
    return s;
}
#endif
