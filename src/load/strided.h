/* steno: tensors whose numbers lie in another order than their shape says. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_STRIDED_H
#define STENO_LOAD_STRIDED_H
#include "load/weights.h"

/* The tensor has extents dim[4] from now on, and stride[i] says how many numbers of f32, f16 or bf16 lie between neighbours along extent i,
 * as in PyTorch and NumPy. It may be any order of its extents (a matrix that lies column by column), but without gaps and overlaps, which
 * strided_is_dense tells. Its numbers are read when they are asked for. Memory is the weights'. */
int tensor_stride(struct tensor *t, struct weights *w, const uint64_t dim[4], const uint64_t stride[4], steno_error *e);
int strided_is_dense(const uint64_t dim[4], const uint64_t stride[4]); /* extents of 1 may have any stride; none is 0 */
void strided_close(struct strided_band *band); /* NULL is allowed */
#endif
