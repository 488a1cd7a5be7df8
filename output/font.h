/* steno: the name of a font in its file. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_FONT_H
#define STENO_OUT_FONT_H

enum { FONT_NAME_SZ = 128 };

/* Does the text of an option name a file (a path, or a name with the extension of a font file) and not an installed font? */
int font_is_file(const char *text);

/* Reads the full name of the font in a TrueType or OpenType file, or of the first one in a collection, in UTF-8. @return NULL, or the
 * reason why there is none; static */
const char *font_name(char name[FONT_NAME_SZ], const char *path);
#endif
