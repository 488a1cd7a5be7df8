/* steno: answers of a language model, printed. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_LM_ANSWERS_H
#define STENO_TOOLS_LM_ANSWERS_H
#include "options/lm_opts.h"
#include "transcript.h"
#include <steno/steno.h>
#include <stdio.h>

/* ---- while an answer is generated -------------------------------------------------------------------------------------------- */

struct lm_stream { int is_silent, ends_line; };
struct lm_stream lm_stream_begin(int is_silent);

/* Callback for steno_generate_params.on_token: prints each token at once to standard output. user: struct lm_stream */
int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n);
void lm_stream_end(const struct lm_stream *out); /* prints a line end if the text has none */

/* ---- prompts of a file, in parallel ------------------------------------------------------------------------------------------ */

/* Each answer is one line on standard output, in the order of the file, printed as soon as all earlier answers are. */
struct lm_many {
    /* one prompt per line; - is standard input. If the name ends in .jsonl, a line is a JSON string, or an object with a string "prompt" */
    const char *file;
    int at_a_time, raw, ids; /* ids: print the new ids instead of an object */
    const struct lm_opts *o;
    const steno_generate_params *p;
    const struct args_given *given; /* option names for messages */
};

/* @return EXIT_OK, or after a message the exit code of the first prompt that failed */
int lm_many_run(struct engine *e, const struct lm_many *m);

/* Print a session's result as an object and a line end; index -1: the only prompt. */
void lm_print_object(FILE *f, const steno_model *m, const steno_session *s, const int32_t *prompt, int n_prompt, uint64_t seed, int index);
struct notes lm_notes(const steno_model *m, const steno_session *s, int n_prompt); /* why the text is empty or ends early */
void lm_print_ids(FILE *f, const steno_session *s); /* prints the new ids on one line */
#endif
