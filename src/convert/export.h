/* steno: the forms in which models are written. SPDX-License-Identifier: MIT
 *
 * A row for each family: its writers of files, and the writer of a random model. A family that is not written has empty fields. */
#ifndef STENO_CONVERT_EXPORT_H
#define STENO_CONVERT_EXPORT_H
#include "convert/imatrix.h"
#include "convert/random_file.h"
#include "convert/tensor_write.h"
#include "convert/type_mix.h"
#include "model/family.h"

/* Options of a conversion. */
struct convert_order {
    const struct type_mix *mix;       /* NULL: keep the stored numbers, for forms other than GGUF */
    const char *vocab, *llm;          /* as in struct model_open */
    const struct imatrix *importance; /* NULL: all columns have the same weight */
    int rounds_again;                 /* numbers that are already rounded to blocks may be rounded again */
    int is_pure;                      /* one type for all matrices, not a mixture */
};

/* Writes a model. */
typedef int model_writer(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);

/* A file form other than GGUF in which models of a family can be written. */
struct model_form {
    const char *name;              /* "bin" */
    model_writer *write;
    int is_folder;                 /* consists of several files */
};

struct family_export {
    const struct family *family;
    model_writer *to_gguf;         /* NULL: not supported */
    const struct model_form *forms; /* other forms; the last has no name. May be NULL */
    int has_mixes;                 /* its GGUF file may have any type_mix of language models, else only the plain ones */
    int has_blocks;                /* its GGUF file may have any of type_mix_block_names */
    /* Makes a file of a model of its usual size with random weights, for benchmarks, as export_random_file. May be NULL. */
    int (*random_file)(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
};

struct family_export export_of(const struct family *f); /* without writers if the table does not have the family */
/* STENO_EUNSUPPORTED: the family is not written in this form. */
int export_refuse_form(const struct family *f, const char *form, const char *name, steno_error *e);

/* Makes a file of a model of a named shape with random weights. Memory comes from the arena, which must outlive *f, as must *r. STENO_EARG:
 * the message lists the names, or explains why the type does not fit. */
int export_random_file(struct random_file *r, struct file *f, struct arena *a, const char *shape, enum dtype type, uint64_t seed,
                       steno_error *e);
#endif
