/* steno: figures measured on machines, kept in a file. SPDX-License-Identifier: MIT
 *
 * A line is "KEY<tab>FIGURE<tab>FIGURE...". Keys begin as machine_key's, so figures of another version or another machine, which may
 * share the folder, do not serve. A damaged line is as none. */
#ifndef STENO_TOOLS_FIGURES_H
#define STENO_TOOLS_FIGURES_H

#define FIGURES_FILE "speed.tsv" /* in ~/.cache/steno */

enum { FIGURES_KEY_SZ = 400, FIGURES_MOST = 4 };

/* Read the n figures (at most FIGURES_MOST) of `key` from a line. @return 1, or 0: the line has another key, another number of figures, or
 * one that no machine can have (not between 0.01 and a million) */
int figures_line(double *v, int n, const char *line, const char *key);

int figures_find(double *v, int n, const char *path, const char *key); /* @return 1, or 0: the file has no such line */

/* Replace the line of `key`, or add it. The latest 63 lines of other keys stay. Of programs that write at the same time each keeps the
 * lines of the others, where folders can be locked (not on Windows). @return 1, or 0: the file cannot be written */
int figures_keep(const char *path, const char *key, const double *v, int n);
#endif
