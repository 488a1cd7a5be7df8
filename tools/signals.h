/* steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
 *
 * The first signal asks: while a session is watched it cancels the run and interrupts the reader, and the verb winds up in order; before
 * that nothing is in hand and the program ends at once. The second one ends at once in any case, without leaving a temporary file. */
#ifndef STENO_TOOLS_SIGNALS_H
#define STENO_TOOLS_SIGNALS_H
#include "steno_media.h"

void signals_install(void);

/* What the first signal should stop; NULLs when nothing is in hand. */
void signals_watch(steno_session *s, steno_media *m);

/* From now on the first signal only asks, even when there is nothing to cancel (files are being read or written). */
void signals_defer(int on);

/* Number of the signal that came, or 0. */
int signals_pending(void);
int signals_stop(void *user); /* the same, as the callbacks want it */

/* Name of the temporary file that a second signal has to remove, or NULL. */
void signals_temp(const char *path);
#endif
