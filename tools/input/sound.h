/* steno: the input file of a verb. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SOUND_H
#define STENO_TOOLS_SOUND_H
#include "findings.h"
#include "transcript.h"
#include <steno/media.h>
#include <stdio.h>

/* Set the parameters that all inputs use: pipes are spooled in TMPDIR, and a signal interrupts reading. */
void sound_params(steno_media_params *p);

/* Open an input; pipes are spooled in TMPDIR. @return a status, with the reason in *e; see signals_pending for STENO_ECANCELED */
int sound_open(steno_media **m, const char *file, steno_error *e);

/* The only input of a verb, for one call of its session. Its address is in source: do not move it. */
struct sound {
    const char *file;
    steno_media *media;
    steno_session *session;
    steno_source source;
    struct level_source measured; /* the level of what the call read */
    struct notes notes;
};

/* Open file with *how (NULL: what sound_params sets), and choose its channel. From here on, signals interrupt reading and the session.
 * @return an exit code. EXIT_OK: a call may read s->source, and sound_end takes its status. Call sound_close in any case. */
int sound_begin(struct sound *s, const char *file, const steno_media_params *how, steno_session *session);

/* The call has returned status: report its failure, or the parts that could not be read; notes has these, too. @return an exit code */
int sound_end(struct sound *s, int status);
void sound_close(struct sound *s);

/* The printable name of an input: for a URL, only parts that cannot be secret. Valid until the thread's next call with a URL. */
const char *sound_shown(const char *file);

/* The reason, with a leading URL replaced by its printable form. */
const char *sound_reason(const char *file, const char *reason);

/* The name for messages: as sound_shown, or "standard input". */
const char *sound_name(const char *file);

/* Report that a verb's only input failed, when opened or in a library call. @return the exit code to end with */
int sound_failed(const char *file, int status, const char *reason);
int sound_call_failed(const char *file, const steno_media *m, const steno_session *s, int status);

/* Call after a model could not be opened (code is EXIT_MODEL): also report which of file[n] are missing, so the user can fix both.
 * @return code */
int sound_report_missing(int code, char *const *file, int n);

/* Report the parts of the file that could not be read. */
void sound_lost(const steno_media *m, const char *file);

/* Print the notes on a result, except those that sound_lost prints. n may be NULL. */
void sound_notes(const char *file, const struct notes *n);

void sound_notes_print(const struct notes *n); /* prints all notes, for results without a file */

/* Print the notes as a member of a JSON object, after other members; prints nothing if there are none. */
void sound_notes_json(FILE *f, const struct notes *n);
#endif
