/* steno tests: the dimensions of a Whisper model in a file. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_STORED_DIMS_H
#define STENO_TESTS_STORED_DIMS_H
#include "harness.h"
#include "model/whisper_dims.h"

static inline struct whisper_dims stored_dims(const struct weights *w)
{
    struct whisper_dims d;
    steno_error e;
    if (whisper_dims_read(&d, w, &e)) fail_msg("%s", e.text);
    return d;
}
#endif
