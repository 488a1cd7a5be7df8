/* steno: languages and their names. SPDX-License-Identifier: MIT
 *
 * A language has a number: its index in the largest known multilingual vocabulary (Whisper's). A model whose language tokens have this
 * order gives the first id; other models are queried by code. */
#ifndef STENO_TEXT_LANGUAGE_H
#define STENO_TEXT_LANGUAGE_H
#include "base/err.h"

enum { N_LANGUAGES = 100, LANGUAGE_ENGLISH = 0, LANGUAGE_CHINESE = 1 };

/* Index of a language by code ("de", "deu", "ger"), BCP 47 tag ("de-AT", "zh_Hant") or English name, any case; -1: unknown. */
int language_find(const char *name);
/* The next one of languages that are separated by commas, without spaces around it: copied to name. @return what follows, NULL: it was the
 * last one */
enum { LANGUAGE_NAME_SZ = 64 };
const char *language_next(const char *list, char name[LANGUAGE_NAME_SZ]);
int language_is_list(const char *name); /* 1: it names several languages, separated by commas; may be NULL */
/* 1: NULL or "auto", in any case: the language is detected from the audio. */
int language_is_auto(const char *name);
/* The index of the language probably meant by an unknown name ("jp", "germann"); -1: no suggestion. */
int language_near(const char *name);
/* Fail with STENO_EARG and list the languages that the model supports: code(0 .. n - 1). */
int language_refuse(steno_error *e, const char *name, const char *(*code)(int i), int n);
const char *language_code(int i); /* of the vocabulary; NULL past the last */
const char *language_name(int i); /* English, in lower case; NULL past the last */
#endif
