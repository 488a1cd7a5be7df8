/* steno: recording an error. SPDX-License-Identifier: MIT
 *
 * One call records a reason and returns its status, so that a check reads `return err_set(e, STENO_EFORMAT, "%s: …", path)`. This is
 * the only header below src/lib that includes the public one: status codes are the project's common vocabulary. */
#ifndef STENO_BASE_ERR_H
#define STENO_BASE_ERR_H
#include <steno/steno.h>

#if defined(__MINGW32__) /* its "printf" format means Microsoft's */
#define PRINTF_LIKE(f, a) __attribute__((format(gnu_printf, f, a)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Record status and text in *e and return status. e may be NULL. Control characters become '?', the text is cut to fit. */
int err_set(steno_error *e, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The common case: "out of memory: NEED bytes for WHAT". */
int err_nomem(steno_error *e, size_t need, const char *what);

void err_clear(steno_error *e);

const char *err_status_text(int status); /* the meaning of a status, in a few words */
#endif
