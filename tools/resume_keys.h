/* steno: what an input is known by. SPDX-License-Identifier: MIT
 *
 * A key says in lines of text what an input is transcribed from, and by what: the input, the version of steno, the model, the processor and
 * the options. The first word of a line names what it is about. */
#ifndef STENO_TOOLS_RESUME_KEYS_H
#define STENO_TOOLS_RESUME_KEYS_H
#include "resume.h"
#include <sys/stat.h>

/* Whether it is a file that is the same when it is read again; *st: of it. */
int resume_is_kept(const struct resume *r, const char *file, struct stat *st);

/* These are malloc'd; NULL: no memory. */
char *resume_folder_of(const struct resume *r, const char *file); /* "DIR/.steno_resume" of an input */
/* "DIR/.steno_resume/0123456789abcdef.0": of a channel of an input's track */
char *resume_path_of(const struct resume *r, const char *file, int track, int channel);
char *resume_key_of(const struct resume *r, const char *file, const struct stat *st);

const char *resume_difference(const char *ours, const char *theirs); /* what two keys differ in */
const char *resume_difference_of(const char *word); /* what it is where the line of that word is the first to differ */
#endif
