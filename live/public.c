/* steno: live transcription for other programs. SPDX-License-Identifier: MIT */
#include <steno/live.h>
#include "live.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_LEAST = 200, STEP_MAX = 10000, TURN_LEAST = 2000, TURN_MAX = 30000, PADDING_LEAST = 500, PADDING_MAX = 30000 };

struct steno_live {
    struct live *live;
    steno_vad_params find;
    void (*on_event)(void *user, const steno_live_event *e);
    void *user;
};

static int fail(steno_error *e, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (e) {
        e->status = status;
        vsnprintf(e->text, sizeof e->text, fmt, ap);
    }
    va_end(ap);
    return status;
}

void steno_live_params_init(steno_live_params *p)
{
    *p = (steno_live_params){ .size = sizeof *p, .step_ms = 1000, .max_turn_ms = TURN_MAX,
                              .audio_padding_ms = LIVE_PADDING_MS };
}

static void pass_on(void *user, const struct live_event *e)
{
    static const int kinds[] = { [LIVE_PARTIAL] = STENO_LIVE_PARTIAL, [LIVE_FINAL] = STENO_LIVE_FINAL,
                                 [LIVE_ENDPOINT] = STENO_LIVE_ENDPOINT };
    const struct steno_live *l = user;
    const steno_live_event out = { .size = sizeof out, .kind = kinds[e->kind], .turn = e->turn, .spaces = e->spaces, .t0_ms = e->t0_ms,
                                   .t1_ms = e->t1_ms, .decoded_ms = e->decoded_ms, .pushed_ms = e->now_ms, .text = e->text,
                                   .language = e->kind == LIVE_ENDPOINT && e->language && *e->language ? e->language : NULL };
    l->on_event(l->user, &out);
}

/* @return a status, with the reason in *e */
static int params_check(const steno_model *m, const steno_live_params *p, steno_error *e)
{
    if (!m) return fail(e, STENO_EARG, "steno_live_open: model is NULL");
    if (!p || p->size != sizeof *p) return fail(e, STENO_EARG, "steno_live_open: want steno_live_params_init first");
    if (!p->on_event) return fail(e, STENO_EARG, "steno_live_open: on_event is NULL");
    if (p->step_ms < STEP_LEAST || p->step_ms > STEP_MAX)
        return fail(e, STENO_EARG, "steno_live_open: step_ms is %d, not %d to %d", p->step_ms, STEP_LEAST, STEP_MAX);
    if (p->max_turn_ms < TURN_LEAST || p->max_turn_ms > TURN_MAX)
        return fail(e, STENO_EARG, "steno_live_open: max_turn_ms is %d, not %d to %d", p->max_turn_ms, TURN_LEAST, TURN_MAX);
    if (p->audio_padding_ms && (p->audio_padding_ms < PADDING_LEAST || p->audio_padding_ms > PADDING_MAX))
        return fail(e, STENO_EARG, "steno_live_open: audio_padding_ms is %d, not 0 or %d to %d", p->audio_padding_ms, PADDING_LEAST,
                    PADDING_MAX);
    if (p->last_pass < STENO_LIVE_LAST_WINDOW || p->last_pass > STENO_LIVE_LAST_TURN)
        return fail(e, STENO_EARG, "steno_live_open: last_pass is %d, not 0 or 1", p->last_pass);
    if (p->text && p->text->size != sizeof *p->text)
        return fail(e, STENO_EARG, "steno_live_open: text was not filled by steno_transcribe_params_init");
    if (p->find && p->find->size != sizeof *p->find)
        return fail(e, STENO_EARG, "steno_live_open: find was not filled by steno_vad_params_init");
    if (p->find && !p->vad) return fail(e, STENO_EARG, "steno_live_open: find needs vad");
    return STENO_OK;
}

int steno_live_open(steno_live **out, const steno_model *model, steno_session *session, steno_team *team, const steno_live_params *p,
                    steno_error *e)
{
    if (!out) return fail(e, STENO_EARG, "steno_live_open: out is NULL");
    *out = NULL;
    int rc = params_check(model, p, e);
    if (rc != STENO_OK) return rc;
    struct steno_live *l = calloc(1, sizeof *l);
    if (!l) return fail(e, STENO_ENOMEM, "steno_live_open: out of memory");
    l->on_event = p->on_event;
    l->user = p->user;
    if (p->find) l->find = *p->find;
    struct live_params inner = { .session = session, .vad = p->vad, .team = team, .find = p->find ? &l->find : NULL,
                                 .step_ms = p->step_ms, .turn_most_ms = p->max_turn_ms, .audio_padding_ms = p->audio_padding_ms,
                                 .last_pass = p->last_pass == STENO_LIVE_LAST_TURN ? LIVE_LAST_TURN : LIVE_LAST_WINDOW,
                                 .report = pass_on, .user = l };
    steno_error why = { 0 };
    live_params_of(&inner, model);
    if (!session && !inner.chunks) {
        free(l);
        return fail(e, STENO_EARG, "steno_live_open: session is NULL");
    }
    steno_transcribe_params_init(&inner.text);
    if (p->text) inner.text = *p->text;
    inner.text.on_segment = NULL;
    inner.text.on_progress = NULL;
    inner.text.on_window = NULL;
    inner.text.on_attempt = NULL;
    inner.text.logits_filter = NULL;
    inner.text.on_rows = NULL;
    inner.text.on_resume_point = NULL;
    rc = live_open(&l->live, &inner, &why);
    if (rc != STENO_OK) {
        free(l);
        return fail(e, rc, "%s", why.text[0] ? why.text : steno_status_text(rc));
    }
    *out = l;
    return STENO_OK;
}

int steno_live_push(steno_live *l, const float *pcm, int64_t n, int64_t late_ms, steno_error *e)
{
    steno_error why = { 0 };
    if (!l || n < 0 || (n && !pcm) || late_ms < 0)
        return fail(e, STENO_EARG, "steno_live_push: %s", !l ? "l is NULL" : n < 0 ? "n is below 0" : late_ms < 0 ? "late_ms is below 0" :
                    "pcm is NULL");
    const int rc = live_push(l->live, pcm, n, late_ms, &why);
    return rc ? fail(e, rc, "%s", why.text[0] ? why.text : steno_status_text(rc)) : STENO_OK;
}

int steno_live_end(steno_live *l, steno_error *e)
{
    steno_error why = { 0 };
    if (!l) return fail(e, STENO_EARG, "steno_live_end: l is NULL");
    const int rc = live_end(l->live, &why);
    return rc ? fail(e, rc, "%s", why.text[0] ? why.text : steno_status_text(rc)) : STENO_OK;
}

void steno_live_close(steno_live *l)
{
    if (!l) return;
    live_close(l->live);
    free(l);
}
