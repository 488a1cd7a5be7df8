/* steno: languages and what people call them. SPDX-License-Identifier: MIT
 *
 * Languages have numbers here, those of the widest multilingual vocabulary that is known (Whisper's): a model whose language tokens stand
 * in this order says where they begin, others are asked by code. */
#ifndef STENO_TEXT_LANGUAGE_H
#define STENO_TEXT_LANGUAGE_H
#include "base/err.h"

enum { N_LANGUAGES = 100, LANGUAGE_ENGLISH = 0, LANGUAGE_CHINESE = 1 };

/* Index of a language by code ("de", "deu", "ger"), BCP 47 tag ("de-AT", "zh_Hant") or English name, any case; -1: unknown. */
int language_find(const char *name);
/* NULL or "auto", any case: what is heard tells the language. */
int language_is_auto(const char *name);
/* Index of what was probably meant by a name that nobody knows ("jp", "germann"); -1: no idea. */
int language_near(const char *name);
/* STENO_EARG with what the model knows instead: languages code(0 .. n - 1). */
int language_refuse(steno_error *e, const char *name, const char *(*code)(int i), int n);
const char *language_code(int i); /* of the vocabulary; NULL past the last */
const char *language_name(int i); /* English, in lower case; NULL past the last */
#endif
