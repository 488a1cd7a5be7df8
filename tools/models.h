/* steno: finding a model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_H
#define STENO_TOOLS_MODELS_H
#include <steno/steno.h>

struct args_given;

struct model_choice {
    const char *name;  /* -m, or NULL */
    const char *vocab; /* --vocab, or NULL */
    int demo;          /* --demo: the small built-in model */
    int quiet;         /* do not name a model or vocabulary that was chosen without being asked for */
    const struct args_given *given; /* what reasons call options by, NULL: by the library's names */
};

struct model_found {
    char *path;  /* what was opened; malloc'd, as below, also after a failure */
    char *vocab; /* where the vocabulary was found, NULL: with the model, or where --vocab says */
    double speed; /* of one that was not named: seconds of speech in a second, as estimated; else 0 */
};

/* Find and open a model; what goes wrong is told on standard error.
 *
 * @return EXIT_OK, or the exit code to end with */
int models_open(steno_model **out, struct model_found *at, const struct model_choice *c, const steno_model_params *p);

/* Open the model at `path`; where it carries no vocabulary and none lies beside it, with the first one on this machine that fits.
 *
 * @param vocab  receives malloc'd text, where that was, or NULL when none was looked for; may be NULL
 * @param given  the only vocabulary to try (--vocab), or NULL
 * @return as steno_model_open */
int models_open_file(steno_model **out, char **vocab, const char *path, const char *given, const steno_model_params *p, steno_error *e);

/* Path of the small built-in model, or of the recording that goes with it. @return malloc'd text, or NULL */
char *models_demo(void);
char *models_demo_audio(void);

/* Open what models_open opens without -m and STENO_MODEL: the best model in the caches that fits this machine. `passed` hears of those that
 * cannot.
 *
 * @return STENO_OK; else the status of the last one that was tried, STENO_EIO where there is none */
int models_open_best(steno_model **out, struct model_found *at, const char *vocab, const steno_model_params *p,
                     void (*passed)(void *user, const char *path, int status, const char *reason), void *user);

/* File that a path or a name in the caches stands for, as with -m. @return malloc'd text, or NULL: there is none, or
 * errno is ENOMEM */
char *models_find(const char *name);

/* Folder `i` in which models are looked for. @return malloc'd text; NULL past the last one, or where the environment names none */
char *models_folder(int i);
enum { N_MODEL_FOLDERS = 5 };

#define MODELS_ADVICE \
    "\"steno models pull base\" gets one (148 MB; \"steno models list --all\" lists others), or give a file with -m or in STENO_MODEL; " \
    "\"steno --demo FILE\" runs the small built-in model, which knows spoken digits only"
#endif
