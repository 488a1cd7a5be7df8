/* steno: the decoding rules of the reference. SPDX-License-Identifier: MIT
 *
 * Reference: openai-whisper 20250625, whisper/transcribe.py and whisper/decoding.py. */
#include <math.h>
#include <string.h>
#include "task/ar/decoding_rules.h"

static int64_t audio_end(const struct mel_stream *mel)
{
    return mel->frames;
}

/* Strips white space, adds one leading space, and appends the token ids to `ids`. */
static int prompt_encode(steno_session *s, const char *text, struct buf *ids)
{
    struct buf spaced = { 0 };
    size_t n = strlen(text);
    text_strip(&text, &n);
    buf_str(&spaced, " ");
    buf_add(&spaced, text, n);
    const int rc = spaced.err ? err_nomem(&s->error, n, "the prompt") : bpe_encode(s->model->bpe, spaced.p, spaced.len, ids, &s->error);
    buf_free(&spaced);
    return rc;
}

/* The reference uses [-room:]. In Python that is all tokens for room = 0, and all but the first -room tokens for a negative room. */
static int64_t context_past(int64_t n_past, int64_t room)
{
    return room > 0 && n_past > room ? room : room > 0 ? n_past : n_past + room;
}

/* Uses beams at temperature 0, and candidates above it. */
static struct ar_params search_of(const struct window_decoder *w)
{
    const steno_transcribe_params *p = &w->request->p;
    const double temperature = w->attempts.now.temperature;
    const int beams = temperature == 0 && p->beam_size > 0, several = temperature > 0 && p->best_of > 0;
    const double patience = isnan(p->patience) ? 1 : p->patience;
    return (struct ar_params){ .n_lanes = beams ? p->beam_size : several ? p->best_of : 1, .beams = beams,
                               .max_finished = (int32_t)nearbyint(p->beam_size * patience), .length_penalty = p->length_penalty };
}

static int32_t last_time(const struct window_decoder *w)
{
    (void)w;
    return 0;
}

const struct decoding_rules rules_openai = {
    .audio_end = audio_end,
    .prompt_encode = prompt_encode,
    .holds_prefix = 1,
    .context_past = context_past,
    .context_temperature = INFINITY,
    .search = search_of,
    .last_time = last_time,
    .keeps_best = 1,
    .drops_instants = 1,
    .forgets_unsure = 1,
};
