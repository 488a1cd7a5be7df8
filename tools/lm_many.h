/* steno: many prompts, several of them at a time. SPDX-License-Identifier: MIT
 *
 * Prompts come from a file; what is made of each is a line of its own on standard output, in the order of the file, as soon as all before
 * it are out. */
#ifndef STENO_TOOLS_LM_MANY_H
#define STENO_TOOLS_LM_MANY_H
#include "lm_opts.h"
#include "notes.h"
#include <stdio.h>

struct lm_many {
    const char *file;      /* a prompt in each line; - is standard input. Of a file whose name ends in .jsonl: a JSON string, or an object
                              with one called "prompt" */
    int at_a_time, raw, ids; /* ids: the new ids instead of an object */
    const struct lm_opts *o;
    const steno_generate_params *p;
    const struct args_given *given; /* what options are called in messages */
};

/* @return EXIT_OK, or the exit code to end with, after a message: that of the first prompt that failed */
int lm_many_run(struct engine *e, const struct lm_many *m);

/* What a session has made of it, as an object and a new line; index -1: it is the only one. */
void lm_print_object(FILE *f, const steno_model *m, const steno_session *s, const int32_t *prompt, int n_prompt, uint64_t seed, int index);
struct notes lm_notes(const steno_model *m, const steno_session *s, int n_prompt); /* why it is empty, or ends where it does */
void lm_print_ids(FILE *f, const steno_session *s); /* the new ids, in a line */
#endif
