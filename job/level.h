/* steno: loudness of audio. SPDX-License-Identifier: MIT */
#ifndef STENO_JOB_LEVEL_H
#define STENO_JOB_LEVEL_H
#include <steno/steno.h>

struct level {
    int64_t n, n_full; /* number of samples, and of those at full scale */
    double squares, peak;
};

void level_add(struct level *l, const float *pcm, int64_t n);
double level_db(const struct level *l);      /* mean, in dBFS; LEVEL_NONE for silence */
double level_peak_db(const struct level *l); /* of the loudest sample */
#define LEVEL_NONE (-120.0)

/* A source that is measured while it is read; rewinding starts again. */
struct level_source {
    struct level level;
    steno_source from;
};
steno_source level_source(struct level_source *l, const steno_source *from);
#endif
