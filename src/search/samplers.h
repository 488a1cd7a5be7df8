/* steno: what is left to draw from. SPDX-License-Identifier: MIT
 *
 * Penalties and filters over the logits of one place, one after the other in an order that can be chosen: what a filter looks at depends on
 * those before it. Ids that are out become -INFINITY; nothing is drawn here. The order that is usual (llama.cpp) has the temperature last,
 * others (transformers, vLLM) have it first. Holtzman et al. 2020 (top-p), Keskar et al. 2019 (repetition), Nguyen et al. 2024 (min-p). */
#ifndef STENO_SEARCH_SAMPLERS_H
#define STENO_SEARCH_SAMPLERS_H
#include "base/buf.h"

enum sampler_kind { SAMPLER_PENALTIES, SAMPLER_TOP_K, SAMPLER_TOP_P, SAMPLER_MIN_P, SAMPLER_TEMPERATURE, SAMPLERS };
#define SAMPLERS_USUAL "penalties;top_k;top_p;min_p;temperature"

struct sampler_chain {
    enum sampler_kind order[SAMPLERS];
    int n;
    double temperature;                  /* 0: the best id is chosen, and no filter is needed */
    int32_t top_k, last_n;               /* 0: off; last_n -1: all ids there were */
    double top_p, min_p;                 /* 1, 0: off */
    double repeat, frequency, presence;  /* 1, 0, 0: off */
    struct buf order_of;                 /* scratch: ids that are still in, and counts of those there were */
};

/* The parameters' chain. STENO_EARG: samplers names what is none, or one of them twice */
int sampler_chain_open(struct sampler_chain *c, const struct steno_generate_params *p, steno_error *e);
void sampler_chain_close(struct sampler_chain *c);
/* Does it look at the logits, or is temperature, which whoever draws knows of, all there is? */
int sampler_chain_filters(const struct sampler_chain *c);
int sampler_chain_cuts(const struct sampler_chain *c); /* does it leave ids out? */
/* What whoever draws divides logits by: 1 where the chain has done so. */
double sampler_chain_temperature(const struct sampler_chain *c);
/* before: [n_before] ids there were, the oldest first. 0, or -1: no memory; x is then as it was, or in part as it was to be */
int sampler_chain_apply(struct sampler_chain *c, float *x, int32_t n, const int32_t *before, int32_t n_before);
#endif
