/* steno: which model is taken when none is named. SPDX-License-Identifier: MIT
 *
 * The best one that fits memory and is not slower than speech here. How good a model is says its size's name; what it computes and reads
 * for a window of 30 s is a table, too, and how much of that this processor does in a second comes from "steno bench" on processors of
 * each level. So the same machine always takes the same model, and nothing is measured before work begins. */
#ifndef STENO_TOOLS_MODEL_CHOICE_H
#define STENO_TOOLS_MODEL_CHOICE_H
#include <stdint.h>

struct choice_host {
    double gflops, gbytes; /* in a second, on all threads */
    int64_t memory;        /* that this process may have, 0: not known */
};
void choice_host_get(struct choice_host *h);

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
