/* steno: alignment of labels to the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * The most probable alignment of known labels to the rows, in order, with blanks between them (Graves et al. 2006; the lattice of blank,
 * label, blank, ..., with Viterbi's algorithm). Equal neighbours need a blank between them. */
#ifndef STENO_SEARCH_CTC_ALIGN_H
#define STENO_SEARCH_CTC_ALIGN_H
#include "base/buf.h"

struct ctc_span { int32_t begin, end; }; /* rows [begin, end); -1, -1: there is no alignment */

/* label: [n] ids; logp: [rows, n + 1] log-probabilities, of the blank, then of each label; back: scratch. STENO_OK, STENO_ENOMEM */
int ctc_align(struct ctc_span *out, const int32_t *label, int32_t n, const float *logp, int32_t rows, struct buf *back);
#endif
