/* steno: the server's log on standard error. SPDX-License-Identifier: MIT
 *
 * A pipe that nothing reads would stop the thread that answers all clients. Where poll finds room, a pipe takes PIPE_BUF bytes at once. */
#include "verbs/serve_log.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESTS = 20 }; /* times that a long line waits a millisecond for room for the rest of it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_lost;
static int is_torn; /* the last line has no end */

static int has_room(int wait_ms)
{
    struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&p, 1, wait_ms) > 0;
}

/* @return 0; -1: there is no room for all of it */
static int put(const char *text, size_t n)
{
    for (int rests = 0, is_begun = 0; n;) {
        if (!has_room(is_begun)) {
            if (!is_begun || ++rests == RESTS) return -1;
            continue;
        }
        const ssize_t k = write(STDERR_FILENO, text, n < PIPE_BUF ? n : PIPE_BUF);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return errno == EAGAIN ? -1 : 0; /* closed, or on a full disk: there is no reader */
        is_begun = 1;
        text += k;
        n -= (size_t)k;
        is_torn = n > 0;
    }
    return 0;
}

static int put_loss(void)
{
    char text[128];
    if (!n_lost && !is_torn) return 0;
    const int n = snprintf(text, sizeof text, "%ssteno: %ld lines of the log are lost, because standard error was not read\n",
                           is_torn ? "\n" : "", n_lost);
    if (put(text, (size_t)n)) return -1;
    n_lost = 0;
    return 0;
}

void serve_log_line(void *user, const char *line)
{
    const size_t n = strlen(line);
    char *text = malloc(n + 1);
    (void)user;
    pthread_mutex_lock(&lock);
    if (text) {
        memcpy(text, line, n);
        text[n] = '\n';
    }
    if (!text || put_loss() || put(text, n + 1)) n_lost++;
    pthread_mutex_unlock(&lock);
    free(text);
}
