/* steno-serve: the choices of a chat: texts that continue one conversation, and the answer that holds them. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_CHOICES_H
#define STENO_SERVE_CHOICES_H
#include "answer_chat.h"
#include "ask_chat.h"
#include "event_stream.h"
#include <pthread.h>

struct choice;

/* Begins as { 0 }; a member of a call's request. */
struct choices {
    struct call *call;
    struct ask_chat *chat;
    struct event_stream events;
    pthread_mutex_t lock;
    /* with the lock */
    struct choice *choice;     /* [n] each has work of its own, with the same ids and another seed */
    int n, n_left;             /* n_left: those that have not ended */
    struct chat_reply reply;
    steno_generate_params generate; /* of the first one that was prepared */
    int is_filled;
    struct api_error fill_error, error; /* error: why the first one that failed did */
};

/* Submits them. When all have ended, the answer is given, and the call dropped. @return API_OK or a code, in *e: nothing was submitted */
int choices_submit(struct choices *c, struct call *call, struct ask_chat *chat, struct engine *g, struct api_error *e);
void choices_cancel(struct choices *c); /* any thread */
void choices_free(struct choices *c);
#endif
