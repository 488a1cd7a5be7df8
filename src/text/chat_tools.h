/* steno: tools in chat templates of model files. SPDX-License-Identifier: MIT
 *
 * Templates of ChatML that have tools are known in three forms: those of Qwen2.5, Qwen3 and QwQ. The output of such a template is compared
 * from its beginning to its end, and so are the conditions that decide it; only the texts around the definitions are the template's own. */
#ifndef STENO_TEXT_CHAT_TOOLS_H
#define STENO_TEXT_CHAT_TOOLS_H
#include "text/chat.h"

/* The output of a program in order: its own text, and a code for each other part. */
enum chat_code {
    CHAT_VALUE = 1,   /* value of an expression, such as a message's content */
    CHAT_BOS = 2,     /* bos_token */
    CHAT_EOS = 3,     /* eos_token */
    CHAT_STEP = 4,    /* a statement: if, for, set */
    CHAT_TRIMMED = 5  /* a value without surrounding white space */
};

/* Read the tools of a program into out->tools, which stays empty if its form is not known. output: the program's text and codes, without
 * the values of variables that are set, and with one CHAT_STEP for statements that follow each other. STENO_ENOMEM */
int chat_take_tools(struct chat_form *out, const char *program, const char *output, struct arena *a, steno_error *e);
/* Whether a program's statements contain this condition. Both are compared without white space, brackets and kinds of quotes; condition is
 * written so. Returns 1, 0, or STENO_ENOMEM */
int chat_has_condition(const char *program, const char *condition, steno_error *e);
#endif
