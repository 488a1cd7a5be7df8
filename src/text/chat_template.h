/* steno: chat templates of model files. SPDX-License-Identifier: MIT
 *
 * A model's file has a Jinja program that writes its prompts. steno does not run it. It reads the program into a skeleton of its output,
 * and compares the whole skeleton with known forms. A program that is not known as a whole is unknown. */
#ifndef STENO_TEXT_CHAT_TEMPLATE_H
#define STENO_TEXT_CHAT_TEMPLATE_H
#include "base/buf.h"

/* The output of a program in order: its own text, and a code for each other part. */
enum chat_code {
    CHAT_VALUE = 1,   /* value of an expression, such as a message's content */
    CHAT_BOS = 2,     /* bos_token */
    CHAT_EOS = 3,     /* eos_token */
    CHAT_STEP = 4,    /* a statement: if, for, set */
    CHAT_TRIMMED = 5  /* a value without surrounding white space */
};
struct chat_skeleton {
    struct buf text;     /* NUL-terminated */
    struct buf system;   /* the text that such a variable is set to; not terminated if empty */
    int system_computed; /* 1: such a variable is set to a text that contains values */
};
/* Accepts any text; b->text.err and b->system.err report missing memory. The caller frees both. */
void chat_skeleton_read(struct chat_skeleton *b, const char *program);
#endif
