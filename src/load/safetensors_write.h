/* steno: writing safetensors files. SPDX-License-Identifier: MIT
 *
 * First the list of tensors, then their bytes (bytes_write_tensor), in the same order and without gaps. */
#ifndef STENO_LOAD_SAFETENSORS_WRITE_H
#define STENO_LOAD_SAFETENSORS_WRITE_H
#include "base/buf.h"
#include "load/tensor_write.h"

struct st_writer { struct buf head; uint64_t at; };

void st_write_start(struct st_writer *s);
void st_put_tensor(struct st_writer *s, const char *name, enum dtype type, const uint64_t *dim, int n_dims); /* f32, f16 or bf16 */
int st_write_head(struct st_writer *s, struct byte_writer *b); /* and frees it */
#endif
