/* steno: models in the caches of the hubs, for those who look for one. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_HUB_H
#define STENO_TOOLS_MODELS_HUB_H
#include <stddef.h>
#include <stdint.h>

/* *no_memory becomes 1 where something may be missing for want of memory.
 *
 * What a name stands for in the caches of Hugging Face's and ModelScope's clients: a name of the table ("base"), ORG/NAME with or without
 * a revision and a file, the name of a file ("ggml-base.bin"); last NAME as openai/whisper-NAME. @return malloc'd path, or NULL */
char *models_hub_find(const char *name, int *no_memory);

/* A file of a repository "ORG/NAME" there: the first of file[n] that is in a snapshot. @return malloc'd path, or NULL */
char *models_hub_file(const char *repo, const char *const *file, size_t n, int *no_memory);

/* The folder of a hub's cache (enum hub_kind). @return malloc'd text, or NULL: the environment names none, or errno is ENOMEM */
char *models_hub_cache(int hub);

/* What else a file of that name may be called: the table's own name, the table's file. "" where the table does not know it. */
struct models_alias { char name[64], file[64]; };
void models_hub_alias(struct models_alias *out, const char *name);

/* Whisper models in those caches, files and folders, in no order. `each` takes the path over; size: bytes of weights. */
void models_hub_each(void (*each)(void *user, char *path, int64_t size), void *user, int *no_memory);

/* A name that is not here: say on standard error how it is fetched, or which name was meant.
 * @param size  receives its bytes, 0: they are not known
 * @return 1: there is such a model; 0: there is one whose name is like it; -1: nobody knows such a name, and nothing was said */
int models_hub_tell(const char *name, int64_t *size);

/* The same: say how it is fetched, and, where somebody sits at a terminal, ask whether to do so.
 * @return EXIT_OK: it is here now; EXIT_MODEL after the line that says how; -1: nobody knows such a name; other exit codes: the fetching
 * failed, which was told */
int models_hub_offer(const char *name);
#endif
