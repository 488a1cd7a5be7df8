/* steno: the text of a clip's ids. SPDX-License-Identifier: MIT */
#include "task/ctc/ctc_text.h"

void ctc_text_free(struct ctc_text *t)
{
    buf_free(&t->bytes);
    buf_free(&t->text);
}

static const char *bytes_of(const struct buf *b)
{
    return b->p ? b->p : "";
}

int ctc_text_make(struct ctc_text *t, const steno_model *m, const struct ctc_ids *ids, int32_t tags, struct ctc_tags *told,
                  struct ctc_shown *out)
{
    const struct ctc *ctc = m->family->ctc;
    buf_clear(&t->bytes);
    buf_clear(&t->text);
    ctc->ids_to_text(m, ids->ids, ids->n, tags != STENO_TAGS_APART, &t->bytes, told);
    utf8_append(&t->text, (const uint8_t *)t->bytes.p, t->bytes.len);
    *out = (struct ctc_shown){ .whole = bytes_of(&t->text), .n_whole = t->text.len };
    text_strip(&out->whole, &out->n_whole);
    out->text = out->whole;
    out->n = out->n_whole;
    if (tags == STENO_TAGS_RICH && !t->bytes.err && !t->text.err) {
        buf_clear(&t->bytes);
        ctc->rich_text(out->whole, out->n_whole, &t->bytes);
        out->text = bytes_of(&t->bytes);
        out->n = t->bytes.len;
    }
    return t->bytes.err || t->text.err ? STENO_ENOMEM : STENO_OK;
}

void ctc_text_whole(struct ctc_text *t, const steno_model *m, int32_t tags, struct buf *whole)
{
    if (tags != STENO_TAGS_RICH || whole->err || !whole->len) return;
    buf_clear(&t->bytes);
    m->family->ctc->rich_text(whole->p, whole->len, &t->bytes);
    buf_clear(whole);
    buf_add(whole, bytes_of(&t->bytes), t->bytes.len);
    whole->err |= t->bytes.err;
}
