/* steno: what doctor prints about the arithmetic. SPDX-License-Identifier: MIT */
#include "doctor_compute.h"
#include <stdio.h>
#include <string.h>

#define COLLECTION "of the 328 texts of the project's collection"

/* The counts are those of doc/accuracy.tsv. */
void doctor_compute_used(char *out, size_t n, const struct doctor_compute *c)
{
    static const char int16[] = "int16 (products of encoders: faster than f32 at the level used; changes 0 " COLLECTION "; --compute bf16 "
                                "is faster on levels that have it, and changes 5, --compute int8 %s%s; --verify keeps all)";
    static const char bf16[] = "bf16 (products of encoders: %s takes %.2f times as long on this machine, more than %.2f; changes 5 "
                               COLLECTION ", --compute %s 0; --verify keeps all; batch, serve, bench and other programs' command lines "
                               "keep %s)";
    static const char f32[] = "f32 (products of encoders: int16 is not faster at the level used)";
    const int bytes_widened = !strcmp(c->level, "sse41") || !strcmp(c->level, "avx2");
    const char *own = c->is_int16 ? "int16" : "f32";
    if (c->measured && auto_takes_bf16(&c->figures))
        snprintf(out, n, bf16, own, c->figures.level_ms / c->figures.bf16_ms, AUTO_MARGIN, own, own);
    else if (c->is_int16)
        snprintf(out, n, int16, strcmp(c->level, "amx") ? "12" : "17",
                 bytes_widened ? " and is no faster in encoders at the level used" : "");
    else snprintf(out, n, "%s", f32);
}

void doctor_compute_measured(char *out, size_t n, const struct doctor_compute *c)
{
    const struct auto_figures *f = &c->figures;
    const char *own = c->is_int16 ? "int16" : "f32";
    if (!c->measured) snprintf(out, n, "not on this machine with this version (--measure compares %s with bf16)", own);
    else
        snprintf(out, n, "the encoder of base takes %.4g ms for a window in %s and %.4g in bf16 with %d thread%s: %.2f times as long; "
                         "--compute auto keeps %s up to %.2f times",
                 f->level_ms, own, f->bf16_ms, f->threads, f->threads == 1 ? "" : "s", f->level_ms / f->bf16_ms, own, AUTO_MARGIN);
}
