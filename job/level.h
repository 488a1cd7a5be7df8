/* steno: how loud a sound is. SPDX-License-Identifier: MIT */
#ifndef STENO_JOB_LEVEL_H
#define STENO_JOB_LEVEL_H
#include <steno/steno.h>

struct level {
    int64_t n, n_full; /* samples, and those at full scale */
    double squares, peak;
};

void level_add(struct level *l, const float *pcm, int64_t n);
double level_db(const struct level *l);      /* mean, in dBFS; LEVEL_NONE of silence */
double level_peak_db(const struct level *l); /* the loudest sample's */
#define LEVEL_NONE (-120.0)

/* A source that is measured as it is read; going back begins anew. */
struct level_source {
    struct level level;
    steno_source from;
};
steno_source level_source(struct level_source *l, const steno_source *from);
#endif
