/* steno: greedy search of a transducer. SPDX-License-Identifier: MIT */
#include "search/transducer.h"

void transducer_begin(struct transducer *s, int32_t n_rows)
{
    s->n_rows = n_rows;
    s->row = s->n_here = 0;
}

/* Goes on by some rows. A duration comes from a model's file, so a sum may not wrap. */
static void move_on(struct transducer *s, int32_t rows)
{
    s->row = rows < s->n_rows - s->row ? s->row + rows : s->n_rows;
    s->n_here = 0;
}

int transducer_feed(struct transducer *s, int32_t first, const struct joint_best *best, int32_t n, struct transducer_token *token)
{
    while (!transducer_is_done(s) && s->row >= first && s->row - first < n) {
        const struct joint_best *b = &best[s->row - first];
        const int32_t duration = s->has_durations && b->duration > 0 ? b->duration : 0;
        if (b->id == s->blank) {
            move_on(s, duration ? duration : 1);
            continue;
        }
        *token = (struct transducer_token){ b->id, s->row, duration };
        if (duration) move_on(s, duration);
        else if (++s->n_here >= s->max_symbols) move_on(s, 1);
        return 1;
    }
    return 0;
}
