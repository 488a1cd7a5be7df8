/* steno: text that waits for its turn. SPDX-License-Identifier: MIT */
#include "held.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static ssize_t held_write(void *cookie, const char *data, size_t n)
{
    struct held *h = cookie;
    if (h->lost || n > SIZE_MAX / 4 - h->n) h->lost = 1;
    else if (n > h->cap - h->n) {
        const size_t cap = 2 * (h->n + n);
        char *more = realloc(h->p, cap);
        if (!more) h->lost = 1;
        else {
            h->p = more;
            h->cap = cap;
        }
    }
    if (h->lost) {
        errno = ENOMEM;
        return 0;
    }
    memcpy(h->p + h->n, data, n);
    h->n += n;
    return (ssize_t)n;
}

FILE *held_open(struct held *h)
{
    h->p = NULL;
    h->n = h->cap = 0;
    h->lost = 0;
    FILE *f = fopencookie(h, "w", (cookie_io_functions_t){ .write = held_write });
    if (f) setvbuf(f, h->buffer, _IOFBF, sizeof h->buffer); /* the library's own would be one more thing to be missing */
    return f;
}

int held_close(FILE *f, struct held *h)
{
    const int bad = ferror(f), worse = fclose(f);
    if (!bad && !worse && !h->lost) return 0;
    free(h->p);
    h->p = NULL;
    h->n = 0;
    return -1;
}
