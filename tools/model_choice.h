/* steno: which model is taken when none is named. SPDX-License-Identifier: MIT
 *
 * The best one that fits memory and is not slower than speech here. How good a model is says its size's name; what it computes and reads
 * for a window of 30 s is a table, too. How much of that this machine does in a second is measured once (machine_speed.h); where that
 * cannot be, it is what "steno bench" says of processors of its level. So the same machine always takes the same model. */
#ifndef STENO_TOOLS_MODEL_CHOICE_H
#define STENO_TOOLS_MODEL_CHOICE_H
#include <stdint.h>

struct choice_host {
    double gflops, gbytes; /* in a second, on all threads */
    int64_t memory;        /* that this process may have, 0: not known */
};
void choice_host_get(struct choice_host *h); /* by the level */

struct choice {
    int quality;     /* more is better */
    double speed;    /* seconds of speech in a second */
    int64_t memory;  /* bytes, about */
    int fits;
    int64_t size;    /* of the file */
    const char *path;
};

/* Judge the Whisper model at `path` by its name and size. */
void choice_judge(struct choice *c, const char *path, int64_t size, const struct choice_host *h);

/* Which goes first: for qsort over struct choice. Those that fit and keep up go by quality, then those that do not keep up by speed. */
int choice_order(const void *a, const void *b);
#endif
