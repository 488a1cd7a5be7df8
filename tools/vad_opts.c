/* steno: clips chosen by voice activity, and the options that say how. SPDX-License-Identifier: MIT */
#include "vad_opts.h"
#include "option_names.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int vad_opts_check(const struct vad_opts *o)
{
    if (o->kind == VAD_SILERO) return message_usage("--vad: silero is not in this version; it takes off or fsmn");
    return EXIT_OK;
}

static void params_fill(steno_vad_params *p, const struct vad_opts *o)
{
    steno_vad_params_init(p);
    p->threshold = o->threshold;
    p->max_end_silence_ms = o->min_silence_ms;
    if (!isnan(o->max_speech_s)) p->max_segment_ms = (int64_t)(o->max_speech_s * 1000);
}

static int64_t read_nothing(void *user, float *pcm, int64_t n)
{
    (void)user;
    (void)pcm;
    (void)n;
    return 0;
}

/* Let the library judge model and options on no audio at all. */
static int try_params(struct vad *v, const struct engine_opts *eo)
{
    char reason[OPTION_TEXT_SZ];
    const steno_source nothing = { .read = read_nothing };
    steno_vad_params p;
    params_fill(&p, v->o);
    const int rc = steno_find_speech(v->session, &nothing, &p);
    if (rc != STENO_EARG) return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, steno_last_error(v->session));
    return message_usage("--vad-model: %s", option_reason(reason, eo->given, steno_last_error(v->session)));
}

int vad_open(struct vad *v, const struct vad_opts *o, const struct engine *e, const struct engine_opts *eo)
{
    steno_model_params p;
    struct model_found at = { 0 };
    const struct model_choice choice = { .name = o->model, .quiet = 1 };
    memset(v, 0, sizeof *v);
    v->o = o;
    if (o->kind == VAD_OFF) return EXIT_OK;
    int code = engine_model_params(&p, eo);
    p.team = e->team;
    p.compute = STENO_COMPUTE_AUTO; /* --compute and --alignment-heads are about the other model */
    p.alignment_heads = NULL;
    if (code == EXIT_OK) code = models_open(&v->model, &at, &choice, &p);
    if (code == EXIT_OK) code = engine_enter(eo->ledger, "a file of the voice-activity model", v->model);
    if (code == EXIT_OK) {
        steno_error err = { 0 };
        const int rc = steno_session_open(&v->session, v->model, e->team, NULL, &err);
        code = rc == STENO_OK ? try_params(v, eo) : message_model_error(NULL, rc, err.text);
    }
    free(at.path);
    free(at.vocab);
    if (code != EXIT_OK) vad_close(v);
    return code;
}

void vad_close(struct vad *v)
{
    steno_session_close(v->session);
    steno_model_close(v->model);
    memset(v, 0, sizeof *v);
}

void vad_rules(struct speech_rules *r, const struct vad *v, int64_t begin_ms, int64_t duration_ms)
{
    memset(r, 0, sizeof *r);
    if (!v->session) return;
    params_fill(&r->params, v->o);
    r->session = v->session;
    r->min_speech_ms = v->o->min_speech_ms;
    r->pad_ms = v->o->pad_ms;
    r->begin_ms = begin_ms;
    r->duration_ms = duration_ms;
}
