/* steno: what inputs an operand stands for. SPDX-License-Identifier: MIT
 *
 * A folder stands for the sound files in it, "@FILE" for the names in a file, a line each, and a name that no file has for the files that
 * fit it as a pattern. All else, addresses too, stands for itself. */
#ifndef STENO_TOOLS_INPUTS_H
#define STENO_TOOLS_INPUTS_H

struct inputs {
    char **file; /* [n] */
    int n, cap;
};

/* The inputs that operands stand for; those of a folder or a pattern in the order of their names.
 * @param recursive  1: folders in folders, too
 * @return EXIT_OK, or the exit code to end with, after a message; inputs_free in any case */
int inputs_expand(struct inputs *in, char **operands, int n, int recursive);
void inputs_free(struct inputs *in);
#endif
