/* steno: ops, slots and bindings of a plan being built. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_EMIT_H
#define STENO_PLAN_EMIT_H
#include "plan/build.h"

uint16_t build_slot(struct build *b, uint32_t width);                       /* [max_rows, width] */
uint16_t build_slot_rows(struct build *b, uint32_t rows, uint32_t width);    /* [rows, width] */
uint16_t build_slot_out(struct build *b, uint32_t width);                   /* [max_out, width] */
uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width); /* contiguous rows, a zero row on both sides */
uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type); /* keys and values of max_rows positions */
uint16_t build_slot_like(struct build *b, uint16_t slot);                   /* another of the same shape */

/* The next op, to be completed by the caller; NULL: something has failed. */
struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind);

/* Ops from number `first` on work on `rows`: sub-layers that emit several ops need not set it. */
void emit_rows(struct build *b, uint16_t first, enum op_rows rows);

uint16_t bind_add(struct build *b); /* the next binding, empty */
struct bind *bind_at(struct build *b, uint16_t i);
uint16_t bind_copy(struct build *b, uint16_t i);
#endif
