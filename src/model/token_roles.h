/* steno: roles of special tokens. SPDX-License-Identifier: MIT
 *
 * A family that decodes token by token assigns an id to each role. Code that makes prompts, rules and segments uses roles, and does not
 * depend on the family's spelling. */
#ifndef STENO_MODEL_TOKEN_ROLES_H
#define STENO_MODEL_TOKEN_ROLES_H
#include <stdint.h>

/* no_token_roles is for models without special tokens. */
struct token_roles {
    int32_t n_vocab;
    int32_t n_text;                 /* ids less than this are text, all others are special */
    int32_t n_languages;            /* languages 0 .. n-1 of text/language.h have tokens, starting with first_language; 0: none */
    int32_t timestamp_begin;        /* timestamp 0; later ones follow up to the end of the vocabulary. n_vocab: there are none */
    /* -1: the family has no such token. */
    int32_t eot, sot;               /* end-of-text, start of transcript */
    int32_t first_language;
    int32_t translate, transcribe;  /* tasks */
    int32_t turn;                   /* speaker turn */
    int32_t previous;               /* start of previous text */
    int32_t no_speech, no_timestamps;
    int32_t blank;                  /* " " */
};

static const struct token_roles no_token_roles = { .timestamp_begin = -1, .eot = -1, .sot = -1, .first_language = -1, .translate = -1,
                                                   .transcribe = -1, .turn = -1, .previous = -1, .no_speech = -1, .no_timestamps = -1,
                                                   .blank = -1 };
#endif
