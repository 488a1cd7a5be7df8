/* steno-media: bytes with random access. SPDX-License-Identifier: MIT */
#include "media.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int media_input_stopped(const struct media_input *in)
{
    return (in->stop && atomic_load(in->stop)) || (in->ask && in->ask(in->user));
}

int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n)
{
    if (at < 0) return -EINVAL;
    if (in->live) {
        const int64_t have = in->pull(in->live, at, at + 1);
        if (have <= at) return have < 0 ? have : 0;
        if ((int64_t)n > have - at) n = (size_t)(have - at);
    }
    if (at >= in->size) return 0;
    if ((int64_t)n > in->size - at) n = (size_t)(in->size - at);
    if (at < in->head_sz) {
        if ((int64_t)n > in->head_sz - at) n = (size_t)(in->head_sz - at);
        memcpy(dst, in->head + at, n);
        return (int64_t)n;
    }
    const int64_t own = at - in->head_sz + in->skip;
    if (own < 0) return -ESPIPE; /* the bytes were read before and have been dropped */
    if (in->mem) {
        memcpy(dst, in->mem + own, n);
        return (int64_t)n;
    }
    ssize_t got;
    do got = pread(in->fd, dst, n, (off_t)own);
    while (got < 0 && errno == EINTR && !media_input_stopped(in));
    return got < 0 ? -errno : (int64_t)got;
}

int64_t media_input_ready(const struct media_input *in, int64_t at, int64_t least, int64_t n)
{
    const int64_t have = in->live ? in->pull(in->live, at, at + least) : in->size;
    if (have <= at) return have < 0 ? have : 0;
    return have - at < n ? have - at : n;
}

int media_input_exactly(const struct media_input *in, int64_t at, void *dst, size_t n)
{
    size_t have = 0;
    while (have < n) {
        const int64_t got = media_input_read(in, at + (int64_t)have, (char *)dst + have, n - have);
        if (got <= 0) return 0;
        have += (size_t)got;
    }
    return 1;
}
