/* steno: concatenation of texts. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_JOIN_H
#define STENO_TEXT_JOIN_H
#include "base/buf.h"

/* Append text[n], separated by a space unless both neighbours are Chinese characters. An empty text adds nothing. */
void text_join(struct buf *to, const char *text, size_t n);
#endif
