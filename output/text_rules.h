/* steno: characters of a text in each format. SPDX-License-Identifier: MIT
 *
 * Texts, names and titles come from models, files and users, and may contain any character. In every format some characters end lines,
 * begin commands or control a terminal. Their treatment is decided only here: every writer, and all terminal output, passes foreign text
 * through text_put. Text without such characters is not changed. */
#ifndef STENO_OUT_TEXT_RULES_H
#define STENO_OUT_TEXT_RULES_H
#include "sink.h"
#include <stddef.h>

/* Context of a text. */
enum text_form {
    TEXT_LINE,     /* a line of plain text */
    TEXT_LINES,    /* plain text with several lines */
    TEXT_SRT,
    TEXT_VTT,
    TEXT_VTT_NAME, /* name of a voice, in a tag */
    TEXT_CSS,      /* a string in a vtt style */
    TEXT_TSV,      /* a cell */
    TEXT_CSV,      /* a quoted cell; the writer adds the quotes */
    TEXT_LRC,
    TEXT_ASS,
    TEXT_ASS_NAME, /* a field of ass other than the last one */
    TEXT_JSON,     /* inside a string with characters beyond ASCII unescaped */
    TEXT_PIECE,    /* part of a line of plain text; may be a part of a character */
    TEXT_TOKEN,    /* part of a row, before a tab; may be a part of a character */
    TEXT_DRAWTEXT, /* whisper-cli's wts: a filter's text in single quotes, inside the shell's double quotes; may be a part of a character */
    TEXT_SCREEN,   /* a line on standard error */
    TEXT_TERMINAL, /* any output to a terminal */
    N_TEXT_FORMS
};

void text_put(struct sink *f, enum text_form form, const char *s, size_t n);

/* Writes s as one shell word in single quotes. Control characters, and bytes that are not UTF-8, are written in octal. */
void text_put_shell(struct sink *f, const char *s);

/* A sink that passes its text to `to` by the rules of a form. A character must not be split between two writes. */
struct text_gate { struct sink *to; enum text_form form; };
struct sink text_through(struct text_gate *gate);
#endif
