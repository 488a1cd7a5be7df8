/* steno: segments on a screen. SPDX-License-Identifier: MIT
 *
 * Tokens can be coloured by their probability, and special tokens can be shown. Files never contain either. */
#ifndef STENO_TOOLS_CONSOLE_H
#define STENO_TOOLS_CONSOLE_H
#include <steno/steno.h>
#include <stdio.h>

#define CONSOLE_COLOR_NAMES "auto|always|never"
enum { CONSOLE_COLOR_NEVER = 2 };

struct console {
    const steno_model *model;
    const steno_session *session;
    int32_t first_timestamp;    /* id of the token for 0.00 s, -1: none */
    int colors, confidence;     /* at most one of the two is set */
    int special;                /* show special tokens */
    const int32_t *speaker;     /* speakers by segment, from the next segment on, as in struct transcript; NULL: no speakers */
};

/* May escape sequences be written to `f`? `when` is an index into CONSOLE_COLOR_NAMES; auto means a terminal that is not dumb, without
 * NO_COLOR in the environment. */
int console_color(FILE *f, int when);

/* Are standard output and standard error the same file, pipe or terminal? */
int console_streams_meet(void);

/* Print the segment's text without white space at both ends, with its speaker and speaker changes; with escape sequences only if
 * `styled`. The segment must be in c->session. */
void console_text(FILE *f, const struct console *c, int styled, const steno_segment *seg);
#endif
