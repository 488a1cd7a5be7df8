/* steno: type numbers in ggml's files. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_GGML_H
#define STENO_LOAD_GGML_H
#include "load/tensor.h"

/* ggml_type of a tensor; -1: none. */
int32_t ggml_type_code(enum dtype t);
/* ggml_ftype of a whole file: the type of its matrices; -1: none. */
int32_t ggml_ftype_code(enum dtype t);
/* The type of a number, DT_COUNT: none that is read. */
enum dtype ggml_type_find(int32_t code);
enum dtype ggml_ftype_find(int32_t code);
enum tensor_form ggml_form_find(int32_t code); /* FORM_STORED: the number of a type, or of nothing that is read */

/* A known type that is not read; int_sz: bytes of its integers, 0: not an integer type. */
struct ggml_other { int32_t code; char name[12]; uint8_t int_sz; const char *why; };
const struct ggml_other *ggml_other_find(int32_t code); /* NULL: none */
#endif
