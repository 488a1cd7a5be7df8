/* steno: look up models in the caches of the hubs. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_HUB_H
#define STENO_TOOLS_MODELS_HUB_H
#include <stddef.h>
#include <stdint.h>

/* In this file, *no_memory becomes 1 if the result may be incomplete because memory ran out.
 *
 * Find a name in the caches of Hugging Face's and ModelScope's clients. Accepted are a name of the table ("base"), ORG/NAME with or
 * without a revision and a file, and a file name ("ggml-base.bin"). NAME alone also means openai/whisper-NAME, with lowest priority.
 * @return malloc'd path, or NULL */
char *models_hub_find(const char *name, int *no_memory);

/* A file of the cached repository "ORG/NAME": the first of file[n] that a snapshot has. @return malloc'd path, or NULL */
char *models_hub_file(const char *repo, const char *const *file, size_t n, int *no_memory);

/* The folder of a hub's cache (enum hub_kind). @return malloc'd text, or NULL if the environment names none or errno is ENOMEM */
char *models_hub_cache(int hub);

/* Other names of such a file: the table's name and the table's file name. Both are "" if the table does not have it. */
struct models_alias { char name[64], file[64]; };
void models_hub_alias(struct models_alias *out, const char *name);

/* Call `each` for every Whisper model in those caches, file or folder, in no particular order. `each` owns the path. size: bytes of the
 * weights. */
void models_hub_each(void (*each)(void *user, char *path, int64_t size), void *user, int *no_memory);

/* For a name that is not on this machine: print on standard error how to download it, or which name was probably meant.
 * @param size  receives its size in bytes, 0 if unknown
 * @return 1: the model exists; 0: a model with a similar name exists; -1: the name is unknown and nothing was printed */
int models_hub_report(const char *name, int64_t *size);

/* As models_hub_report, and if a user sits at a terminal, ask whether to download now.
 * @return EXIT_OK: the model is here now; EXIT_MODEL: the hint was printed; -1: the name is unknown; other exit codes: the download
 * failed, after a message */
int models_hub_offer(const char *name);
#endif
