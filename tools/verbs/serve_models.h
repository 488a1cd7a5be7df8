/* steno: the models of a server. SPDX-License-Identifier: MIT
 *
 * They are opened with the same code as those of transcribe, so an answer of the server has the text that the program prints. */
#ifndef STENO_TOOLS_SERVE_MODELS_H
#define STENO_TOOLS_SERVE_MODELS_H
#include "serve.h"
#include "verbs/results.h"
#include "verbs/transcribe.h"

struct served {
    struct transcribe_opts o; /* the verb's options, with this model */
    struct transcription t;
    struct results results;
    struct vad_opts turns_o;
    int uses_aligner;
    struct vad turns; /* a detector that was found for the turns of live sessions */
    char *id, *path;
    const char *alias[ARG_TEXTS_MAX + 1];
};

struct served_models {
    /* set by the caller */
    const struct transcribe_opts *o; /* checked */
    struct decode_data *data;
    struct path_guard *path_guard;
    int needs_turns;      /* 1: finds a detector for live sessions where the options name none */
    /* results */
    struct served *model; /* [n] */
    int n;
    /* An aligner, which all models share while one of them is open */
    struct aligner aligner;
    int n_aligned;        /* open models that use it */
    int n_padded;         /* models that were opened and encode a padding behind live audio */
    int failed;           /* exit code of a model that could not be opened, after a message; EXIT_OK: none */
};

/* Names the models, without opening them; none typed: the best one, or the built-in one. @return an exit code, after a message */
int served_begin(struct served_models *v, const struct arg_texts *typed);
/* Adds "NAME=MODEL" to its model. @return an exit code, after a message */
int served_alias(struct served_models *v, const char *alias);
void served_free(struct served_models *v);

/* As serve_params.open and close; user: struct served_models. */
int served_open(void *user, int i, struct serve_engine *g, steno_error *e);
void served_close(void *user, struct serve_engine *g);
#endif
