/* steno: expansion of operands to inputs. SPDX-License-Identifier: MIT
 *
 * A folder expands to its sound files. "@FILE" expands to the names in that file, one per line. A name without a file is used as a
 * pattern. Everything else, including a URL, is an input itself. */
#ifndef STENO_TOOLS_INPUTS_H
#define STENO_TOOLS_INPUTS_H

struct inputs {
    char **file; /* [n] */
    int n, cap;
};

/* Expand the operands; inputs of a folder or a pattern are sorted by name.
 * @param recursive  1: also subfolders
 * @return EXIT_OK, or the exit code to end with, after a message; call inputs_free in both cases */
int inputs_expand(struct inputs *in, char **operands, int n, int recursive);
void inputs_free(struct inputs *in);
#endif
