/* steno: tokens of text by the longest match. SPDX-License-Identifier: MIT
 *
 * As whisper.cpp cuts prompts: pieces by GPT-2's pattern, for which letters and digits are those of ASCII; of each piece the longest token
 * that it begins with, again and again. Bytes that no token begins with are left out. */
#ifndef STENO_TEXT_LONGEST_H
#define STENO_TEXT_LONGEST_H
#include "text/vocab.h"

void longest_encode(const struct vocab *v, const char *text, struct buf *ids); /* ids: int32_t, appended */
#endif
