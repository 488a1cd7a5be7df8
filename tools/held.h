/* steno: text that waits for its turn. SPDX-License-Identifier: MIT
 *
 * A stream into memory that knows when memory was missing: the C library's own loses characters then without a word. */
#ifndef STENO_TOOLS_HELD_H
#define STENO_TOOLS_HELD_H
#include <stddef.h>
#include <stdio.h>

struct held { /* stays where it is while its stream is open */
    char *p;   /* [n], malloc'd */
    size_t n, cap;
    int lost;  /* 1: not all had room */
    char buffer[1 << 12];
};

FILE *held_open(struct held *h); /* @return a stream to write to, or NULL: no memory */

/* Close it. @return 0, and h->p is the caller's, or -1: it is incomplete, and nothing is left of it */
int held_close(FILE *f, struct held *h);
#endif
