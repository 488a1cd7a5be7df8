/* steno: every kernel, for a level that has all primitives. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_EVERY_H
#define STENO_KERN_EVERY_H
#include "kern/attn.h"
#include "kern/attn_bf16.h"
#include "kern/attn_i16.h"
#include "kern/attn_rel.h"
#include "kern/attn_rel_f32.h"
#include "kern/attn_rel_i16.h"
#include "kern/elem.h"
#include "kern/gemm.h"
#include "kern/lowp.h"
#include "kern/lowp_blocks.h"
#include "kern/attn_int.h"
#include "kern/pack.h"
#include "kern/spectrum.h"

INLINE void init_every(struct kern *k)
{
    init_pack(k);
    init_linear(k);
    init_lowp(k);
    init_blocks(k);
    init_attn(k);
    init_attn_ints(k);
    init_attn_bf16(k);
    init_attn_i16(k);
    init_attn_rel(k);
    init_attn_rel_i16(k);
    init_attn_rel_f32(k);
    init_elem(k);
    init_spectra(k);
}
#endif
