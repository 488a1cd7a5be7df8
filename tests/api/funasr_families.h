/* steno tests: small models of FunASR's families, opened. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FUNASR_FAMILIES_H
#define STENO_TESTS_FUNASR_FAMILIES_H
#include "funasr_model.h"

static steno_model *ctc, *cif, *live, *vad;
static struct audio audio;

static inline int open_all(void **state)
{
    (void)state;
    ctc = funasr_open(ctc_folder, NULL);
    cif = funasr_open(cif_folder, NULL);
    live = funasr_open(live_folder, NULL);
    vad = funasr_open(vad_folder, NULL);
    audio = bursts(70 * RATE);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    steno_model_close(ctc);
    steno_model_close(cif);
    steno_model_close(live);
    steno_model_close(vad);
    free(audio.pcm);
    return 0;
}
#endif
