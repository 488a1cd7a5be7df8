/* steno: autoregressive decoding of one sequence as a step machine. SPDX-License-Identifier: MIT */
#include "search/ar.h"

void ar_begin(struct ar *a, uint16_t lane, const int32_t *prompt, int32_t n_prompt, int32_t sot)
{
    *a = (struct ar){ prompt, n_prompt, sot, 0, lane };
}

int ar_want(struct ar *a, struct run *r, uint32_t max_rows)
{
    const struct lane *l = &r->lane[a->lane];
    if (l->done) return 0;
    if (a->fed == a->n_prompt) {
        run_add(r, l->out[l->n - 1].id, l->kv_len, a->lane, ROW_PICK);
        return l->limit - l->n;
    }
    const int32_t left = a->n_prompt - a->fed, n = left < (int32_t)max_rows ? left : (int32_t)max_rows;
    for (int32_t i = a->fed; i < a->fed + n; i++) {
        const uint16_t last = i == a->n_prompt - 1 ? ROW_PICK : 0, sot = i == a->sot ? ROW_PROB : 0;
        run_add(r, a->prompt[i], l->kv_len + i - a->fed, a->lane, last | sot);
    }
    return n == left ? l->limit : 1;
}

void ar_give(struct ar *a, const struct run *r)
{
    const int32_t len = r->lane[a->lane].kv_len;
    a->fed = len < a->n_prompt ? len : a->n_prompt;
}

double ar_avg_logprob(const struct lane *l)
{
    return l->sum_logprob / (l->n + 1);
}
