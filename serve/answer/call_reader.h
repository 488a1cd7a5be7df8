/* steno-serve: calls of tools in the text of a model. SPDX-License-Identifier: MIT
 *
 * A call is JSON between <tool_call> and </tool_call>, which texts in the JSON may have too. What is not the call of a tool that is allowed
 * stays text, as the model wrote it, as does a call without an end; only its first mark is passed, so a call may follow at once. White
 * space before a call, at most 1 KiB, belongs to neither, nor does white space at the end of a text with calls. A text is read in linear
 * time. Thoughts are text as any other: a call in them is a call. */
#ifndef STENO_SERVE_CALL_READER_H
#define STENO_SERVE_CALL_READER_H
#include "ask_tools.h"
#include "sink.h"

struct call_scan {
    size_t at; /* bytes of held that were read */
    int state, depth, n_closing;
};

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
    size_t n_white;          /* white space at the beginning of held, which precedes the mark of a call if in_call */
    int in_call;
    struct call_scan scan;
    int is_over;             /* after one call, with parallel_tool_calls false */
};

/* Set the first four members before, and the others to 0. r must stay in place. */
void call_reader_begin(struct call_reader *r);
/* @return non-zero: the text ends: by text or call, after the only call that is allowed, or without memory (to_held.failed) */
int call_reader_add(struct call_reader *r, const char *text, size_t n);
int call_reader_end(struct call_reader *r); /* what is left */
void call_reader_free(struct call_reader *r);
#endif
