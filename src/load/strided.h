/* steno: tensors stored in an order other than that of their shape. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_STRIDED_H
#define STENO_LOAD_STRIDED_H
#include "load/weights.h"

/* Give the tensor extents dim[4]. stride[i] is the distance along extent i between neighbours, in numbers of f32, f16 or bf16, as in
 * PyTorch and NumPy. Any order of the extents is allowed (a matrix stored by columns), without gaps and overlaps: check with
 * strided_is_dense. The numbers are read on demand. The memory belongs to the weights. */
int tensor_stride(struct tensor *t, struct weights *w, const uint64_t dim[4], const uint64_t stride[4], steno_error *e);
int strided_is_dense(const uint64_t dim[4], const uint64_t stride[4]); /* extents of 1 may have any stride; no extent is 0 */
void strided_close(struct strided_band *band); /* band may be NULL */
#endif
