/* steno-serve: tools of chats: their definitions, and which of them may or must be called. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ASK_TOOLS_H
#define STENO_SERVE_ASK_TOOLS_H
#include "ask_json.h"

#define TOOL_CHOICES "none|auto|required" /* in the order of enum tools_mode */
enum { TOOLS_MAX = 128, TOOL_NAME_MAX = 64 };

enum tools_mode { TOOLS_OFF, TOOLS_AUTO, TOOLS_REQUIRED }; /* off: the model is told of no tools, and its text is not read for calls */

struct ask_tools {
    enum tools_mode mode;
    int is_single;           /* parallel_tool_calls false: the text ends after one call */
    int is_held;             /* a grammar allows no other calls than those of the allowed tools, with arguments of their schemas */
    int n;                   /* definitions, all of which the prompt has */
    const json_t *function[TOOLS_MAX];
    char *definition[TOOLS_MAX]; /* [n] JSON, as the prompt has it */
    const char *name[TOOLS_MAX]; /* [n_names] of those that may be called */
    int n_names;
    char *schema, *grammar;  /* NULL: not held. The schema is of one call, and the grammar's rule json-schema */
};

/* Reads tools, tool_choice and parallel_tool_calls. @return API_OK or a code, in *e. Call ask_tools_free in both cases */
int ask_tools_read(struct ask_tools *t, const json_t *root, struct api_error *e);
int ask_tools_allow(const struct ask_tools *t, const char *name);
void ask_tools_free(struct ask_tools *t);
#endif
