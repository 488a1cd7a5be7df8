/* steno: SenseVoiceSmall, functions shared by its files. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_SENSEVOICE_H
#define STENO_MODEL_SENSEVOICE_H
#include "model/funasr.h"
#include "model/sanm_encoder.h"

enum {
    SENSEVOICE_QUERY_ROWS = 4, /* language, event, emotion, number format */
    SENSEVOICE_QUERIES = 16    /* rows that can be queries */
};

struct sensevoice_shape { struct sanm_encoder enc; int32_t more_layers, blank, n_vocab; };
extern const char sensevoice_architecture[]; /* of its GGUF files */
extern const struct funasr_settings sensevoice_settings;
int sensevoice_read_shape(struct sensevoice_shape *s, struct weights *w, steno_error *e);

extern const struct ctc sensevoice_ctc;
void sensevoice_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as family.ids_to_bytes */

/* Appends the output of the reference's rich_transcription_postprocess for raw[n], text with tags. */
void sensevoice_rich_text(const char *raw, size_t n, struct buf *text);
#endif
