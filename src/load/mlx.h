/* steno: folders quantised by MLX. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_MLX_H
#define STENO_LOAD_MLX_H
#include "load/weights.h"

/* Join words with their scales and offsets (NAME.weight, .scales, .biases) to one tensor, as the settings' `quantization` describes. Other
 * words leave the index. STENO_EFORMAT for inconsistent tensors, STENO_EUNSUPPORTED for other number formats. */
int mlx_join(struct weights *w, steno_error *e);
#endif
