/* steno: the numbers by which ggml's files name types. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_GGML_TYPE_H
#define STENO_LOAD_GGML_TYPE_H
#include "load/tensor_form.h"

/* ggml_type of one tensor; -1: it has none. */
int32_t ggml_type_code(enum dtype t);
/* ggml_ftype of a whole file: the type of its matrices; -1: it has none. */
int32_t ggml_ftype_code(enum dtype t);
/* The type that a number stands for, DT_COUNT: none that is read. */
enum dtype ggml_type_find(int32_t code);
enum dtype ggml_ftype_find(int32_t code);
enum tensor_form ggml_form_find(int32_t code); /* FORM_STORED: a number of a type, or of nothing that is read */

/* A type that is known and not read; int_sz: bytes of one of its whole numbers, 0: they are others. */
struct ggml_other { int32_t code; char name[12]; uint8_t int_sz; const char *why; };
const struct ggml_other *ggml_other_find(int32_t code); /* NULL: none */
#endif
