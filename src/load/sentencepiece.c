/* steno: pieces of SentencePiece models. SPDX-License-Identifier: MIT
 *
 * A SentencePiece model is a protobuf message. Its field 1, once per id, is a message {1: piece, 2: score, 3: type}. Other fields are
 * skipped by their wire type. Pieces stay unchanged, including U+2581 for spaces. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "load/vocab.h"

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 }; /* wire types that are in use */

struct proto_message { const uint8_t *p, *end; };
struct proto_field { uint64_t number, value; int wire; struct proto_message bytes; };

static int read_varint(struct proto_message *m, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && m->p < m->end; shift += 7) {
        const uint8_t b = *m->p++;
        *out |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return shift < 63 || b < 2;
    }
    return 0;
}

static int read_field(struct proto_message *m, struct proto_field *f)
{
    uint64_t tag;
    if (!read_varint(m, &tag)) return 0;
    *f = (struct proto_field){ .number = tag >> 3, .wire = (int)(tag & 7) };
    const size_t left = (size_t)(m->end - m->p), fixed = f->wire == FIXED64 ? 8 : f->wire == FIXED32 ? 4 : 0;
    if (!f->number) return 0;
    if (f->wire == VARINT) return read_varint(m, &f->value);
    if (fixed) {
        if (fixed > left) return 0;
        memcpy(&f->value, m->p, fixed); /* little-endian, as everywhere here */
        m->p += fixed;
        return 1;
    }
    if (f->wire != BYTES || !read_varint(m, &f->value) || f->value > (uint64_t)(m->end - m->p)) return 0;
    f->bytes = (struct proto_message){ m->p, m->p + f->value };
    m->p += f->value;
    return 1;
}

int sentencepiece_match(const uint8_t *head, size_t n) /* field 1 of some length, in it field 1 of a length that fits */
{
    struct proto_message m = { head, head + n };
    uint64_t outer, inner;
    if (n < 5 || *m.p++ != 0x0a || *m.p == '{' || *m.p == '[' || !read_varint(&m, &outer) || m.p == m.end || *m.p++ != 0x0a) return 0;
    return read_varint(&m, &inner) && outer >= 2 && inner <= outer - 2;
}

static float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int add_piece(struct vocab_list *l, int64_t id, struct proto_message m, uint64_t at, steno_error *e)
{
    static const enum vocab_type known[] = { VOCAB_NORMAL, VOCAB_NORMAL, VOCAB_UNKNOWN, VOCAB_CONTROL, VOCAB_USER_DEFINED, VOCAB_UNUSED,
                                             VOCAB_BYTE };
    struct proto_message piece = { 0 };
    uint64_t type = 0;
    float score = 0;
    while (m.p < m.end) {
        struct proto_field f;
        if (!read_field(&m, &f)) return err_set(e, STENO_EFORMAT, "%s: piece %" PRId64 " at byte %" PRIu64 " is damaged", l->name, id, at);
        if (f.number == 1 && f.wire == BYTES) piece = f.bytes;
        if (f.number == 2 && f.wire == FIXED32) score = f32_of_bits((uint32_t)f.value);
        if (f.number == 3 && f.wire == VARINT) type = f.value;
    }
    if (!isfinite(score))
        return err_set(e, STENO_EFORMAT, "%s: the score of piece %" PRId64 " at byte %" PRIu64 " is not finite", l->name, id, at);
    if (!piece.p) return err_set(e, STENO_EFORMAT, "%s: piece %" PRId64 " at byte %" PRIu64 " has no text", l->name, id, at);
    const int rc = vocab_list_add(l, id, piece.p, (size_t)(piece.end - piece.p), e);
    vocab_list_mark(l, score, type < sizeof known / sizeof *known ? known[type] : VOCAB_NORMAL);
    return rc;
}

static int read_pieces(struct vocab_list *l, const uint8_t *bytes, size_t n, steno_error *e)
{
    struct proto_message m = { bytes, bytes + n };
    for (int64_t id = 0; m.p < m.end;) {
        const uint64_t at = (uint64_t)(m.p - bytes);
        struct proto_field f;
        if (!read_field(&m, &f))
            return err_set(e, STENO_EFORMAT, "%s: field at byte %" PRIu64 " of the SentencePiece model is damaged", l->name, at);
        if (f.number != 1 || f.wire != BYTES) continue;
        const int rc = add_piece(l, id++, f.bytes, at, e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int vocab_read_sentencepiece(struct vocab_list *l, const struct file *f, steno_error *e)
{
    struct arena scratch;
    const char *bytes;
    arena_init(&scratch);
    int rc = file_text(f, VOCAB_FILE, &scratch, &bytes, e);
    if (!rc) rc = read_pieces(l, (const uint8_t *)bytes, (size_t)f->size, e);
    arena_free(&scratch);
    return rc;
}

int vocab_take_sentencepiece(struct weights *w, const struct file *f, steno_error *e)
{
    struct vocab_list list = { .name = f->name };
    uint8_t head[16];
    const size_t n = f->size < sizeof head ? (size_t)f->size : sizeof head;
    int rc = file_read(f, 0, head, n, e);
    if (!rc && !sentencepiece_match(head, n)) rc = err_set(e, STENO_EFORMAT, "%s: this is not a SentencePiece model", f->name);
    if (!rc) rc = vocab_read_sentencepiece(&list, f, e);
    if (!rc) rc = vocab_list_done(&list, w, e);
    vocab_list_free(&list);
    w->sentencepiece = rc ? NULL : f;
    return rc;
}
