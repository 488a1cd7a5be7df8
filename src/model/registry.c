/* steno: the families this library knows. SPDX-License-Identifier: MIT */
#include "model/family.h"

static const struct family *const families[] = { &family_whisper, &family_sensevoice, &family_fsmn_vad };

const struct family *family_find(const struct weights *w)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i]->match(w)) return families[i];
    return NULL;
}
