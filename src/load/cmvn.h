/* steno: mean and variance of a front end, as Kaldi writes them. SPDX-License-Identifier: MIT
 *
 * A text of tags (<AddShift>, <Rescale>, and others that are passed over), each with a list of numbers in brackets. Tags are found by
 * name: before the two that matter stands a <Splice> with a list of its own. */
#ifndef STENO_LOAD_CMVN_H
#define STENO_LOAD_CMVN_H
#include "load/weights.h"

/* shift[want] and scale[want] of f, from the arena: row = (x + shift) * scale. STENO_EFORMAT names file, line and cause: a file over 1 MiB,
 * a tag missing or twice, a list of another length, what is not a finite number. */
int cmvn_read(const struct file *f, struct arena *a, int want, float **shift, float **scale, steno_error *e);
/* The same from the file beside a model: the one its configuration names, else am.mvn. STENO_EFORMAT when there is none. */
int cmvn_find(const struct weights *w, int want, struct arena *a, float **shift, float **scale, steno_error *e);
#endif
