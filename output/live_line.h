/* steno: an event of a live transcript as a line of JSON. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_LIVE_LINE_H
#define STENO_OUT_LIVE_LINE_H
#include "sink.h"
#include <stdint.h>

struct live_line {
    const char *type;     /* partial, final, endpoint */
    int turn;
    int64_t t0_ms, t1_ms; /* -1: null */
    int64_t decoded_ms;   /* end of the decoded audio; -1: null */
    const char *text;
    int spaces;           /* between the final words of the turn so far and the text */
    const char *language; /* NULL or "": left out */
    int64_t latency_ms;   /* written as null if t1_ms is below 0 */
};

void live_line_put(struct sink *s, const struct live_line *l); /* with its line end */

/* {"type":"error","message":...} */
void live_line_error(struct sink *s, const char *message);
#endif
