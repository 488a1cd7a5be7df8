/* steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
 *
 * While something is in hand the first signal asks: it cancels the run and interrupts the reader, and the verb winds up in order. At other
 * times, and at the second signal, the program ends at once, without leaving a temporary file. */
#ifndef STENO_TOOLS_SIGNALS_H
#define STENO_TOOLS_SIGNALS_H
#include "steno_media.h"

void signals_install(void);

/* What the first signal should stop; NULLs when nothing is in hand. */
void signals_watch(steno_session *s, steno_media *m);

/* On: the first signal only asks, because there is something in hand (a run, files being written). Off, as at first: it ends. */
void signals_defer(int on);

/* Number of the signal that came, or 0. */
int signals_pending(void);
void signals_forget(void); /* it was for what is over */
int signals_stop(void *user); /* the same, as the callbacks want it */

/* On: a line has been begun on standard error, and the program ends it before itself. */
void signals_open_line(int on);

/* What the program removes before a signal ends it (is_there 1), or no longer removes (0): a file, or a folder while nothing is in it. The
 * files of atomic_file.h are entered without a call. A name beyond the first 64 is not kept. */
void signals_remove(const char *path, int is_there);
#endif
