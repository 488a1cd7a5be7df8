/* steno-serve: the messages of a chat. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ASK_MESSAGES_H
#define STENO_SERVE_ASK_MESSAGES_H
#include "ask_tools.h"

#define CHAT_ROLES "system|developer|user|assistant|tool"
enum { CHAT_MESSAGES_MAX = 4096, CHAT_CALLS_MAX = 128 }; /* calls of one message */

struct ask_messages {
    steno_message *all;  /* [n] for steno_chat_tokenize: definitions of tools, then messages, each followed by its calls */
    char **made;         /* [n] contents that are not in the body as they are; NULL: they are */
    int n;
    int have_tools;      /* 1: some need a model with tools */
};

/* Reads `messages`. The result points into root and tools. @return API_OK or a code, in *e. Call ask_messages_free in both cases */
int ask_messages_read(struct ask_messages *m, const json_t *root, const struct ask_tools *tools, struct api_error *e);
void ask_messages_free(struct ask_messages *m);
#endif
