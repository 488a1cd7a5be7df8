/* steno: finding a model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_H
#define STENO_TOOLS_MODELS_H
#include <steno/steno.h>

struct model_choice {
    const char *name; /* -m, or NULL */
    int demo;         /* --demo: the small built-in model */
    int quiet;        /* do not name a model that was chosen without being asked for */
};

/* Find and open a model; what goes wrong is told on standard error.
 *
 * @param path  receives malloc'd text, what was opened; may be NULL
 * @return EXIT_OK, or the exit code to end with */
int models_open(steno_model **out, char **path, const struct model_choice *c, const steno_model_params *p);

/* Path of the small built-in model, or of the recording that goes with it. @return malloc'd text, or NULL */
char *models_demo(void);
char *models_demo_audio(void);

/* Path that models_open would try first without -m and STENO_MODEL. @return malloc'd text, or NULL */
char *models_largest(void);

#define MODELS_ADVICE \
    "get one, for example ggml-base.bin from the whisper.cpp model collection, and give it with -m FILE, in STENO_MODEL, or put it " \
    "into ~/.cache/steno; \"steno --demo FILE\" runs the small built-in model, which knows spoken digits only"
#endif
