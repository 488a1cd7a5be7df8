/* steno: URLs in names and messages. SPDX-License-Identifier: MIT
 *
 * A URL may have a password before its host and a signature after a question mark. Everything that is printed or written of a URL passes
 * through here: possible secrets are removed. */
#ifndef STENO_OUT_ADDRESS_H
#define STENO_OUT_ADDRESS_H
#include <stddef.h>

int address_is(const char *text); /* begins with SCHEME:// */

/* Scheme, host and path. `n`: size of out */
void address_shown(char *out, size_t n, const char *address);

/* Replaces all URLs in a text, each up to the next blank, by their shown form, which is never longer. */
void address_hide(char *text);

/* The path that represents an input in names of results. Of a URL: host and path, whose last part is not a folder, or "HOST/HOST" with
 * dashes for dots if there is no path. Otherwise the text itself. @return malloc'd text, or NULL */
char *address_path(const char *input);
#endif
