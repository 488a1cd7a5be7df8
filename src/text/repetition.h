/* steno: measures of repetition. SPDX-License-Identifier: MIT
 *
 * Without speech, models repeat the same words over and over. These measures detect it from the ids of a text, or from the text. */
#ifndef STENO_TEXT_REPETITION_H
#define STENO_TEXT_REPETITION_H
#include <stddef.h>
#include <stdint.h>

double token_entropy(const int32_t *ids, int32_t n); /* entropy of the last 32 ids, in nats */
int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end); /* do the same few ids below text_end repeat over and over? */

/* Bytes of text divided by its size after zlib level 6 (openai-whisper, utils.py). Negative: no memory */
double compression_ratio(const char *text, size_t n);
#endif
