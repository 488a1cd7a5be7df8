/* steno: post-processing of a transcript by a language model, and its options. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_POST_OPTS_H
#define STENO_TOOLS_POST_OPTS_H
#include "models/engine.h"

struct post_opts { const char *model, *prompt; };

/* The group "Post-processing". */
#define POST_ROWS(T) \
    ARG_HEADING("Post-processing"), \
    { .name = "post", .kind = ARG_TEXT, .at = offsetof(T, post.model), .value = "PATH", \
      .help = "language model that rewrites the finished text; the result is the plain text, and \"post\" in JSON, beside the " \
              "original" }, \
    { .name = "post-prompt", .kind = ARG_TEXT, .at = offsetof(T, post.prompt), .value = "TEXT", .dflt = "correct", \
      .help = "its task: correct, punctuate, summarise, or an instruction of your own" }

enum { POST_SLOTS = 8 /* parts of a text that are answered in parallel */ };

struct post {
    steno_model *model; /* NULL: there is none */
    steno_batch *batch;
    steno_session *slot[POST_SLOTS];
    int status[POST_SLOTS]; /* status of each slot's last answer, as returned by steno_generate */
    int n_slots;
    const char *prompt; /* the complete instruction */
    int repeats;        /* 1: the answer repeats much of the text */
    int shortens;       /* 1: the answer is shorter than the text, so the joined answers are processed again */
    int ctx;
};

/* Open the model, if the options ask for one, on the team of `e`. *p must not be moved afterwards. @return EXIT_OK, or the exit code to
 * end with, after a message */
int post_open(struct post *p, const struct post_opts *o, const struct engine *e, const struct engine_opts *eo);
void post_close(struct post *p);
/* Process the text in parts that fit the model's context. *out is malloc'd. stop: as steno_generate_params.should_abort.
 * @return EXIT_OK, or the exit code to end with, after a message */
int post_make(char **out, const struct post *p, const char *text, int (*stop)(void *user));
#endif
