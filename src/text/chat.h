/* steno: prompts of chat models. SPDX-License-Identifier: MIT
 *
 * A chat model was trained on turns between markers. Its file has a Jinja program that writes them. steno does not run the program, but
 * recognises its whole form. Markers become control tokens; message contents never do. Tokens that
 * a model has for any text (TOKEN_USER), such as <think> of some models, are also read in contents. A prompt is one text between its
 * special tokens. */
#ifndef STENO_TEXT_CHAT_H
#define STENO_TEXT_CHAT_H
#include "text/tokenizer.h"

enum chat_format {
    CHAT_NONE,
    CHAT_UNKNOWN,       /* the file has a program that is not recognised */
    CHAT_ML,            /* <|im_start|>role */
    CHAT_HEADERS,       /* <|start_header_id|>role<|end_header_id|> */
    CHAT_HEADERS_DATED, /* the same after a knowledge date and the current date */
    CHAT_TURNS,         /* <start_of_turn>role, without system */
    CHAT_TURNS_SYSTEM,  /* the same; a system text precedes the user's content */
    CHAT_INST           /* [INST] user [/INST], of Llama 2 and Mistral */
};

/* The place of the system text in CHAT_INST. */
enum chat_inst_system { CHAT_SYSTEM_NONE, CHAT_SYSTEM_SYS, CHAT_SYSTEM_FIRST, CHAT_SYSTEM_LAST, CHAT_SYSTEM_TURN };
struct chat_inst {
    const char *before, *behind;                            /* around the user's content */
    const char *answer_before, *answer_behind, *answer_end; /* around the assistant's content; answer_end follows eos */
    const char *system_before, *system_behind;              /* CHAT_SYSTEM_TURN */
    int bos_each;                                           /* 1: each user turn begins with bos; 0: only the first */
    int trims_answers;
    enum chat_inst_system system;
};

enum chat_traits {
    CHAT_BEGINS = 1,   /* bos comes first, in every case */
    CHAT_TRIMS = 2,    /* white space around contents is removed */
    CHAT_CAN_THINK = 4, /* an answer has a place for thoughts, which may be left empty */
    CHAT_THINKS = 8,   /* an answer begins with thoughts */
    CHAT_FORGETS = 16, /* thoughts of earlier answers are left out, */
    CHAT_KEEPS = 32,   /* but not of answers to the last question */
    CHAT_WHOLE_LAST = 64 /* or not of an answer that is the last message */
};
/* How a template of CHAT_ML names tools: definitions are lines between head and tail, at the end of the system text. */
struct chat_tools {
    const char *head, *tail; /* NULL: the template has no tools, or another form of them */
    int joins;               /* 1: two line ends precede head also without a system text */
};
struct chat_form {
    enum chat_format format;
    unsigned traits;
    const char *system; /* default for a conversation without a system message; may be NULL */
    int system_computed; /* 1: the default exists, but is computed from values such as a date */
    struct chat_inst inst;
    struct chat_tools tools;
};

/* program may be NULL. STENO_ENOMEM */
int chat_recognise(struct chat_form *out, const char *program, struct arena *a, steno_error *e);
/* The usual form of a format, by the names of the public header. */
struct chat_form chat_usual(enum chat_format format);
enum chat_flags {
    CHAT_ANSWER = 1,     /* begin the assistant's turn */
    CHAT_NO_THINKING = 2 /* leave the thoughts empty, if the format has a place for them */
};
/* Append the ids of n messages to ids. Messages of a form with tools may also have the roles of steno_message for them. STENO_EARG: no
 * format, or a role that the format does not have; STENO_ENOMEM */
int chat_encode(const struct tokenizer *t, const struct chat_form *f, const steno_message *m, int n, unsigned flags, struct buf *ids,
                steno_error *e);
#endif
