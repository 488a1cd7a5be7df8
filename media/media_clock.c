/* steno-media: positions of sound on the clock of its file. SPDX-License-Identifier: MIT */
#include "media_clock.h"

#include <math.h>

enum kind { GOES_ON, GAP, UNDER, JUMP };

static enum kind kind_of(const struct media_clock *c, double t)
{
    const double at = t - c->shift, off = at - c->next, slack = c->begun ? MEDIA_CLOCK_JITTER : MEDIA_CLOCK_START;
    if (!c->is_on || !isfinite(t)) return GOES_ON;
    if (off >= -slack && off <= slack) return GOES_ON;
    if (off < 0) return off < -MEDIA_CLOCK_OVERLAP || (c->splices && c->begun) ? JUMP : UNDER;
    if (c->splices && c->begun && off > MEDIA_CLOCK_SPLICE) return JUMP;
    if (c->longest < 0 && (off > MEDIA_CLOCK_UNSAID || c->filled + off > MEDIA_CLOCK_UNSAID_ALL)) return JUMP;
    if (c->longest >= 0 && (t > c->longest + MEDIA_CLOCK_SLACK || at > c->longest + MEDIA_CLOCK_SLACK)) return JUMP;
    return c->filled + off > MEDIA_CLOCK_MAX ? JUMP : GAP;
}

enum media_step media_clock_step(const struct media_clock *c, double t)
{
    const enum kind kind = kind_of(c, t);
    return kind == GAP || kind == UNDER ? MEDIA_MOVES : MEDIA_GOES_ON;
}

/* Count a correction. */
static void count(struct media_clock *c, int64_t n)
{
    if (!c->begun) c->moved.start = n;
    else if (n > 0) c->moved.gaps++, c->moved.silence += n;
    else c->moved.dropped -= n;
}

int64_t media_clock_put(struct media_clock *c, double t, double lasts, int64_t made, int rate)
{
    const enum kind kind = kind_of(c, t);
    int64_t n = 0;
    if (kind == JUMP) {
        c->shift += t - c->shift - c->next;
        c->moved.jumps++;
    }
    if (kind == GAP || kind == UNDER) {
        if (kind == GAP) c->filled += t - c->shift - c->next;
        c->next = t - c->shift;
        n = llround(c->next * rate) - made;
        if (n) count(c, n);
    }
    if (!c->begun && c->is_on && kind == GOES_ON && isfinite(t)) c->shift = t; /* the small offset is kept, also after gaps */
    c->begun = 1;
    c->next += lasts;
    return n;
}

void media_clock_put_untimed(struct media_clock *c, double lasts)
{
    c->begun = 1;
    c->next += lasts;
}
