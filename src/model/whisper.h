/* steno: functions shared by the files of the Whisper family. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_WHISPER_H
#define STENO_MODEL_WHISPER_H
#include "model/family.h"
#include "model/whisper_dims.h"

extern const struct speech whisper_speech; /* prompts, rules, segments */
#endif
