/* steno-serve: one thread that waits for sockets and timers (epoll). SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_LOOP_H
#define STENO_SERVE_LOOP_H
#include <stdint.h>

struct loop;
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };

int loop_open(struct loop **out); /* starts the thread. @return 0 or -1 */
void loop_close(struct loop *l);  /* ends it */
int64_t loop_now_ms(void);        /* monotonic clock */

/* A descriptor; `ready` is called on the loop's thread with what is ready. All functions: any thread. After loop_remove has returned on
 * the loop's thread, or `removed` was called, there are no more calls. */
struct loop_fd;
struct loop_fd *loop_add(struct loop *l, int fd, int events, void (*ready)(void *user, int events), void *user);
void loop_change(struct loop_fd *f, int events);
void loop_remove(struct loop_fd *f, void (*removed)(void *user)); /* the descriptor stays open */

/* Calls `fn` on the loop's thread: soon, or at a time. */
struct loop_timer;
void loop_call(struct loop *l, void (*fn)(void *user), void *user);
struct loop_timer *loop_at(struct loop *l, int64_t at_ms, void (*fn)(void *user), void *user); /* NULL: out of memory */
void loop_timer_cancel(struct loop_timer *t); /* on the loop's thread; not after fn was called */
#endif
