/* steno: what a language model makes of a transcript, and the options that say which and what. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_POST_OPTS_H
#define STENO_TOOLS_POST_OPTS_H
#include "engine.h"

struct post_opts { const char *model, *prompt; };

/* The group "Post-processing". */
#define POST_ROWS(T) \
    ARG_HEADING("Post-processing"), \
    { .name = "post", .kind = ARG_TEXT, .at = offsetof(T, post.model), .value = "PATH", \
      .help = "language model that rewrites the finished text; the result is the plain text, and \"post\" in JSON, beside the " \
              "original" }, \
    { .name = "post-prompt", .kind = ARG_TEXT, .at = offsetof(T, post.prompt), .value = "TEXT", .dflt = "correct", \
      .help = "its task: correct, punctuate, summarise, or an instruction of your own" }

enum { POST_SLOTS = 8 /* parts of a text that are answered beside each other */ };

struct post {
    steno_model *model; /* NULL: there is none */
    steno_batch *batch;
    steno_session *slot[POST_SLOTS];
    int status[POST_SLOTS]; /* of the last answer of each, as steno_generate returns it */
    int n_slots;
    const char *prompt; /* the instruction in full */
    int repeats;        /* the answer says much of the text again */
    int shortens;       /* it is shorter: answers to parts are put together, and it is asked again */
    int ctx;
};

/* Open the model, if there is to be one, on the team of `e`; *p stays where it is. @return EXIT_OK, or the exit code to end with, after a
 * message */
int post_open(struct post *p, const struct post_opts *o, const struct engine *e, const struct engine_opts *eo);
void post_close(struct post *p);
/* What it makes of the text, in parts that fit its context: *out in malloc'd memory. stop: as steno_generate_params.should_abort has it.
 * @return EXIT_OK, or the exit code to end with, after a message */
int post_make(char **out, const struct post *p, const char *text, int (*stop)(void *user));
#endif
