/* steno: positions where two long texts are certainly equal. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_ANCHORS_H
#define STENO_TOOLS_TEXT_ANCHORS_H
#include <stddef.h>
#include <stdint.h>

struct text_anchor { size_t a, b; };

/* Find positions in two texts a[n], b[m] of units where `window` units are equal and occur only once in each text. The result is the
 * longest list that is in order in both. *anchors: malloc'd. @return the number of positions, or -1 if out of memory */
int64_t text_anchors(struct text_anchor **anchors, const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t window);
#endif
