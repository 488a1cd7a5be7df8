/* steno: file forms of Whisper models for writing. SPDX-License-Identifier: MIT */
#include "model/whisper_forms.h"

const struct model_form whisper_forms[] = {
    { "bin", whisper_to_bin, 0 },
    { "pt", whisper_to_pt, 0 },
    { "hf", whisper_to_hf, 1 },
    { NULL, NULL, 0 },
};
