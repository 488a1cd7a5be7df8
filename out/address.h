/* steno: addresses of the network in names and messages. SPDX-License-Identifier: MIT
 *
 * An address may have a password before its host and a signature behind a question mark. All that is printed or written of one goes through
 * here: what may be a secret is left out. */
#ifndef STENO_OUT_ADDRESS_H
#define STENO_OUT_ADDRESS_H
#include <stddef.h>

int address_is(const char *text); /* begins with SCHEME:// */

/* Scheme, host and path. `n`: of out */
void address_shown(char *out, size_t n, const char *address);

/* All addresses in a text, each up to the next blank, become what is shown of them, which is not longer. */
void address_hide(char *text);

/* The path that stands for an input in names of results: of an address host and path, whose last part is no folder; "HOST/HOST" with
 * dashes for dots where there is no path. Of all else the text itself. @return malloc'd text, or NULL */
char *address_path(const char *input);
#endif
