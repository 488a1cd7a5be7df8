/* steno-serve: calls of tools in the text of a model. SPDX-License-Identifier: MIT
 *
 * A call is JSON between <tool_call> and </tool_call>. What is not the call of a tool that is allowed stays text, as the model wrote it, as
 * does a call without an end. White space before a call belongs to neither. */
#ifndef STENO_SERVE_CALL_READER_H
#define STENO_SERVE_CALL_READER_H
#include "ask_tools.h"
#include "sink.h"

struct call_reader {
    const struct ask_tools *tools;
    /* Both return non-zero to end the text. item: [n] an object of tool_calls, without its index, and without its first brace */
    int (*text)(void *user, const char *text, size_t n);
    int (*call)(void *user, int index, const char *item, size_t n);
    void *user;
    int n_calls;
    /* its own */
    struct sink_memory held; /* bytes that may belong to a call */
    struct sink to_held;
    size_t searched;         /* of a call: bytes of held without its end */
    int in_call;
    int is_over;             /* after one call, with parallel_tool_calls false */
};

/* Set the first four members before, and the others to 0. r must stay in place. */
void call_reader_begin(struct call_reader *r);
/* @return non-zero: the text ends: by text or call, after the only call that is allowed, or without memory (to_held.failed) */
int call_reader_add(struct call_reader *r, const char *text, size_t n);
int call_reader_end(struct call_reader *r); /* what is left */
void call_reader_free(struct call_reader *r);
#endif
