/* steno: what a font file is called. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_FONT_H
#define STENO_OUT_FONT_H

enum { FONT_NAME_SZ = 128 };

/* Whether the text of an option names a file (a path, or a name that ends like a font file's), not an installed font. */
int font_is_file(const char *text);

/* The full name of the font in a TrueType or OpenType file, or of the first one in a collection, in UTF-8.
 * @return NULL, or why there is none; static */
const char *font_name(char name[FONT_NAME_SZ], const char *path);
#endif
