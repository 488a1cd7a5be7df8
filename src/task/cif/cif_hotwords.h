/* steno: hot words of a transcription by integrate-and-fire. SPDX-License-Identifier: MIT
 *
 * Words become vectors once for each request; the tokens of every clip attend to those. How: enum cif_hot (model/family.h). */
#ifndef STENO_TASK_CIF_CIF_HOTWORDS_H
#define STENO_TASK_CIF_CIF_HOTWORDS_H
#include "task/session.h"

struct cif_hot_words;

/* Words of a request, one a line, NULL: none; *out NULL: nothing attends to any. STENO_EARG names the line; STENO_ENOMEM */
int cif_hot_open(struct cif_hot_words **out, const steno_model *m, const char *lines, steno_error *e);
void cif_hot_close(struct cif_hot_words *h); /* NULL is allowed */

/* What tokens of the table were and became, while plans of hot words run in the same memory; nothing where a model has none. */
struct cif_hot_rows {
    float *own, *heard; /* [rows, width] side outputs CIF_OWN and CIF_HEARD */
    struct best *best;  /* [rows] ids */
};
void cif_hot_rows_take(struct cif_hot_rows *r, struct arena_take *t, const steno_model *m);
/* Of the first n of them. STENO_ENOMEM: the executor has nothing to show */
int cif_hot_rows_keep(struct cif_hot_rows *r, struct steno_batch *b, uint32_t n);

/* Tokens first .. first + n - 1 are a clip's: what the words change of their ids in r. A status of the executor's */
int cif_hot_run(struct cif_hot_words *h, steno_session *s, struct cif_hot_rows *r, uint32_t first, uint32_t n);
#endif
