/* steno: messages between the process that controls a batch and its workers. SPDX-License-Identifier: MIT
 *
 * Both ends are the same program, so a message is a struct and the bytes after it. */
#ifndef STENO_TOOLS_BATCH_PIPES_H
#define STENO_TOOLS_BATCH_PIPES_H
#include "batch/worker.h"

enum pipe_kind { PIPE_INPUT /* to a worker: a line of the manifest */, PIPE_BEGUN, PIPE_DONE /* and a result */, PIPE_STOPPED };

struct pipe_message {
    uint32_t kind, n;         /* n: bytes after it */
    int32_t tag;              /* names the input; chosen by the controller */
    int32_t attempt, is_alone;
    int64_t number;           /* of the input in the manifest */
    struct batch_done done;   /* its line counts in the controller only */
};

/* Bytes that were read and not yet taken, or are not yet written. */
struct pipe_buffer { char *p; size_t n, cap; };
int pipe_buffer_add(struct pipe_buffer *b, const void *bytes, size_t n); /* @return 0, or -1 if out of memory */
/* The first message if it is complete. @return its bytes, [m->n], valid until pipe_buffer_drop, or NULL */
const char *pipe_buffer_first(const struct pipe_buffer *b, struct pipe_message *m);
void pipe_buffer_drop(struct pipe_buffer *b, size_t n); /* removes n bytes from the front */

/* ---- a worker's end ---------------------------------------------------------------------------------------------------------- */

struct pipe_worker { int from, to; };

struct batch_source pipe_worker_source(struct pipe_worker *p);
#endif
