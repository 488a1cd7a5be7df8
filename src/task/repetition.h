/* steno: how often tokens come back. SPDX-License-Identifier: MIT
 *
 * Models in want of speech write the same words over and over. These measures see it from outside, in the ids of a text. */
#ifndef STENO_TASK_REPETITION_H
#define STENO_TASK_REPETITION_H
#include <stdint.h>

double token_entropy(const int32_t *ids, int32_t n); /* nats, of the ids among the last 32 */
int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end); /* the same few ids below text_end over and over */
#endif
