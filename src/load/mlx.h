/* steno: folders that MLX has quantised. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_MLX_H
#define STENO_LOAD_MLX_H
#include "load/weights.h"

/* Words with scales and offsets beside them (NAME.weight, .scales, .biases) become one tensor, as `quantization` among the settings says;
 * other words leave the index. STENO_EFORMAT for what does not fit together, STENO_EUNSUPPORTED for numbers of another kind. */
int mlx_join(struct weights *w, steno_error *e);
#endif
