/* steno: tokens of text by the longest match. SPDX-License-Identifier: MIT
 *
 * whisper.cpp cuts prompts this way: pieces by GPT-2's pattern, in which only ASCII letters and digits count. From each piece the longest
 * matching token is taken repeatedly. Bytes that begin no token are dropped. */
#ifndef STENO_TEXT_LONGEST_H
#define STENO_TEXT_LONGEST_H
#include "text/vocab.h"

void longest_encode(const struct vocab *v, const char *text, struct buf *ids); /* ids: int32_t, appended */
#endif
