/* steno: models in Hugging Face's cache. SPDX-License-Identifier: MIT
 *
 * The cache keeps a repository "ORG/NAME" in models--ORG--NAME; below it, snapshots/REVISION is a model folder and refs/main names the
 * revision in use. */
#ifndef STENO_TOOLS_HF_CACHE_H
#define STENO_TOOLS_HF_CACHE_H
#include <stddef.h>
#include <stdint.h>

/* *no_memory becomes 1 where something may be missing for want of memory.
 *
 * Folder of the snapshot of a repository in the cache `dir`: "openai/whisper-base"; without an organisation, "base" and "whisper-base" are
 * openai's. @return malloc'd path, or NULL when there is none with a config.json or
 * config.yaml */
char *hf_cache_find(const char *dir, const char *name, int *no_memory);

/* A file of a repository "ORG/NAME": the first of file[n] that a snapshot has. @return malloc'd path, or NULL */
char *hf_cache_file(const char *dir, const char *name, const char *const *file, size_t n, int *no_memory);

/* Snapshots of Whisper models with safetensors, in no order. `each` takes the path over; size: bytes of weights. */
void hf_cache_each(const char *dir, void (*each)(void *user, char *path, int64_t size), void *user, int *no_memory);
#endif
