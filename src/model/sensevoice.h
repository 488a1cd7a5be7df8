/* steno: SenseVoiceSmall, functions shared by its files. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_SENSEVOICE_H
#define STENO_MODEL_SENSEVOICE_H
#include "model/family.h"

enum { SENSEVOICE_QUERY_ROWS = 4 }; /* language, event, emotion, number format */

extern const struct ctc sensevoice_ctc;
void sensevoice_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as family.ids_to_bytes */

/* Appends the output of the reference's rich_transcription_postprocess for raw[n], text with tags. */
void sensevoice_rich_text(const char *raw, size_t n, struct buf *text);
#endif
