/* steno: places of vocabularies for Whisper models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_VOCAB_PLACES_H
#define STENO_TOOLS_VOCAB_PLACES_H
#include <stdint.h>

/* Call `each` for vocabulary files on this machine: in the folders of models, in the Python package openai-whisper (Python is not run),
 * and in Hugging Face's cache of OpenAI's models. folder(i), i below n_folders: as models_folder. `each` owns the path; *no_memory
 * becomes 1 if files may be missing. */
void vocab_places_each(char *(*folder)(int i), int n_folders, void (*each)(void *user, char *path, int64_t size), void *user,
                       int *no_memory);
#endif
