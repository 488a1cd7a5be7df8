/* steno: where two long texts are surely the same. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_ANCHORS_H
#define STENO_TOOLS_TEXT_ANCHORS_H
#include <stddef.h>
#include <stdint.h>

struct text_anchor { size_t a, b; };

/* Places of two texts a[n], b[m] of units at which `window` units are the same that stand nowhere else in either, in an order that both
 * have, as many as there are. *anchors: malloc'd. @return how many, or -1 in want of memory */
int64_t text_anchors(struct text_anchor **anchors, const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t window);
#endif
