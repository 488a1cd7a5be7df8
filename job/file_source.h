/* steno: a sound file that a session hears. SPDX-License-Identifier: MIT */
#ifndef STENO_JOB_FILE_SOURCE_H
#define STENO_JOB_FILE_SOURCE_H
#include "steno_media.h"

/* Open it. @return a status, with the reason in *e; a file is never an argument of no sense */
int file_source_open(steno_media **m, const char *file, const steno_media_params *p, steno_error *e);

/* Status and reason of a failed call of `s` (NULL: the source itself failed) that heard `m`: where the source is to blame, they are its. */
int file_source_status(const char **reason, const steno_media *m, const steno_session *s, int status);

/* What of it could not be heard. @return bits as in transcript.lost, 0: nothing is known to be missing */
unsigned file_source_lost(const steno_media *m);

/* By how much its sound begins later than the file. */
int64_t file_source_start_ms(const steno_media *m);

enum { FILE_SOURCE_TRUNCATED = 1, FILE_SOURCE_DAMAGED = 2 };
#endif
