/* steno: transcription, alignment, speech and language detection: the public calls. SPDX-License-Identifier: MIT
 *
 * Each call checks if it may begin (entry.h), takes its caller's parameters, and calls the model's task. What a task does not support is
 * refused here. */
#include <stddef.h>
#include <stdlib.h>
#include "engine/batch_loop.h"
#include "lib/entry.h"

int request_refuse(steno_session *s, const char *what)
{
    return err_set(&s->error, STENO_EARG, "a %s model %s", s->model->family->name, what);
}

static int copy_params(steno_session *s, steno_transcribe_params *own, const steno_transcribe_params *p)
{
    steno_transcribe_params_init(own);
    if (!params_take(own, p, sizeof *own, offsetof(steno_transcribe_params, temperature_increment_on_fallback))) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_transcribe_params was not filled by its init function");
}

static int copy_vad_params(steno_session *s, steno_vad_params *own, const steno_vad_params *p)
{
    steno_vad_params_init(own);
    if (!params_take(own, p, sizeof *own, offsetof(steno_vad_params, user))) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_vad_params was not filled by steno_vad_params_init");
}

int request_fill(steno_session *s, struct request_given *g, union request_params *own, const steno_source *src,
                 const steno_transcribe_params *p, const steno_vad_params *q)
{
    const int rc = source_check(s, src), finds = s->model->task->call == STENO_CALL_FIND_SPEECH;
    *g = (struct request_given){ .src = src };
    if (rc) return rc;
    if (!s->model->task->request_take) return request_refuse(s, "takes no audio");
    if (p && finds) return request_refuse(s, "does not transcribe");
    if (q && !finds) return request_refuse(s, "does not find speech: use a voice-activity model");
    if (finds) g->find_speech = &own->find_speech;
    else g->transcribe = &own->transcribe;
    return finds ? copy_vad_params(s, &own->find_speech, q) : copy_params(s, &own->transcribe, p);
}

/* A request for which the caller waits. */
static int request_here(steno_session *s, enum steno_call call, const steno_source *src, const steno_transcribe_params *p,
                        const steno_vad_params *q)
{
    struct request_given g;
    union request_params own;
    int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    if (call == s->model->task->call) rc = request_fill(s, &g, &own, src, p, q);
    else rc = source_check(s, src);
    if (!rc && call != s->model->task->call)
        rc = request_refuse(s, call == STENO_CALL_TRANSCRIBE ? "does not transcribe" : "does not find speech: use a voice-activity model");
    return call_leave(s, rc ? rc : request_call(s, &g));
}

int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    return request_here(s, STENO_CALL_TRANSCRIBE, src, p, NULL);
}

int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (n < 0 || (n && !pcm)) {
        const int rc = call_enter(s);
        if (rc) return rc;
        session_begin(s);
        return call_leave(s, pcm_check(s, pcm, n));
    }
    struct pcm memory = { pcm, n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    return steno_transcribe_source(s, &src, p);
}

static int align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p)
{
    steno_transcribe_params own;
    int rc = source_check(s, src);
    if (!rc && !text) rc = err_set(&s->error, STENO_EARG, "there is no text to align");
    if (!rc && !s->model->task->align) rc = request_refuse(s, "does not align words");
    if (!rc) rc = copy_params(s, &own, p);
    return rc ? rc : s->model->task->align(s, src, text, &own);
}

int steno_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, align(s, src, text, p));
}

/* Takes a transcript of another session. */
static int result_take(steno_session *s, struct align_result *to, const steno_align_item *x)
{
    steno_session *of = x->of;
    int rc = copy_params(s, &to->p, x->params);
    if (rc || !of) return rc;
    if (!session_may_change(of)) return err_set(&s->error, STENO_EARG, "a call is at work on the other session");
    if (of->model->task->call != STENO_CALL_TRANSCRIBE || of->request_state != REQUEST_NONE)
        return err_set(&s->error, STENO_EARG, "the other session has no transcript, or is at work on one");
    if (of->selected != &of->result || of->asked_task == STENO_TRANSLATE)
        return err_set(&s->error, STENO_EARG, "the words of a translation are not in the audio: align the transcript");
    rc = source_check(s, x->src);
    if (rc) return rc;
    of->entered = 1; /* its results are in use */
    to->r = &of->result;
    to->src = x->src;
    return STENO_OK;
}

static int align_results(steno_session *s, steno_align_item *const *items, struct align_result *to, int n)
{
    for (int i = 0; i < n; i++) {
        to[i].status = result_take(s, &to[i], items[i]);
        if (to[i].status) to[i].error = s->error;
    }
    const int rc = s->model->task->align_results(s, to, n);
    for (int i = 0; i < n; i++) {
        steno_session *of = items[i]->of;
        items[i]->status = to[i].status;
        if (items[i]->error) *items[i]->error = to[i].error;
        if (!to[i].r) continue;
        of->entered = 0;
        if (!to[i].status) of->result.is_bare = of->model->family->bare_text == BARE_ALWAYS; /* as of a transcription with word times */
    }
    return rc;
}

static int may_align(steno_session *s, steno_align_item *const *items, int n)
{
    if (!s->model->task->align_results) return request_refuse(s, "does not align the words of transcripts");
    if (n < 0 || (n && !items)) return err_set(&s->error, STENO_EARG, "n is %d, want 0 or more transcripts", n);
    for (int i = 0; i < n; i++)
        if (!items[i] || items[i]->size < sizeof **items)
            return err_set(&s->error, STENO_EARG, "transcript %d of %d: steno_align_item.size is %u bytes, want %zu", i, n,
                           items[i] ? (unsigned)items[i]->size : 0, sizeof **items);
    return STENO_OK;
}

int steno_align_results(steno_session *s, steno_align_item *const *items, int n)
{
    int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    rc = may_align(s, items, n);
    if (rc || !n) return call_leave(s, rc);
    struct align_result *to = calloc((size_t)n, sizeof *to);
    rc = to ? align_results(s, items, to, n) : err_nomem(&s->error, (size_t)n * sizeof *to, "transcripts");
    free(to);
    return call_leave(s, rc);
}

int steno_align_result(steno_session *s, steno_session *of, const steno_source *src, const steno_transcribe_params *p)
{
    steno_align_item one = { .size = sizeof one, .of = of, .src = src, .params = p };
    steno_align_item *const items[] = { &one };
    return steno_align_results(s, items, 1);
}

int steno_find_speech(steno_session *s, const steno_source *src, const steno_vad_params *p)
{
    return request_here(s, STENO_CALL_FIND_SPEECH, src, NULL, p);
}

static int detect(steno_session *s, const steno_source *src, float *probs, int n)
{
    const int rc = source_check(s, src);
    if (rc) return rc;
    if (n < 0) return err_set(&s->error, STENO_EARG, "n is %d, want 0 or more probabilities", n);
    if (!s->model->task->detect_language) return request_refuse(s, "cannot detect languages this way");
    return s->model->task->detect_language(s, src, probs, n);
}

int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, detect(s, src, probs, n));
}
