/* steno: what doctor prints about the arithmetic. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_DOCTOR_COMPUTE_H
#define STENO_TOOLS_DOCTOR_COMPUTE_H
#include "models/auto_compute.h"
#include <stddef.h>

struct doctor_compute {
    const char *level;   /* its name */
    int is_int16;        /* the level's choice; 0: f32 */
    int measured;        /* are there figures? */
    struct auto_figures figures;
};

void doctor_compute_used(char *out, size_t n, const struct doctor_compute *c);
void doctor_compute_measured(char *out, size_t n, const struct doctor_compute *c);
#endif
