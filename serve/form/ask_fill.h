/* steno-serve: fields that need the model, beside the table of ask_fields.h. SPDX-License-Identifier: MIT
 *
 * Only ask*.c use these functions. The result equals that of the command line with the same options. */
#ifndef STENO_SERVE_ASK_FILL_H
#define STENO_SERVE_ASK_FILL_H
#include "ask_fields.h"

/* Each returns API_OK or a code, in *e. */
int ask_fill_task(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e); /* and language */
int ask_fill_words(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e); /* hot words, word times */
int ask_fill_lists(struct ask *a, struct form *f, steno_transcribe_params *p, const steno_model *m, struct api_error *e);
int ask_fill_vad(struct ask *a, struct form *f, struct job *job, const steno_model *m, struct api_error *e);

/* Does the aligner of the server find word times? The words of a translation are not in the audio. */
int ask_aligns(const struct ask *a, const struct job *job);
/* Leaves the aligner to requests that want word times, whose model needs not find them. */
void ask_settle_aligner(const struct ask *a, struct job *job);

/* Temperatures and widths that follow from those that were given. *before: the server's defaults. */
void ask_settle(const struct form *f, steno_transcribe_params *p, const steno_transcribe_params *before, const steno_model *m);
#endif
