/* steno: selects the window that gets the next free decode slot. SPDX-License-Identifier: MIT */
#include "task/ar/waiting.h"

int slot_free(const struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    int at = -1;
    for (int i = (int)b->n_windows - 1; i >= 0; i--)
        if (!a->decode_slot[i].user && (at < 0 || !a->decode_slot[i].audio)) at = i;
    return at;
}

uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at)
{
    struct ar_batch *a = ar_batch_of(b);
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!a->decode_slot[i].user && a->decode_slot[i].audio == w->s && a->decode_slot[i].from == w->seek) return i;
    return at;
}

/* Of two window decoders of the same audio, the one that is behind goes first. The other one waits for it to encode a shared window. */
static int may_go(const steno_session *s, const struct window_decoder *w)
{
    const struct window_decoder *other = &ar_of(s)->decoder[w == &ar_of(s)->decoder[0]];
    if (other->s != s || other->state == DECODER_IDLE) return 1;
    return other->state == DECODER_DECODE ? other->seek > w->seek : w->seek < other->seek || (w->seek == other->seek && w < other);
}

struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle)
{
    struct ar_batch *a = ar_batch_of(b);
    const struct request *c = request_of(s);
    const int waits = s->place.waits && !c->stopped;
    *idle = NULL;
    for (int i = 0; i < 2 && !waits; i++) {
        struct window_decoder *w = &ar_of(s)->decoder[i];
        if (w->s == s && w->state == DECODER_WINDOW && may_go(s, w)) return w;
    }
    for (uint32_t i = 0; a->decoder && i < b->n_windows; i++) {
        struct window_decoder *w = &a->decoder[i];
        if (w->state == DECODER_WINDOW && w->s == s && (w->is_heard || !waits)) return w;
        if (w->state == DECODER_IDLE && c->beside && c->next_clip < c->n_clips && !waits) *idle = w;
    }
    return NULL;
}

int wants_slot(const struct steno_batch *b, const steno_session *s)
{
    struct window_decoder *idle;
    if (s->request_state == REQUEST_LIVE) return decoder_find(b, s, &idle) || idle;
    return s->request_state == REQUEST_HEARD && !s->place.waits;
}

int wants_to_listen(const struct steno_batch *b, const steno_session *s)
{
    (void)b;
    return (s->request_state == REQUEST_WAITING || s->request_state == REQUEST_LISTENING) && !s->place.waits;
}

int wants_anything(const struct steno_batch *b, const steno_session *s)
{
    return wants_slot(b, s) || wants_to_listen(b, s);
}

int may_encode(const struct steno_batch *b)
{
    return ar_batch_of(b)->n_steps >= b->params.steps_between_encodes;
}

int may_listen(const struct steno_batch *b)
{
    return ar_batch_of(b)->n_steps_heard >= b->params.steps_between_encodes;
}

void look_around(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    a->is_wanted = slot_free(b) >= 0 && queue_next(b, wants_slot);
    a->is_unheard = queue_next(b, wants_to_listen) != NULL;
}
