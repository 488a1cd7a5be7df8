/* steno: chat templates of model files. SPDX-License-Identifier: MIT
 *
 * A model's file has a program (Jinja) that writes its prompts. It is not run: it is read into a skeleton of what it writes, and the whole
 * skeleton is compared with the forms that are known. A program that is not known in whole is not known. */
#ifndef STENO_TEXT_CHAT_TEMPLATE_H
#define STENO_TEXT_CHAT_TEMPLATE_H
#include "base/buf.h"

/* What a program writes, in its order: its own text, and a code for each other thing. */
enum chat_code {
    CHAT_VALUE = 1,   /* of an expression, such as a message's content */
    CHAT_BOS = 2,     /* bos_token */
    CHAT_EOS = 3,     /* eos_token */
    CHAT_STEP = 4,    /* a statement: if, for, set */
    CHAT_TRIMMED = 5  /* a value without the white space around it */
};
struct chat_skeleton {
    struct buf text;     /* NUL-terminated */
    struct buf system;   /* a variable of this kind is set to this text; not terminated where it is empty */
    int system_computed; /* such a variable is set to a text with values in it */
};
/* Any text; b->text.err and b->system.err say of missing memory. Both are the caller's to free. */
void chat_skeleton_read(struct chat_skeleton *b, const char *program);
#endif
