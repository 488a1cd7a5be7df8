/* steno: an audio file as the source of a session. SPDX-License-Identifier: MIT */
#ifndef STENO_JOB_FILE_SOURCE_H
#define STENO_JOB_FILE_SOURCE_H
#include <steno/media.h>

/* Opens it. @return a status, with the reason in *e; never STENO_EARG for a bad file */
int file_source_open(steno_media **m, const char *file, const steno_media_params *p, steno_error *e);

/* Status and reason of a failed call of `s` that read `m`. They are those of the source if it caused the failure. s is NULL if the source
 * itself failed. */
int file_source_status(const char **reason, const steno_media *m, const steno_session *s, int status);

/* Audio of the file that could not be decoded. @return bits as in transcript.lost, 0: nothing is known to be missing */
unsigned file_source_lost(const steno_media_state *s);

/* How much later its audio begins than the file. */
int64_t file_source_start_ms(const steno_media *m);

enum { FILE_SOURCE_TRUNCATED = 1, FILE_SOURCE_DAMAGED = 2 };
#endif
