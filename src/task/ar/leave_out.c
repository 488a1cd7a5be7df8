/* steno: text that is left out of the result. SPDX-License-Identifier: MIT */
#include "task/ar/leave_out.h"
#include <string.h>
#include "task/ar/text_checks.h"

void leave_out(struct window_decoder *w, int64_t t0_ms, int64_t t1_ms, const int32_t *ids, int32_t n_ids, int whole)
{
    struct left_out l = { .avg_logprob = w->kept.avg_logprob, .no_speech_prob = w->kept.no_speech_prob, .t0_ms = t0_ms, .t1_ms = t1_ms,
                          .flags = w->kept.flags | STENO_FLAG_NO_SPEECH, .whole = (uint16_t)whole,
                          .language = (uint16_t)(w->language_seen + 1) };
    text_of(w, ids, n_ids, w->s->model->tokens.n_text);
    const char *text = w->text.p ? w->text.p : "";
    size_t n = w->text.len;
    text_strip(&text, &n);
    if (n && w->request->p.guards != STENO_GUARDS_OFF) result_left_out(w->result, &l, text, n);
}
