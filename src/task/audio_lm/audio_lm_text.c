/* steno: the text of a clip. SPDX-License-Identifier: MIT */
#include "task/audio_lm/audio_lm_text.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

int audio_lm_text_of(steno_session *s, const struct sampler *p, const char **text, size_t *n)
{
    struct audio_lm_session *a = audio_lm_of(s);
    buf_clear(&a->bytes);
    buf_clear(&a->raw);
    buf_clear(&a->text);
    for (int32_t i = 0; i < p->n; i++) a->ids[i] = p->out[i].id;
    tokenizer_decode(s->model->tokenizer, a->ids, p->n, 0, &a->bytes);
    utf8_append(&a->raw, (const uint8_t *)a->bytes.p, a->bytes.len);
    if (a->raw.len) s->model->family->audio_lm->text(a->raw.p, a->raw.len, &a->text);
    if (a->bytes.err || a->raw.err || a->text.err) return err_nomem(&s->error, a->bytes.len, "text");
    *text = a->text.p ? a->text.p : "";
    *n = a->text.len;
    text_strip(text, n);
    return STENO_OK;
}
