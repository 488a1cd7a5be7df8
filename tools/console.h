/* steno: segments as people see them on a screen. SPDX-License-Identifier: MIT
 *
 * Tokens can be coloured by how sure the model was of them, and special tokens shown. Files never contain any of this. */
#ifndef STENO_TOOLS_CONSOLE_H
#define STENO_TOOLS_CONSOLE_H
#include <steno/steno.h>
#include <stdio.h>

#define CONSOLE_COLOR_NAMES "auto|always|never"
enum { CONSOLE_COLOR_NEVER = 2 };

struct console {
    const steno_model *model;
    const steno_session *session;
    int32_t first_timestamp;    /* id of the token that means 0.00 s, -1: none */
    int colors, confidence;     /* at most one of the two */
    int special;                /* show special tokens */
    const int32_t *speaker;     /* of the next segment, as in struct transcript; NULL: no speakers */
};

/* Whether escape sequences may go to `f`: `when` is an index into CONSOLE_COLOR_NAMES; auto means a terminal that is not dumb, without
 * NO_COLOR in the environment. */
int console_color(FILE *f, int when);

/* Whether standard output and standard error are one file, pipe or terminal. */
int console_streams_meet(void);

/* The segment's text without white space at its ends, with who speaks and whether that changes; with escape sequences only when `styled`.
 * The segment must be in c->session. */
void console_text(FILE *f, const struct console *c, int styled, const steno_segment *seg);
#endif
