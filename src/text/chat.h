/* steno: prompts of chat models. SPDX-License-Identifier: MIT
 *
 * A model was trained on turns between markers. Its file has a program (Jinja) that writes them; here it is not run, but its whole form is
 * recognised. Markers become control tokens, what people have written never does. A prompt is one text between its special tokens. */
#ifndef STENO_TEXT_CHAT_H
#define STENO_TEXT_CHAT_H
#include "text/tokenizer.h"

enum chat_format {
    CHAT_NONE,
    CHAT_UNKNOWN,       /* there is a program, which is not known */
    CHAT_ML,            /* <|im_start|>role */
    CHAT_HEADERS,       /* <|start_header_id|>role<|end_header_id|> */
    CHAT_HEADERS_DATED, /* the same behind a date and what was known when */
    CHAT_TURNS,         /* <start_of_turn>role, without system */
    CHAT_TURNS_SYSTEM,  /* the same; a system's text stands before the user's */
    CHAT_INST           /* [INST] user [/INST], Llama 2's and Mistral's */
};

/* Where the system's text goes in CHAT_INST. */
enum chat_inst_system { CHAT_SYSTEM_NONE, CHAT_SYSTEM_SYS, CHAT_SYSTEM_FIRST, CHAT_SYSTEM_LAST, CHAT_SYSTEM_TURN };
struct chat_inst {
    const char *before, *behind;                            /* of what the user says */
    const char *answer_before, *answer_behind, *answer_end; /* of what the assistant says; the last one stands behind eos */
    const char *system_before, *system_behind;              /* CHAT_SYSTEM_TURN */
    int bos_each;                                           /* each turn of the user begins with bos, else the first alone */
    int trims_answers;
    enum chat_inst_system system;
};

enum chat_traits {
    CHAT_BEGINS = 1,   /* bos goes before it all, whatever its text is */
    CHAT_TRIMS = 2,    /* white space around contents goes */
    CHAT_CAN_THINK = 4, /* an answer has a place for thoughts, which can be left empty */
    CHAT_THINKS = 8    /* an answer begins with thoughts */
};
struct chat_form {
    enum chat_format format;
    unsigned traits;
    const char *system; /* of a conversation that has no such message; NULL: none */
    int system_computed; /* 1: there is such a text, which is made of values such as a date */
    struct chat_inst inst;
};

/* program: NULL is allowed. STENO_ENOMEM */
int chat_recognise(struct chat_form *out, const char *program, struct arena *a, steno_error *e);
/* The usual form of a format, as the public header names them. */
struct chat_form chat_usual(enum chat_format format);
enum chat_flags {
    CHAT_ANSWER = 1,     /* the assistant's turn begins */
    CHAT_NO_THINKING = 2 /* and has nothing to think about, where the format knows such a thing */
};
/* Ids of n messages, appended to ids. STENO_EARG: a role that the format does not know, or no format; STENO_ENOMEM */
int chat_encode(const struct tokenizer *t, const struct chat_form *f, const steno_message *m, int n, unsigned flags, struct buf *ids,
                steno_error *e);
#endif
