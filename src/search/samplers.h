/* steno: penalties and filters before sampling. SPDX-License-Identifier: MIT
 *
 * Penalties and filters over the logits of one position, applied in a configurable order: the input of a filter depends on those before it.
 * Excluded ids become -INFINITY; no token is sampled here. llama.cpp's usual order has the temperature last; transformers and vLLM have it
 * first. Holtzman et al. 2020 (top-p), Keskar et al. 2019 (repetition), Nguyen et al. 2024 (min-p). */
#ifndef STENO_SEARCH_SAMPLERS_H
#define STENO_SEARCH_SAMPLERS_H
#include "base/buf.h"

enum sampler_kind { SAMPLER_PENALTIES, SAMPLER_TOP_K, SAMPLER_TOP_P, SAMPLER_MIN_P, SAMPLER_TEMPERATURE, SAMPLERS };
#define SAMPLERS_USUAL "penalties;top_k;top_p;min_p;temperature"

struct sampler_chain {
    enum sampler_kind order[SAMPLERS];
    int n;
    double temperature;                  /* 0: choose the best id; no filter is needed */
    int32_t top_k, last_n;               /* 0: off; last_n -1: all previous ids */
    double top_p, min_p;                 /* 1, 0: off */
    double repeat, frequency, presence;  /* 1, 0, 0: off */
    struct buf order_of;                 /* scratch: remaining ids, and counts of previous ids */
};

/* Create the chain of the parameters. STENO_EARG: samplers has an unknown or duplicate name */
int sampler_chain_open(struct sampler_chain *c, const struct steno_generate_params *p, steno_error *e);
void sampler_chain_close(struct sampler_chain *c);
/* Whether it changes the logits, beyond a temperature that the caller applies. */
int sampler_chain_filters(const struct sampler_chain *c);
int sampler_chain_cuts(const struct sampler_chain *c); /* whether it excludes ids */
/* The factor that the caller divides logits by: 1 if the chain has done so. */
double sampler_chain_temperature(const struct sampler_chain *c);
/* before: [n_before] previous ids, oldest first. 0, or -1: out of memory; x is then unchanged or partly changed */
int sampler_chain_apply(struct sampler_chain *c, float *x, int32_t n, const int32_t *before, int32_t n_before);
#endif
