/* steno: automatic choice of a model. SPDX-License-Identifier: MIT
 *
 * Chooses the best model that fits into memory and runs at least in real time on this machine. Quality follows from the model's size
 * name. A table holds its operations and bytes per 30 s window. The machine's speed is measured once (machine.h); if that is
 * impossible, the figures of "steno bench" for processors of its level are used. The choice is therefore always the same on one machine. */
#ifndef STENO_TOOLS_MODEL_CHOICE_H
#define STENO_TOOLS_MODEL_CHOICE_H
#include <stdint.h>

struct choice_host {
    double gflops, gbytes; /* per second, on all threads */
    int64_t memory;        /* memory available to this process, 0: unknown */
};
void choice_host_get(struct choice_host *h); /* Fill in the figures of the CPU level. */

struct choice {
    int quality;     /* higher is better */
    double speed;    /* seconds of speech per second */
    int64_t memory;  /* approximate number of bytes */
    int fits;
    int64_t size;    /* file size in bytes */
    const char *path;
};

/* Rate the Whisper model at `path` by its name and size. */
void choice_judge(struct choice *c, const char *path, int64_t size, const struct choice_host *h);

/* Comparison function for qsort over struct choice. Models that fit and reach real time come first, by quality; slower models follow by
 * speed. */
int choice_order(const void *a, const void *b);
#endif
