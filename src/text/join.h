/* steno: texts one behind the other. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_JOIN_H
#define STENO_TEXT_JOIN_H
#include "base/buf.h"

/* Put text[n] behind what is there: a space lies between them, but not between two Chinese characters. Nothing is put for no text. */
void text_join(struct buf *to, const char *text, size_t n);
#endif
