/* steno: the sound file that a verb hears. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SOUND_H
#define STENO_TOOLS_SOUND_H
#include "notes.h"
#include "steno_media.h"
#include <stdio.h>

/* How it is opened: pipes are spooled in TMPDIR, a signal gives up. */
void sound_params(steno_media_params *p);

/* Open it; pipes are spooled in TMPDIR. @return a status, with the reason in *e; see signals_pending when it is STENO_ECANCELED */
int sound_open(steno_media **m, const char *file, steno_error *e);

/* What is printed or written of its name: of an address what cannot be secret. Good until the thread's next call with an address. */
const char *sound_shown(const char *file);

/* A reason that may begin with the whole address, without it. */
const char *sound_reason(const char *file, const char *reason);

/* What a message calls it: the same, or "standard input". */
const char *sound_name(const char *file);

/* Tell that a verb's one input failed: could not be opened, or, below, a call that heard it. @return the exit code to end with */
int sound_failed(const char *file, int status, const char *reason);
int sound_call_failed(const char *file, const steno_media *m, const steno_session *s, int status);

/* Behind a model that could not be opened (code is EXIT_MODEL): tell which of file[n] are not there, so that both can be mended.
 * @return code */
int sound_tell_missing(int code, char *const *file, int n);

/* Print what of the file could not be read. */
void sound_lost(const steno_media *m, const char *file);

/* Print notes on a result, but those that sound_lost prints. NULL is allowed */
void sound_notes(const char *file, const struct notes *n);

void sound_notes_print(const struct notes *n); /* all of them, of what is no file */

/* The same as a member of an object in JSON, behind others; nothing where there are none. */
void sound_notes_json(FILE *f, const struct notes *n);
#endif
