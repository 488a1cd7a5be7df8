/* steno-serve: bodies of /v1/chat/completions as parameters of steno_generate. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ASK_CHAT_H
#define STENO_SERVE_ASK_CHAT_H
#include "ask_messages.h"

#define CHAT_EFFORTS "none|minimal|low|medium|high|xhigh" /* of reasoning_effort */
enum { CHAT_STOPS_MAX = 16, CHAT_CHOICES_MAX = 16, CHAT_TOP_MAX = 20 };

struct ask_chat {
    const char *model;       /* "": the default */
    struct ask_tools tools;
    struct ask_messages messages;
    int n;                   /* number of choices, at least 1 */
    int logprobs;            /* 1: log-probabilities of the chosen tokens, */
    int top_logprobs;        /* and of this number of the most probable ones at their places */
    int stream, has_usage;   /* has_usage: stream_options.include_usage */
    int no_thinking;         /* reasoning_effort none, or chat_template_kwargs.enable_thinking false */
    char ignored[ASK_IGNORED]; /* fields without effect, for the header steno-ignored; "": none */
    int32_t *ids;            /* [n_ids] set by ask_chat_fill */
    int n_ids;
    /* memory that the parameters point to */
    json_t *root;
    char *schema;
    const char *stop[CHAT_STOPS_MAX];
};

/* Reads what needs no model. @return API_OK or a code, in *e. Call ask_chat_free in both cases */
int ask_chat_read(struct ask_chat *c, const char *body, size_t n, int is_strict, struct api_error *e);
/* Changes the parameters, which hold the defaults, and tokenizes the messages. The parameters point into *c. @return API_OK or a code */
int ask_chat_fill(struct ask_chat *c, steno_generate_params *p, const steno_model *m, struct api_error *e);
void ask_chat_free(struct ask_chat *c);
#endif
