/* steno: text of subtitles without its mark-up. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_SUB_TEXT_H
#define STENO_OUT_SUB_TEXT_H
#include "sub_read.h"

/* Put text behind f->text, which has room for it. What is not UTF-8 is a question mark. */
void sub_text_put(struct sub_file *f, const char *s, size_t n);

/* The same of a line of the file, without its tags, with what its entities and escapes stand for; never longer than the line. */
void sub_text_line(struct sub_file *f, const char *s, size_t n);
#endif
