/* steno: spectra in plain C. SPDX-License-Identifier: MIT
 *
 * The template's own body over four numbers, which compilers map to the registers of any processor. A transform by the definition would
 * take a hundred times as long, on processors without a faster level. The checks compare every level, including this one, with the
 * definition in double. */
#include "kern/ref.h"

enum { VF_N = 4 };

#define PRIM static inline __attribute__((always_inline))
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));

PRIM vf vf_set1(float x) { return (vf) { x, x, x, x }; }
PRIM vf vf_zero(void) { return vf_set1(0); }
PRIM vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
PRIM void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
PRIM void vf_store_n(float *p, vf v, size_t n) { memcpy(p, &v, n * sizeof *p); }
PRIM vf vf_add(vf a, vf b) { return a + b; }
PRIM vf vf_sub(vf a, vf b) { return a - b; }
PRIM vf vf_mul(vf a, vf b) { return a * b; }
PRIM vf vf_div(vf a, vf b) { return a / b; }
PRIM vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
PRIM vf vf_fnma(vf a, vf b, vf c) { return c - a * b; }
PRIM vf vf_max(vf a, vf b)
{
    const vi larger = a > b;
    return (vf)(((vi)a & larger) | ((vi)b & ~larger));
}
PRIM vf vf_exponent(vf x, vf *m)
{
    const vi d = (vi)x - 0x3f3504f3;
    *m = (vf)((d & 0x007fffff) + 0x3f3504f3);
    return __builtin_convertvector(d >> 23, vf);
}
PRIM void vf_transpose(vf v[VF_N])
{
    vf t[VF_N];
    for (int i = 0; i < VF_N; i++) t[i] = (vf) { v[0][i], v[1][i], v[2][i], v[3][i] };
    memcpy(v, t, sizeof t);
}

#include "kern/spectrum.h"

void kern_init_spectra_c(struct kern *k)
{
    init_spectra(k);
}
