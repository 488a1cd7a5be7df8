/* steno-serve: a line of the log for each request. SPDX-License-Identifier: MIT
 *
 * A JSON object on one line, in ASCII. It never has keys or prompts, and a text only if the server's owner asks for it. Texts of clients
 * are short and printable. */
#ifndef STENO_SERVE_ACCESS_LOG_H
#define STENO_SERVE_ACCESS_LOG_H
#include <stddef.h>
#include <stdint.h>

enum { LOG_FILE_MAX = 64, LOG_WORD_MAX = 128 }; /* bytes of a file's name, of other words */

/* Each text may be NULL, and each number negative: not known. */
struct access_record {
    int64_t time_ms;      /* Unix time of the request's head */
    const char *id, *client, *method, *route;
    int code;             /* status; 499: the client left */
    int64_t bytes_in, bytes_out;
    double audio_s, queue_s, total_s;
    const char *model, *language;
    const char *reason;   /* code of an error (api_code_name) */
    const char *file;     /* name of an upload */
    const char *text;     /* written with log_text only */
};

/* The line without its end, malloc'd, [*n]; NULL: out of memory. */
char *access_line(const struct access_record *r, int log_text, size_t *n);
#endif
