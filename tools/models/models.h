/* steno: find and open a model. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_H
#define STENO_TOOLS_MODELS_H
#include <steno/steno.h>
#include <stdint.h>

struct args_given;

struct model_choice {
    const char *name;  /* -m, or NULL */
    const char *vocab; /* --vocab, or NULL */
    int demo;          /* --demo: the small built-in model */
    int quiet;         /* do not print which model or vocabulary was chosen automatically */
    const struct args_given *given; /* the options as typed, used in reasons; NULL: reasons use the library's names */
    int32_t auto_compute; /* what STENO_COMPUTE_AUTO is for a model that transcribes and lets the arithmetic be chosen; others, and the
                             choice among models, keep AUTO. STENO_COMPUTE_AUTO: as the library */
};

struct model_found {
    char *path;  /* path that was opened; malloc'd, as is `vocab`, also after a failure */
    char *vocab; /* path of the vocabulary; NULL: it is in the model, or --vocab names it */
    double speed; /* estimated seconds of speech per second, if the model was chosen automatically; else 0 */
    int32_t compute; /* enum steno_compute that the model was opened with */
};

/* Find and open a model. Errors are reported on standard error.
 *
 * @return EXIT_OK, or the exit code to end with */
int models_open(steno_model **out, struct model_found *at, const struct model_choice *c, const steno_model_params *p);

/* Open the model at `path`. If it has no vocabulary and there is none beside it, use the first matching vocabulary on this machine.
 *
 * @param vocab  receives the malloc'd path of that vocabulary, or NULL if none was needed; may be NULL
 * @param given  the only vocabulary to try (--vocab), or NULL
 * @return as steno_model_open */
int models_open_file(steno_model **out, char **vocab, const char *path, const char *given, const steno_model_params *p, steno_error *e);

/* Path of the small built-in model, or of its recording. @return malloc'd text, or NULL */
char *models_demo(void);
char *models_demo_audio(void);

/* Open the model that models_open uses without -m and STENO_MODEL: the best model in the caches that fits this machine. `passed` is
 * called for each model that cannot be opened.
 * Of `choice` only vocab and auto_compute are used.
 *
 * @return STENO_OK; else the status of the last model tried, or STENO_EIO if there is none */
int models_open_best(steno_model **out, struct model_found *at, const struct model_choice *choice, const steno_model_params *p,
                     void (*passed)(void *user, const char *path, int status, const char *reason), void *user);

/* Resolve a path or a name in the caches, as for -m. @return malloc'd path, or NULL if there is none or errno is ENOMEM */
char *models_find(const char *name);

/* Folder `i` of the folders searched for models. @return malloc'd text; NULL past the last one, or if the environment names none */
char *models_folder(int i);
enum { N_MODEL_FOLDERS = 5 };

#define MODELS_ADVICE \
    "\"steno models pull base\" gets one (148 MB; \"steno models list --all\" lists others), or give a file with -m or in STENO_MODEL; " \
    "\"steno --demo FILE\" runs the small built-in model, which knows spoken digits only"
#endif
