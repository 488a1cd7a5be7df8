/* steno: mean and variance of a front end, in Kaldi's format. SPDX-License-Identifier: MIT
 *
 * A text of tags (<AddShift>, <Rescale>, and others that are skipped), each with a list of numbers in brackets. Tags are found by name,
 * because a <Splice> with its own list precedes the two that are needed. */
#ifndef STENO_LOAD_CMVN_H
#define STENO_LOAD_CMVN_H
#include "load/weights.h"

/* shift[want] and scale[want] of f, from the arena: row = (x + shift) * scale. STENO_EFORMAT names file, line and cause: a file over 1 MiB,
 * a tag missing or duplicate, a list of another length, a value that is not a finite number. */
int cmvn_read(const struct file *f, struct arena *a, int want, float **shift, float **scale, steno_error *e);
/* The same from the file in the model's folder: the one that its configuration names, or else am.mvn. STENO_EFORMAT if there is none. */
int cmvn_find(const struct weights *w, int want, struct arena *a, float **shift, float **scale, steno_error *e);
#endif
