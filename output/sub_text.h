/* steno: text of subtitles without mark-up. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_SUB_TEXT_H
#define STENO_OUT_SUB_TEXT_H
#include "sub_read.h"

/* Appends text to f->text, which must have room. Invalid UTF-8 becomes a question mark. */
void sub_text_put(struct sub_file *f, const char *s, size_t n);

/* Appends a line of the file without its tags, and with entities and escapes replaced. It never becomes longer. */
void sub_text_line(struct sub_file *f, const char *s, size_t n);
#endif
