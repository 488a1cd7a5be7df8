/* steno: keys of inputs. SPDX-License-Identifier: MIT
 *
 * A key identifies a transcription in lines of text: the input, the version of steno, the model, the processor and the options. The
 * first word of a line names its subject. */
#ifndef STENO_TOOLS_RESUME_KEYS_H
#define STENO_TOOLS_RESUME_KEYS_H
#include "input/resume.h"
#include <sys/stat.h>

/* Is it a file that gives the same bytes when read again? *st receives its stat. */
int resume_is_kept(const struct resume *r, const char *file, struct stat *st);

/* The following return malloc'd text, or NULL if out of memory. */
char *resume_folder_of(const struct resume *r, const char *file); /* "DIR/.steno_resume" for an input */
/* "DIR/.steno_resume/0123456789abcdef.0" for one channel of an input's track */
char *resume_path_of(const struct resume *r, const char *file, int track, int channel);
/* A result's name below the output folder, with words in place of language, date and time, and without its mark */
char *resume_name_of(const struct out_naming *naming, const char *file, int format);
char *resume_key_of(const struct resume *r, const char *file, const struct stat *st);

const char *resume_difference(const char *ours, const char *theirs); /* names the first difference of two keys */
const char *resume_difference_of(const char *word); /* names the difference if the first differing line begins with that word */
#endif
