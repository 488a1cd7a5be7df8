/* steno: the first lanes of a vector, through memory. SPDX-License-Identifier: MIT
 *
 * For instruction sets without masked loads and stores. Before it includes this header, a file defines PRIM, vf_load and vf_store. */
#ifndef STENO_KERN_LANES_H
#define STENO_KERN_LANES_H
#include "kern/quantize.h"

PRIM vf vf_load_n(const float *p, size_t n)
{
    float v[VF_N] = { 0 };
    for (size_t i = 0; i < VF_N && i < n; i++) v[i] = p[i];
    return vf_load(v);
}
PRIM vf load_some(const float *p, size_t n) { return n >= VF_N ? vf_load(p) : vf_load_n(p, n); }
PRIM void vf_store_n(float *p, vf v, size_t n)
{
    float from[VF_N];
    vf_store(from, v);
    for (size_t i = 0; i < VF_N && i < n; i++) p[i] = from[i];
}
#endif
