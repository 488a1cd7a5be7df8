/* steno: how much a text repeats itself. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_COMPRESSION_H
#define STENO_TASK_COMPRESSION_H
#include <stddef.h>

/* bytes / deflated bytes of text, as zlib level 6 makes it (openai-whisper, utils.py); negative: no memory */
double compression_ratio(const char *text, size_t n);
#endif
