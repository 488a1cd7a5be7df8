/* steno: CT-Transformer: what its reader and its writer share. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_CT_TRANSFORMER_H
#define STENO_MODEL_CT_TRANSFORMER_H
#include "model/funasr.h"
#include "model/sanm_encoder.h"

enum { CT_MARKS_MAX = 64, CT_MARK_SZ = 64 };

struct ct_shape { struct sanm_encoder enc; int32_t n_vocab, n_marks, end, as_it_comes; };
extern const char ct_architecture[];                  /* of its GGUF files */
extern const char ct_words_file[], ct_words_key[];    /* the model's own words: a file of the folder, a list of a GGUF file */
extern const struct funasr_settings ct_settings;
int ct_read_shape(struct ct_shape *s, struct weights *w, steno_error *e);

struct ct_mark_list { char text[CT_MARKS_MAX][CT_MARK_SZ]; const struct weights *w; steno_error *e; };
/* l->w and l->e are set. @return the number of marks, or a status */
int ct_read_mark_list(struct ct_mark_list *l);
#endif
