/* steno: compression ratio of a text. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_COMPRESSION_H
#define STENO_TEXT_COMPRESSION_H
#include <stddef.h>

/* Bytes of text divided by its size after zlib level 6 (openai-whisper, utils.py). Negative: no memory */
double compression_ratio(const char *text, size_t n);
#endif
