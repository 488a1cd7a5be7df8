/* steno: a stem of chunks as ops. SPDX-License-Identifier: MIT */
#include "plan/stem.h"
#include "plan/bind.h"

static uint32_t halved(uint32_t n) { return n ? (n - 1) / 2 + 1 : 0; }

uint32_t stem_chunk_rows(uint32_t frames) { return halved(halved(halved(frames))); }

/* The bindings of OP_STEM2D follow each other. */
static uint16_t bind_stem(struct build *b, const struct stem_of_chunks *s)
{
    const uint16_t first = bind_squares(b, "conv2d1.weight", "conv2d1.bias", s->channels);
    const uint16_t second = bind_squares_of_all(b, "conv2d2.weight", "conv2d2.bias", s->channels, s->channels);
    const uint16_t third = bind_squares_of_all(b, "conv2d3.weight", "conv2d3.bias", s->channels, s->channels);
    if (b->status) return 0;
    bind_at(b, first)->act = bind_at(b, second)->act = bind_at(b, third)->act = ACT_GELU_ERF;
    bind_at(b, first)->d_head = (uint16_t)s->n_mels;
    bind_at(b, first)->stride = (uint16_t)s->stack;
    bind_at(b, first)->window = s->frames;
    bind_at(b, first)->left = 1;
    return first;
}

uint16_t stem_of_chunks_build(struct build *b, const struct stem_of_chunks *s, const char *prefix)
{
    const uint32_t columns = stem_chunk_rows(s->n_mels);
    const uint16_t in = b->plan.input = build_slot(b, s->n_mels * s->stack), wide = build_slot(b, columns * s->channels);
    const uint16_t x = build_slot(b, s->d);
    b->prefix = prefix;
    emit(b, OP_STEM2D, "conv2d", wide, in, bind_stem(b, s));
    emit(b, OP_LINEAR, "conv_out", x, wide, bind_by_columns(b, "conv_out.weight", NULL, s->d, s->channels, columns));
    b->prefix = "";
    emit(b, OP_SCALE, "positions", x, x,
         bind_scale(b, 1, bind_sinusoids_of_chunks(b, s->rows, stem_chunk_rows(s->frames), s->d), s->d));
    return x;
}
