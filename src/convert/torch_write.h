/* steno: writing PyTorch files. SPDX-License-Identifier: MIT
 *
 * The format of torch.save, which torch.load reads with weights_only: a zip archive of one pickle, which is a dictionary of dictionaries of
 * numbers and tensors, and an entry for the bytes of each tensor. Describe the pickle first; then write the tensors in the same order. */
#ifndef STENO_CONVERT_TORCH_WRITE_H
#define STENO_CONVERT_TORCH_WRITE_H
#include "base/buf.h"
#include "convert/tensor_write.h"

/* An archive that is written. */
struct zip_writer {
    struct byte_writer *b;
    struct buf directory, name; /* name: of the current entry, NUL-terminated */
    uint64_t n, header, size;   /* entries; position and size of the current entry */
};

struct torch_writer {
    struct zip_writer zip;
    const char *name;      /* of the folder in the archive */
    struct buf pickle;
    uint32_t n, at;        /* tensors described, tensors written */
};

void torch_write_start(struct torch_writer *t, struct byte_writer *b, const char *name);
void torch_write_free(struct torch_writer *t);

void torch_put_dict(struct torch_writer *t, const char *key); /* entries go there until torch_put_dict_end */
void torch_put_dict_end(struct torch_writer *t);
void torch_put_number(struct torch_writer *t, const char *key, int32_t v);
void torch_put_tensor(struct torch_writer *t, const char *key, enum dtype type, const uint64_t *dim, int n_dims); /* f32, f16 or bf16 */

int torch_write_pickle(struct torch_writer *t); /* writes the described pickle */
/* Write the bytes of the next tensor, `size` of them: call torch_write_tensor, bytes_write_tensor, torch_write_tensor_end. */
int torch_write_tensor(struct torch_writer *t, uint64_t size);
int torch_write_tensor_end(struct torch_writer *t);
int torch_write_end(struct torch_writer *t);    /* end of the file */
#endif
