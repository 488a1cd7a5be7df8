/* steno: facts about this machine, and its speed with a model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MACHINE_H
#define STENO_TOOLS_MACHINE_H
#include "models/figures.h"
#include <stddef.h>
#include <steno/steno.h>
#include <stdint.h>

void machine_name(char *out, size_t n); /* the processor's model name */

/* As machine_name, from a file such as /proc/cpuinfo. Where the file has no model name (ARM), the name is the architecture, then maker and
 * part number of each kind of core: "aarch64 0x41:0xd05 0x41:0xd0b". */
void machine_name_from(char *out, size_t n, const char *cpuinfo);

/* "steno VERSION, PROCESSOR, LEVEL", without tabs: how keys of kept figures begin. cpu_level: the level used; NULL: the highest usable
 * one. */
void machine_key(char key[FIGURES_KEY_SZ], const char *cpu_level);

struct machine_peaks {
    double gflops; /* f32 multiply-adds on all threads, two operations each, in 10^9 per second */
    double gbytes; /* bytes read from memory per ns, by all threads */
};

/* Measure both on `n_threads` threads, in about half a second. @return 0, or -1 if memory or threads are not available */
int machine_measure(struct machine_peaks *p, int n_threads);

/* ---- speed with a model ------------------------------------------------------------------------------------------------------ */

/* The smallest Whisper model with random weights encodes a window and decodes a few tokens, in one or two seconds. Results are stored in
 * ~/.cache/steno/speed.tsv, one line per processor, level and number of threads, so the measurement runs once. */
struct machine_speed {
    double gflops; /* 10^9 operations per second in the encoder, on all threads of the team */
    double gbytes; /* 10^9 bytes read per second in decoder steps */
};

/* Speed of models opened with `p`; stored in `folder`. @return 1, or 0 if it cannot be measured or stored */
int machine_speed_get(struct machine_speed *s, const char *folder, const steno_model_params *p);
#endif
