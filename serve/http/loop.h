/* steno-serve: one thread that waits for sockets and timers (epoll). SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_LOOP_H
#define STENO_SERVE_LOOP_H
#include <stdint.h>

struct loop;
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };

int loop_open(struct loop **out); /* starts the thread. @return 0 or -1 */
void loop_close(struct loop *l);  /* ends it; not on its thread. NULL is allowed */
int64_t loop_now_ms(void);        /* monotonic clock */
int64_t loop_now_us(void);        /* the same clock */

/* A descriptor; `ready` is called on the loop's thread with what is ready, as long as it is ready, and maybe before loop_add has returned.
 * LOOP_HANGUP: the other side sends no more; if both sides are closed or the connection broke, it is reported whatever `events` are, so
 * that it must be answered by loop_remove. All functions: any thread. After loop_remove has returned on the loop's thread, or `removed`
 * was called (on the loop's thread, may be NULL), there are no more calls. @return NULL: out of memory, or a file that has no events */
struct loop_fd;
struct loop_fd *loop_add(struct loop *l, int fd, int events, void (*ready)(void *user, int events), void *user);
void loop_change(struct loop_fd *f, int events);
void loop_remove(struct loop_fd *f, void (*removed)(void *user)); /* the descriptor stays open */

int loop_is_own_thread(const struct loop *l);

/* Calls `fn` on the loop's thread: soon, in the order of the calls, also while the loop is being closed; or at a time, unless it is closed
 * before. */
struct loop_timer;
void loop_call(struct loop *l, void (*fn)(void *user), void *user);
struct loop_timer *loop_at(struct loop *l, int64_t at_ms, void (*fn)(void *user), void *user); /* NULL: out of memory */
void loop_timer_cancel(struct loop_timer *t); /* on the loop's thread; not after fn was called */
#endif
