/* steno: the two halves of the Whisper family. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_WHISPER_H
#define STENO_MODEL_WHISPER_H
#include "model/family.h"

extern const struct speech whisper_speech; /* whisper_speech.c: prompts, rules, segments */
#endif
