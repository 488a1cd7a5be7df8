/* steno: where people have vocabularies of Whisper models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_VOCAB_PLACES_H
#define STENO_TOOLS_VOCAB_PLACES_H
#include <stdint.h>

/* Vocabulary files on this machine: in the folders of models, in openai-whisper's package, where Python has one (nothing is run), and in
 * Hugging Face's cache of OpenAI's models. folder(i), i below n_folders: as models_folder. `each` takes the path over; *no_memory becomes 1
 * where something may be missing. */
void vocab_places_each(char *(*folder)(int i), int n_folders, void (*each)(void *user, char *path, int64_t size), void *user,
                       int *no_memory);
#endif
