/* steno: hot words for integrate-and-fire models. SPDX-License-Identifier: MIT
 *
 * Hot words become vectors once per request. The tokens of every clip attend to these vectors, as enum cif_hot (model/family.h)
 * describes. */
#ifndef STENO_TASK_CIF_CIF_HOTWORDS_H
#define STENO_TASK_CIF_CIF_HOTWORDS_H
#include "engine/session.h"

struct cif_hot_words;

/* Hot words of a request, one per line; lines may be NULL. *out is NULL if the model or the request uses none. STENO_EARG (the message
 * names the line), STENO_ENOMEM */
int cif_hot_open(struct cif_hot_words **out, const steno_model *m, const char *lines, steno_error *e);
void cif_hot_close(struct cif_hot_words *h); /* h may be NULL */

/* Copies of the token rows and their ids, because hot-word plans run in the same memory. Unused if the model has no hot words. */
struct cif_hot_rows {
    float *own, *attended; /* [rows, width] side outputs CIF_OWN and CIF_ATTENDED */
    struct best *best;  /* [rows] ids */
};
void cif_hot_rows_take(struct cif_hot_rows *r, struct arena_take *t, const steno_model *m);
/* Copies the first n rows. STENO_ENOMEM: the executor has no output */
int cif_hot_rows_keep(struct cif_hot_rows *r, struct steno_batch *b, uint32_t n);

/* Applies the words to tokens first .. first + n - 1, the tokens of one clip, and updates their ids in r. Returns a status of the
 * executor. */
int cif_hot_run(struct cif_hot_words *h, steno_session *s, struct cif_hot_rows *r, uint32_t first, uint32_t n);
#endif
