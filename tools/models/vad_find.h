/* steno: search for a voice-activity model. SPDX-License-Identifier: MIT
 *
 * FunASR's FSMN-VAD belongs to its recognisers: it is beside the model, in ModelScope's cache or in Hugging Face's cache. Silero VAD is
 * a single file: beside the model, in the folders of models, or in Hugging Face's cache in the repository of whisper.cpp. */
#ifndef STENO_TOOLS_VAD_FIND_H
#define STENO_TOOLS_VAD_FIND_H

/* The first model in those places. model: path of the recogniser, may be NULL.
 * @return malloc'd path, or NULL if there is none or errno is ENOMEM */
char *vad_find(const char *model);
char *vad_find_silero(const char *model);

/* Cache `i` of the caches searched. @return malloc'd text, or NULL past the last one, or if the environment names none */
char *vad_place(int i);
enum { N_VAD_PLACES = 2 }; /* ModelScope's, Hugging Face's */
#endif
