/* steno: who gets the next free decode slot. SPDX-License-Identifier: MIT */
#include "task/ar/line.h"

int slot_free(const struct steno_batch *b)
{
    int at = -1;
    for (int i = (int)b->n_windows - 1; i >= 0; i--)
        if (!b->decode_slot[i].user && (at < 0 || !b->decode_slot[i].audio)) at = i;
    return at;
}

uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!b->decode_slot[i].user && b->decode_slot[i].audio == w->s && b->decode_slot[i].from == w->seek) return i;
    return at;
}

/* Of two window decoders of one audio the one that is behind goes first, and one that will find its window encoded waits for it. */
static int may_go(const steno_session *s, const struct window_decoder *w)
{
    const struct window_decoder *other = &ar_of(s)->decoder[w == &ar_of(s)->decoder[0]];
    if (other->s != s || other->state == DECODER_IDLE) return 1;
    return other->state == DECODER_DECODE ? other->seek > w->seek : w->seek < other->seek || (w->seek == other->seek && w < other);
}

struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle)
{
    const struct request *c = request_of(s);
    *idle = NULL;
    for (int i = 0; i < 2; i++) {
        struct window_decoder *w = &ar_of(s)->decoder[i];
        if (w->s == s && w->state == DECODER_WINDOW && may_go(s, w)) return w;
    }
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++) {
        struct window_decoder *w = &b->decoder[i];
        if (w->state == DECODER_WINDOW && w->s == s) return w;
        if (w->state == DECODER_IDLE && c->beside && c->next_clip < c->n_clips) *idle = w;
    }
    return NULL;
}

static int wants_slot(const struct steno_batch *b, const steno_session *s)
{
    struct window_decoder *idle;
    return s->request_state == REQUEST_WAITING || decoder_find(b, s, &idle) || idle;
}

/* The next in line of those who want a decode slot, of one class or (-1) of all; NULL: nobody. */
static steno_session *request_first(const struct steno_batch *b, int of_class)
{
    steno_session *first = NULL;
    for (steno_session *s = b->first; s; s = s->next)
        if ((of_class < 0 || queue_class(s) == of_class) && wants_slot(b, s) && (!first || queue_is_before(s, first))) first = s;
    return first;
}

enum { LATER_EVERY = 4 }; /* windows, of which the last class has one where it waits */

steno_session *request_next(const struct steno_batch *b)
{
    steno_session *later = b->passed + 1 >= LATER_EVERY ? request_first(b, STENO_PRIORITY_LATER) : NULL;
    return later ? later : request_first(b, -1);
}

void count_passed(struct steno_batch *b, const steno_session *s)
{
    const int waits = queue_class(s) != STENO_PRIORITY_LATER && request_first(b, STENO_PRIORITY_LATER);
    b->passed = waits ? b->passed + 1 : 0;
}

int may_encode(const struct steno_batch *b)
{
    return b->n_steps >= b->params.steps_between_encodes;
}
