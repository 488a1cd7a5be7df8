/* steno: beam search over the clips of a transducer. SPDX-License-Identifier: MIT
 *
 * A round extends the hypotheses of every clip that are at its next row: one run of the prediction network for those with a new token, and
 * one product for their joint rows, as far as they fit. Clips do not depend on each other; those for which there are no slots left wait. */
#ifndef STENO_TASK_TRANSDUCER_TRANSDUCER_SEARCH_H
#define STENO_TASK_TRANSDUCER_TRANSDUCER_SEARCH_H
#include "task/transducer/transducer_clips.h"

/* Memory of the searches of a batch, whatever their beams, but not the tokens of their texts: transducer_batch.pool. STENO_OK,
 * STENO_ENOMEM */
size_t transducer_search_memory(const steno_model *m, uint32_t n_windows);
int transducer_search_open(struct steno_batch *b, steno_error *e);
/* Decodes the first n lanes of transducer_batch.busy, whose requests have beams. A lane's texts are those of its search, as many as the
 * request asks for, at least one; without memory, an error in a buffer of the lane. Returns a status of the executor. */
int transducer_search(struct steno_batch *b, uint32_t n);
#endif
