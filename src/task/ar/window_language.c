/* steno: the language of a window. SPDX-License-Identifier: MIT
 *
 * The reference detects the language once, from the first 30 s. Later speech in another language is then written in the first language,
 * translated, or left out. */
#include "task/ar/window_language.h"
#include <string.h>
#include "task/ar/attempt.h"
#include "task/ar/prompt.h"
#include "text/language.h"

static const double SURE = 0.5;

/* Text in another language would make the model write that language; a translation is English whatever was spoken. Returns 1 if the last
 * segment so far is in another language. Independent clips begin without the text of the clip before. */
static int follows_another(const struct window_decoder *w)
{
    const struct request *c = w->request;
    const int is_own = c->p.independent_clips || c->p.chunk_ms;
    const int64_t from = is_own ? request_clips(c)[w->position.clip].from : 0;
    steno_segment last = { .size = sizeof last };
    if (w->task == STENO_TRANSLATE || result_segment(w->result, result_segments(w->result) - 1, &last)) return 0;
    return last.seek_frames >= from && last.language && strcmp(last.language, language_code(w->options.lang)) != 0;
}

int window_language_choose(struct window_decoder *w, uint32_t at)
{
    double p = 0;
    w->window.language_seen = -1;
    if (!w->request->p.language_per_segment) return STENO_OK;
    const int lang = language_of_slot(w->s, at, window_ctx(w), &p);
    if (lang < 0) return lang;
    w->options.lang = p >= SURE ? lang : w->request->options.lang;
    w->window.language_seen = w->options.lang;
    if (follows_another(w)) history_forget(&w->context);
    return STENO_OK;
}

int window_language_doubt(struct window_decoder *w)
{
    const uint32_t doubt = STENO_FLAG_LOW_CONFIDENCE | STENO_FLAG_NO_SPEECH | STENO_FLAG_REPETITION;
    double p = 0;
    const int is_doubtful = is_silence(w) || w->attempts.kept.failed || w->attempts.kept.flags & doubt;
    const int asks = w->request->p.guards != STENO_GUARDS_OFF && w->s->model->tokens.n_languages && !w->request->p.language_per_segment;
    if (!asks || !is_doubtful) return STENO_OK;
    const int lang = language_of_slot(w->s, w->decode_slot, window_ctx(w), &p);
    if (lang < 0) return lang;
    if (p >= SURE && lang != w->options.lang) w->window.language_seen = lang;
    return STENO_OK;
}

const char *window_language(const struct window_decoder *w)
{
    return w->s->model->tokens.n_languages ? language_code(w->options.lang) : w->s->result.language;
}

const char *window_language_seen(const struct decoder_content *window)
{
    return window->language_seen < 0 ? NULL : language_code(window->language_seen);
}
