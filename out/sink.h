/* steno: where text goes. SPDX-License-Identifier: MIT
 *
 * Writers do not know what they write to: a file, a socket, memory. A sink that has refused bytes once is asked no more, so a writer looks
 * at nothing; whoever owns the sink sees afterwards that it has failed. */
#ifndef STENO_OUT_SINK_H
#define STENO_OUT_SINK_H
#include <stddef.h>
#include <stdio.h>

struct sink {
    int (*write)(void *user, const char *bytes, size_t n); /* 0, or anything else: it can take no more */
    void *user;
    int failed; /* 1: not all that was written has arrived */
};

#if defined(__GNUC__)
#define SINK_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define SINK_FORMAT(f, a)
#endif

void sink_bytes(struct sink *s, const char *bytes, size_t n);
void sink_text(struct sink *s, const char *text); /* up to its NUL */
void sink_char(struct sink *s, int c);
void sink_format(struct sink *s, const char *fmt, ...) SINK_FORMAT(2, 3);

struct sink sink_to_stream(FILE *f); /* errors are those of the stream, too */

/* Text that grows in memory. */
struct sink_memory {
    char *p; /* [n], then a NUL; malloc'd, the caller's to free; NULL: nothing was written */
    size_t n, cap;
};

struct sink sink_to_memory(struct sink_memory *m); /* m stays where it is, and is empty: {0} */
#endif
