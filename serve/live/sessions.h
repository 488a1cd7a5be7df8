/* steno-serve: the sessions of a route: their number, and a list that ends them together. SPDX-License-Identifier: MIT
 *
 * A session is counted until it has ended, and listed while it can be ended. Any thread. */
#ifndef STENO_SERVE_SESSIONS_H
#define STENO_SERVE_SESSIONS_H
#include <pthread.h>

struct session_entry { struct session_entry *next, *previous; }; /* the first member of a session */

struct sessions {
    pthread_mutex_t lock; /* taken before that of a session */
    pthread_cond_t changed;
    struct session_entry *first;
    int n, is_draining;
    void (*end)(struct session_entry *s); /* no more audio: with the lock held, so it must not call back */
};

void sessions_open(struct sessions *of, void (*end)(struct session_entry *s));
void sessions_close(struct sessions *of);                          /* waits until all sessions have ended */
void sessions_count(struct sessions *of, int by);                  /* 1: one begins; -1: it has ended */
int sessions_now(const struct sessions *of);                       /* number of those that have not ended */
void sessions_list(struct sessions *of, struct session_entry *s);  /* ends it at once after sessions_drain */
void sessions_unlist(struct sessions *of, struct session_entry *s);
void sessions_drain(struct sessions *of);                          /* ends those in the list, and those that follow */
#endif
