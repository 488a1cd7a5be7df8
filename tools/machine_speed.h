/* steno: how fast this machine runs a model. SPDX-License-Identifier: MIT
 *
 * The smallest Whisper, with random weights, encodes a window and decodes a few tokens: a second or two. What was measured is kept in
 * ~/.cache/steno/speed.tsv, a line for each processor, level and number of threads, so that it is done once. */
#ifndef STENO_TOOLS_MACHINE_SPEED_H
#define STENO_TOOLS_MACHINE_SPEED_H
#include <steno/steno.h>

struct machine_speed {
    double gflops; /* 10^9 operations in a second that the encoder does, on all threads of the team */
    double gbytes; /* 10^9 bytes in a second that steps read */
};

/* For models that are opened with `p`; kept in `folder`. @return 1, or 0: it cannot be measured, or not be kept */
int machine_speed_get(struct machine_speed *s, const char *folder, const steno_model_params *p);

/* The value of `key`, which has no tabs, in a line of the file. @return 1, or 0: it is of another one, or damaged */
int machine_speed_line(struct machine_speed *s, const char *line, const char *key);
#endif
