/* steno: filters whose taps lie in another order. SPDX-License-Identifier: MIT
 *
 * The turned filter is a file of its own that has no bytes: what is asked of it is read from the real one, tap by tap, and put apart. */
#include "load/turned.h"

#include <string.h>

enum { PIECE = 4096 /* bytes that are read at once */ };

struct turned {
    struct file file, of; /* what readers see; where the numbers are */
    uint64_t offset;      /* of the filter there */
    uint64_t channels, taps;
    size_t elem;          /* bytes of a number */
};

/* Numbers [from, to) of row `row`, as they are seen, of one tap: every taps-th. */
static int read_tap(const struct turned *t, uint64_t row, uint64_t from, uint64_t to, uint64_t tap, uint8_t *dst, steno_error *e)
{
    uint8_t piece[PIECE];
    const uint64_t first = from > tap ? (from - tap + t->taps - 1) / t->taps : 0, end = to > tap ? (to - tap + t->taps - 1) / t->taps : 0;
    for (uint64_t c = first, n; c < end; c += n) {
        n = end - c < PIECE / t->elem ? end - c : PIECE / t->elem;
        const uint64_t at = (row * t->taps + tap) * t->channels + c;
        const int rc = file_read(&t->of, t->offset + at * t->elem, piece, (size_t)n * t->elem, e);
        if (rc) return rc;
        for (uint64_t i = 0; i < n; i++) memcpy(dst + ((c + i) * t->taps + tap - from) * t->elem, piece + i * t->elem, t->elem);
    }
    return STENO_OK;
}

/* Whole numbers are asked for. */
static int turned_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct turned *t = user;
    const uint64_t row_n = t->channels * t->taps;
    uint8_t *out = dst;
    if (off % t->elem || n % t->elem) return err_set(e, STENO_EARG, "%s: half a number of a filter was asked for", t->file.name);
    for (uint64_t at = off / t->elem, end = at + n / t->elem, to; at < end; at = to) {
        const uint64_t row = at / row_n;
        to = (row + 1) * row_n < end ? (row + 1) * row_n : end;
        for (uint64_t tap = 0; tap < t->taps; tap++) {
            const int rc = read_tap(t, row, at - row * row_n, to - row * row_n, tap, out, e);
            if (rc) return rc;
        }
        out += (size_t)(to - at) * t->elem;
    }
    return STENO_OK;
}

int tensor_turn(struct tensor *t, struct weights *w, steno_error *e)
{
    struct turned *it = arena_alloc(&w->arena, sizeof *it);
    if (!it) return err_nomem(e, sizeof *it, "a filter");
    *it = (struct turned){ .of = *t->file, .offset = t->offset, .taps = t->dim[1], .channels = t->dim[2],
                           .elem = dtype_row_sz(t->type, 1) };
    it->file = (struct file){ .name = t->file->name, .size = t->size, .fd = -1, .read = turned_read, .user = it };
    t->file = &it->file;
    t->offset = 0;
    t->dim[1] = it->channels;
    t->dim[2] = it->taps;
    return STENO_OK;
}
