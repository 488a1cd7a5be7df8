/* steno: Ctrl-C and SIGTERM. SPDX-License-Identifier: MIT
 *
 * During a run the first signal is a request: it cancels the run and interrupts the reader, and the verb ends in order. At other times,
 * and at the second signal, the program ends at once and leaves no temporary file. */
#ifndef STENO_TOOLS_SIGNALS_H
#define STENO_TOOLS_SIGNALS_H
#include <steno/media.h>

void signals_install(void);

/* Set what the first signal stops; NULL if nothing is running. */
void signals_watch(steno_session *s, steno_media *m);

/* Let `fn` handle every signal, within the handler: it calls only async-signal-safe functions. NULL: as before. */
void signals_handle(void (*fn)(void *user, int sig), void *user);

/* On: the first signal is only a request, because a run is active or files are being written. Off (the initial state): a signal ends the
 * program. */
void signals_defer(int on);

/* The number of the signal that arrived, or 0. */
int signals_pending(void);
void signals_forget(void); /* forget it: the work that it stopped is over */
int signals_stop(void *user); /* the same, with the signature of the callbacks */

/* On: standard error has an unfinished line, and a signal ends that line before it ends the program. */
void signals_open_line(int on);

/* Register (is_there 1) or unregister (0) a path that is removed if a signal ends the program: a file, or a folder if it is empty. The
 * files of atomic_file.h register themselves. At most 64 names are kept; more are ignored. */
void signals_remove(const char *path, int is_there);
#endif
