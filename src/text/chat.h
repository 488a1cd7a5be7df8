/* steno: prompts of chat models. SPDX-License-Identifier: MIT
 *
 * A model was trained on turns between markers. Its file has a program (Jinja) that writes them; here it is not run, but recognised by the
 * markers that it writes. Markers become control tokens, what people have written never does. */
#ifndef STENO_TEXT_CHAT_H
#define STENO_TEXT_CHAT_H
#include "text/tokenizer.h"

enum chat_format {
    CHAT_NONE,
    CHAT_ML,            /* <|im_start|>role */
    CHAT_HEADERS,       /* <|start_header_id|>role<|end_header_id|> */
    CHAT_HEADERS_DATED, /* the same behind a date and what was known when */
    CHAT_TURNS,         /* <start_of_turn>role, without system */
    CHAT_TURNS_SYSTEM,  /* the same; a system's text stands before the user's */
    CHAT_INST           /* [INST] user [/INST] */
};
enum chat_format chat_recognise(const char *program); /* NULL is allowed */

enum chat_flags {
    CHAT_ANSWER = 1,     /* the assistant's turn begins */
    CHAT_NO_THINKING = 2 /* and has nothing to think about, where the format knows such a thing */
};
/* Ids of n messages, appended to ids. STENO_EARG: a role that the format does not know, or no format; STENO_ENOMEM */
int chat_encode(const struct tokenizer *t, enum chat_format f, const steno_message *m, int n, unsigned flags, struct buf *ids,
                steno_error *e);
#endif
