/* steno: what a text may contain in each format. SPDX-License-Identifier: MIT
 *
 * Texts, names and titles come from models, files and people, and may contain any character. A format has characters that end its lines,
 * begin its commands or steer a terminal. This is the one place that decides what becomes of them: every writer, and every way to a
 * terminal, passes foreign text through text_put. Text without such characters is written as it is. */
#ifndef STENO_OUT_TEXT_RULES_H
#define STENO_OUT_TEXT_RULES_H
#include "sink.h"
#include <stddef.h>

/* Where a text stands. */
enum text_form {
    TEXT_LINE,     /* a line of plain text */
    TEXT_LINES,    /* plain text whose lines stay lines */
    TEXT_SRT,
    TEXT_VTT,
    TEXT_VTT_NAME, /* of a voice, in a tag */
    TEXT_CSS,      /* a string of a style in vtt */
    TEXT_TSV,      /* a cell */
    TEXT_CSV,      /* a cell in quotes, which the writer puts */
    TEXT_LRC,
    TEXT_ASS,
    TEXT_ASS_NAME, /* a field of ass that is not the last one */
    TEXT_JSON,     /* inside of a string whose characters beyond ASCII are written as they are */
    TEXT_PIECE,    /* of a line of plain text; a part of a character may come */
    TEXT_TOKEN,    /* of a row, before a tab; a part of a character may come */
    TEXT_DRAWTEXT, /* whisper-cli's wts: a filter's text in single quotes, in double quotes of the shell; a part of a character may come */
    TEXT_SCREEN,   /* a line of standard error */
    TEXT_TERMINAL, /* any output, before a terminal sees it */
    N_TEXT_FORMS
};

void text_put(struct sink *f, enum text_form form, const char *s, size_t n);

/* s as one word of the shell, in single quotes. What a terminal or an editor would obey, and bytes that are not UTF-8, are spelled in
 * octal. */
void text_put_shell(struct sink *f, const char *s);

/* A sink that passes all that is written to it on to `to` by the rules of a form. A character must not be cut between two writes. */
struct text_gate { struct sink *to; enum text_form form; };
struct sink text_through(struct text_gate *gate);
#endif
