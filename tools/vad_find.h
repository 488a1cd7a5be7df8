/* steno: finding a voice-activity model. SPDX-License-Identifier: MIT
 *
 * FunASR's FSMN-VAD goes with its recognisers: it lies beside the model, in ModelScope's cache or in Hugging Face's. Silero VAD is one
 * file: beside the model, in the folders of models, or in Hugging Face's cache of whisper.cpp's. */
#ifndef STENO_TOOLS_VAD_FIND_H
#define STENO_TOOLS_VAD_FIND_H

/* The first one in the places where it is looked for. model: path of the recogniser, NULL: none.
 * @return malloc'd path, or NULL: there is none, or errno is ENOMEM */
char *vad_find(const char *model);
char *vad_find_silero(const char *model);

/* The cache `i` in which it is looked for. @return malloc'd text, or NULL past the last one, or where the environment names none */
char *vad_place(int i);
enum { N_VAD_PLACES = 2 }; /* ModelScope's, Hugging Face's */
#endif
