/* steno: what stands before the tokens of a window. SPDX-License-Identifier: MIT
 *
 * [start of previous, initial prompt, earlier text,] start of transcript, language, task(, no timestamps). Only the last half context
 * minus one of what was said before counts, so only that much of it is held, with its whole number beside it.
 * Reference: openai-whisper 20250625, whisper/transcribe.py (carried prompts), whisper/decoding.py (the cut). */
#include <string.h>
#include "lib/job.h"

static int32_t most_of(const steno_model *m)
{
    return m->text_ctx / 2 - 1;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void history_forget(steno_session *s)
{
    s->n_history = 0;
    s->n_past = 0;
}

void history_add(steno_session *s, const int32_t *ids, int32_t n)
{
    const int32_t cap = s->model->text_ctx;
    s->n_past += n;
    if (n > cap) ids += n - cap, n = cap;
    const int32_t drop = s->n_history + n - cap;
    if (drop > 0) {
        memmove(s->history, s->history + drop, (size_t)(s->n_history - drop) * sizeof *s->history);
        s->n_history -= drop;
    }
    if (n) memcpy(s->history + s->n_history, ids, (size_t)n * sizeof *ids);
    s->n_history += n;
}

/* The end of a carried prompt has its place behind the history. */
static int32_t *carried(const steno_session *s)
{
    return s->history + s->model->text_ctx;
}

static void prompt_set(struct job *j, const int32_t *ids, int32_t n)
{
    steno_session *s = j->s;
    if (!j->p->carry_initial_prompt) {
        history_add(s, ids, n);
        return;
    }
    const int32_t held = (int32_t)min64(n, most_of(s->model));
    s->n_carried = n;
    if (held > 0) memcpy(carried(s), ids + (n - held), (size_t)held * sizeof *ids);
}

int prompt_begin(struct job *j)
{
    steno_session *s = j->s;
    const char *text = j->p->initial_prompt;
    history_forget(s);
    s->n_carried = 0;
    if (j->p->n_prompt_tokens) prompt_set(j, j->p->prompt_tokens, j->p->n_prompt_tokens);
    if (!text) return STENO_OK;
    size_t n = strlen(text);
    text_strip(&text, &n);
    struct buf spaced = { 0 }, ids = { 0 };
    buf_str(&spaced, " ");
    buf_add(&spaced, text, n);
    int rc = spaced.err ? err_nomem(&s->error, n, "the prompt") : bpe_encode(s->model->bpe, spaced.p, spaced.len, &ids, &s->error);
    if (!rc) prompt_set(j, (const int32_t *)(const void *)ids.p, (int32_t)(ids.len / sizeof(int32_t)));
    buf_free(&spaced);
    buf_free(&ids);
    return rc;
}

int prompt_has_previous(const struct job *j)
{
    return j->s->n_past > 0;
}

/* How much of the earlier text follows a carried prompt. The reference takes [-room:] of it, which in Python is all of it at room 0, and
 * all but the first -room at a negative one. */
static int32_t past_after(const steno_session *s, int32_t most)
{
    const int64_t room = most - s->n_carried;
    const int64_t past = room > 0 ? min64(s->n_past, room) : s->n_past + room;
    return (int32_t)(past < 0 ? 0 : min64(past, most));
}

int32_t prompt_make(struct job *j, int previous, int *sot)
{
    steno_session *s = j->s;
    const struct speech *speech = s->model->family->speech;
    const int32_t most = most_of(s->model), past = previous && most > 0 ? past_after(s, most) : 0;
    const int32_t held = most > 0 ? (int32_t)min64(s->n_carried, most) : 0, first = (int32_t)min64(held, most - past);
    int32_t head[PROMPT_HEAD], n = 0;
    const int n_head = speech->head(s->model, &j->request, head, sot);
    if (first + past > 0) {
        s->prompt[n++] = s->model->tokens.prev;
        memcpy(s->prompt + n, carried(s) + (held - first), (size_t)first * sizeof *s->prompt);
        n += first;
        memcpy(s->prompt + n, s->history + (s->n_history - past), (size_t)past * sizeof *s->prompt);
        n += past;
    }
    memcpy(s->prompt + n, head, (size_t)n_head * sizeof *head);
    *sot += n;
    return n + n_head;
}
