/* steno: attention over the keys of a run: access to keys and scores. SPDX-License-Identifier: MIT
 *
 * Shared by the bodies over vectors (attn_run.h) and over tiles (x86/attn_i16_tiles.h). */
#ifndef STENO_KERN_ATTN_RUN_ROW_H
#define STENO_KERN_ATTN_RUN_ROW_H
#include "kern/attn_group.h"
#include "kern/lowp_rows.h"

INLINE const char *run_keys_at(const struct attn_run *a, enum packed_type t, size_t panel)
{
    return (const char *)a->keys + panel * panel_sz(t, a->d_head);
}

/* Scores i to i + VF_N of a row, in steps of the query. */
INLINE vf run_score_at(const uint32_t *score, size_t i) { return vf_load((const float *)(const void *)score + i); }

/* Whether no key's scale is NaN. */
INLINE int run_keys_are_numbers(const struct attn_run *a, enum packed_type t)
{
    vf all = vf_zero();
    for (size_t p = 0; p * PANEL < a->n_keys; p++)
        for (size_t c = 0; c < PANEL; c += VF_N) all = vf_add(all, vf_load((const float *)(const void *)run_keys_at(a, t, p) + c));
    return !isnan(vf_sum(all));
}
#endif
