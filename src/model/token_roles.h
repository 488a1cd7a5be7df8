/* steno: what special tokens are for. SPDX-License-Identifier: MIT
 *
 * A family that decodes token by token says which id plays which part. Whoever makes prompts, rules and segments asks for a part and does
 * not know how the family spells it. */
#ifndef STENO_MODEL_TOKEN_ROLES_H
#define STENO_MODEL_TOKEN_ROLES_H
#include <stdint.h>

/* A model without special tokens: no_token_roles. */
struct token_roles {
    int32_t n_vocab;
    int32_t n_text;                 /* ids below are text, all others are special */
    int32_t n_languages;            /* languages 0 .. n-1 of text/language.h have tokens, from first_language on; 0: none has */
    int32_t timestamp_begin;        /* the time 0; later ones follow up to the end of the vocabulary. n_vocab: there are none */
    /* -1: the family has no such token. */
    int32_t eot, sot;               /* end of text, start of a transcript */
    int32_t first_language;
    int32_t translate, transcribe;  /* tasks */
    int32_t turn;                   /* another speaker goes on */
    int32_t previous;               /* text before the window follows */
    int32_t no_speech, no_timestamps;
    int32_t blank;                  /* " " */
};

static const struct token_roles no_token_roles = { .timestamp_begin = -1, .eot = -1, .sot = -1, .first_language = -1, .translate = -1,
                                                   .transcribe = -1, .turn = -1, .previous = -1, .no_speech = -1, .no_timestamps = -1,
                                                   .blank = -1 };
#endif
