/* steno: output of writers: bytes, and numbers as text. SPDX-License-Identifier: MIT
 *
 * A writer does not know its target: a file, a socket, or memory. After a sink has refused bytes once, it is not called again. So writers
 * check nothing, and the owner of the sink reads its failed flag afterwards. */
#ifndef STENO_OUT_SINK_H
#define STENO_OUT_SINK_H
#include <stddef.h>
#include <stdio.h>

struct sink {
    int (*write)(void *user, const char *bytes, size_t n); /* 0, or non-zero: no more bytes are accepted */
    void *user;
    int failed; /* 1: some bytes were lost */
};

#if defined(__MINGW32__) /* its "printf" format means Microsoft's */
#define SINK_FORMAT(f, a) __attribute__((format(gnu_printf, f, a)))
#elif defined(__GNUC__)
#define SINK_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define SINK_FORMAT(f, a)
#endif

void sink_bytes(struct sink *s, const char *bytes, size_t n);
void sink_text(struct sink *s, const char *text); /* up to its NUL */
void sink_char(struct sink *s, int c);
void sink_format(struct sink *s, const char *fmt, ...) SINK_FORMAT(2, 3);

struct sink sink_to_stream(FILE *f); /* also sets the stream's error flag */

/* Text that grows in memory. */
struct sink_memory {
    char *p; /* [n], then a NUL; malloc'd, the caller frees it; NULL: nothing was written */
    size_t n, cap;
};

struct sink sink_to_memory(struct sink_memory *m); /* m must stay in place, and be empty: {0} */

/* ---- numbers as Python writes them ------------------------------------------------------------------------------------------- */

enum { NUM_SZ = 64 };

/* The shortest decimal that reads back as v, spelled as Python's repr and json.dump spell it: "3.0", "0.1", "1e-05", "1e+16", "NaN",
 * "Infinity". out has NUM_SZ bytes. @return out */
const char *num_repr(char *out, double v);
#endif
