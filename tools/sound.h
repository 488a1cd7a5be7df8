/* steno: the sound file that a verb hears. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SOUND_H
#define STENO_TOOLS_SOUND_H
#include "steno_media.h"

/* Open it; pipes are spooled in TMPDIR. @return a status, with the reason in *e; see signals_pending when it is STENO_ECANCELED */
int sound_open(steno_media **m, const char *file, steno_error *e);

/* What a message calls it. */
const char *sound_name(const char *file);

/* Status and reason of a failed call of `s` (NULL: the source itself failed) that heard `m`: where the source is to blame, they are its. */
int sound_status(const char **reason, const steno_media *m, const steno_session *s, int status);

/* Tell that a verb's one input failed: could not be opened, or, below, a call that heard it. @return the exit code to end with */
int sound_failed(const char *file, int status, const char *reason);
int sound_call_failed(const char *file, const steno_media *m, const steno_session *s, int status);

/* Tell what of the file could not be heard. @return bits as in transcript.lost, 0: nothing is known to be missing */
unsigned sound_lost(const steno_media *m, const char *file);
enum { SOUND_TRUNCATED = 1, SOUND_DAMAGED = 2 };
#endif
