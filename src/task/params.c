/* steno: parameters of the public calls. SPDX-License-Identifier: MIT
 *
 * Callers own structs that grow from version to version. A call copies the fields that its caller's version has over this version's
 * defaults. So later changes do not affect the call. Values out of range are refused before work starts. */
#include "task/params.h"
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "task/task.h"

enum { WORD = 8 }; /* bytes of the widest field, whose offset is a multiple of it: any other size would cut a field */

int params_take(void *own, const void *theirs, size_t n, size_t min)
{
    uint32_t size;
    if (!theirs) return STENO_OK;
    memcpy(&size, theirs, sizeof size);
    if (size < min) return STENO_EARG;
    memcpy(own, theirs, size < n ? size - size % WORD : n);
    size = (uint32_t)n;
    memcpy(own, &size, sizeof size);
    return STENO_OK;
}

void params_give(void *theirs, uint32_t size, const void *own, size_t n)
{
    if (!theirs || size < sizeof size) return;
    memset(theirs, 0, size);
    memcpy(theirs, own, size < n ? size - size % WORD : n);
    memcpy(theirs, &size, sizeof size);
}

/* ---- which model supports what ----------------------------------------------------------------------------------------------- */

static unsigned who(const steno_model *m, enum steno_call call)
{
    static const unsigned any[] = { [STENO_CALL_TRANSCRIBE] = BY_SPEECH, [STENO_CALL_ALIGN] = BY_ALIGN,
                                    [STENO_CALL_FIND_SPEECH] = BY_VAD | BY_VOTES | BY_THRESHOLDS, [STENO_CALL_OPEN] = BY_ALL,
                                    [STENO_CALL_PUNCTUATE] = BY_MARKS, [STENO_CALL_EMBED] = BY_TEXT | BY_EMBED,

                                    [STENO_CALL_GENERATE] = BY_AR | BY_TEXT };
    if (!m) return any[call];
    const unsigned by = m->task->serves(m);
    return call == STENO_CALL_ALIGN && (by & BY_AR) ? BY_ALIGN | by : by;
}

int param_served(const struct param *r, const steno_model *m, enum steno_call call)
{
    const unsigned by = who(m, call);
    if (by & BY_ALIGN) return (r->by & BY_ALIGN) && (!(by & BY_ENGLISH) || (r->by & (BY_ENGLISH | BY_TAGS)));
    return (r->by & by) != 0;
}

/* An audio language model also decodes token by token. What it does not support belongs to decoders that attend to an encoder. */
static const char *why_not_audio_lm(const struct param *r)
{
    if (r->at == offsetof(steno_transcribe_params, token_timestamps)) return "is for models with word times";
    if ((r->by & BY_AR) == BY_MANY) return "is for multilingual encoder-decoder models";
    return r->by & BY_TAGS ? "is for encoder-decoder models, and for those whose text a CTC head finds" : "is for encoder-decoder models";
}

const char *param_why_not(const struct param *r, const steno_model *m, enum steno_call call)
{
    if (call == STENO_CALL_ALIGN && !(r->by & BY_ALIGN)) return "is about decoding, and an alignment has a known text";
    if (r->by == BY_FBANK) return "is for models whose filter banks are shifted and scaled";
    if (call == STENO_CALL_OPEN && r->by == BY_WORDS) return "is for models whose vocabulary may lie elsewhere";
    if (r->by == BY_VAD) return "is for voice-activity models";
    if (r->by == BY_VOTES) return "is for voice-activity models with a schedule of silences";
    if (r->by == BY_THRESHOLDS) return "is for voice-activity models with two thresholds";
    if (r->by == BY_TEXT || call == STENO_CALL_GENERATE) return "is for language models";
    if (r->by == BY_MARKS) return "is for punctuation models";
    if (r->by == (BY_TEXT | BY_EMBED)) return "is for embedding models";
    if (r->by == BY_TAGS) return "is for models with tags";
    if (r->by == (BY_TIMED | BY_AUDIO_WORDS)) return "is for models with word times";
    if (r->by == BY_AUDIO_LM) return "is for audio language models";
    if (r->by == (BY_TAGS | BY_AUDIO_LM)) return "is for models with tags, and for audio language models";
    if (r->by == BY_CLIPS) return "is for models that decode clips";
    if ((r->by & BY_AR) && (who(m, call) & BY_AUDIO_LM) && m) return why_not_audio_lm(r);
    if (r->by & BY_HOT) return "is for models that decode token by token, have a CTC head, or were trained with hot words";
    if ((r->by & BY_TIMED) == (BY_AR | BY_TAGS))
        return r->by & BY_ALIGN ? "is for models that know several languages"
                                : "is for models that decode token by token or have a CTC head";
    return (r->by & BY_AR) == BY_MANY ? "is for models that know several languages" : "is for models that decode token by token";
}

/* A value that the model uses anyway: a program may set it for all models, but a user who types it made a mistake. */
static int is_so_anyway(const struct judge *j, const struct param *r)
{
    return j->call == STENO_CALL_OPEN && r->at == offsetof(steno_model_params, compute) && param_number(r, j->p) == STENO_COMPUTE_F32;
}

static int check_served(const struct judge *j)
{
    int n;
    const struct param *r = param_rows(j->call, &n);
    for (int k = 0; k < 2 * n; k++) { /* first explicit requests: others may follow from them */
        const int i = k % n;
        const int is_asked = k < n ? param_said(j, r[i].name) : param_asked(j, &r[i]) && !is_so_anyway(j, &r[i]);
        if (is_asked && !param_served(&r[i], j->m, j->call))
            return param_refuse(j, "{%s} %s; this %s%s model does not serve it: leave it out", r[i].name,
                                param_why_not(&r[i], j->m, j->call), j->m ? j->m->family->name : "",
                                j->m && who(j->m, j->call) & BY_ENGLISH ? " (English only)" : "");
    }
    return STENO_OK;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

double param_min(const struct param *r, const steno_model *m)
{
    return r->limit == LIMIT_PROBABILITY && m && m->task->serves(m) & BY_THRESHOLDS ? 0 : r->min;
}

double param_max(const struct param *r, const steno_model *m)
{
    const int ar = m && (m->task->serves(m) & BY_AR);
    if (ar && r->limit == LIMIT_TEXT_CTX) return m->text_ctx;
    return ar && r->limit == LIMIT_AUDIO_CTX ? m->audio_ctx : r->max;
}

static int check_ids(const struct judge *j, const char *name, const int32_t *ids, int32_t n)
{
    for (int32_t i = 0; j->m && i < n; i++)
        if (ids[i] < 0 || ids[i] >= j->m->n_vocab)
            return param_refuse(j, "{%s}: id %d at place %d is not in a vocabulary of %d", name, (int)ids[i], (int)i, (int)j->m->n_vocab);
    return STENO_OK;
}

static int check_list(const struct judge *j, const struct param *r)
{
    int32_t n;
    const void *items;
    memcpy(&n, (const char *)j->p + r->count_at, sizeof n);
    memcpy(&items, (const char *)j->p + r->at, sizeof items);
    if (n < 0) return param_refuse(j, "n_%s is %d, want 0 or more", r->name, (int)n);
    if (n && !items) return param_refuse(j, "%s is NULL but n_%s is %d", r->name, r->name, (int)n);
    if (j->call == STENO_CALL_GENERATE) return STENO_OK; /* texts, which chooser.c checks */
    if (r->count_at != offsetof(steno_transcribe_params, n_clip_timestamps)) return check_ids(j, r->name, items, n);
    const double *t = items;
    for (int32_t i = 0; i < n; i++) {
        if (!(t[i] >= 0 && t[i] <= 1e9)) return param_refuse(j, "{%s}: %g at place %d is not a time in seconds", r->name, t[i], (int)i);
        if (i % 2 && t[i] <= t[i - 1])
            return param_refuse(j, "{%s}: the clip from %g s to %g s has no length", r->name, t[i - 1], t[i]);
    }
    return STENO_OK;
}

static const char *bound_of(const struct param *r)
{
    if (r->limit == LIMIT_TEXT_CTX) return ", the text context of this model";
    return r->limit == LIMIT_AUDIO_CTX ? ", the audio context of this model" : "";
}

static int check_number(const struct judge *j, const struct param *r)
{
    const double v = param_number(r, j->p), min = param_min(r, j->m), max = param_max(r, j->m);
    if (r->has_none && (v == r->none || (isnan(v) && isnan(r->none)))) return STENO_OK;
    if (v >= min && v <= max) return STENO_OK;
    const char *bound = j->m ? bound_of(r) : "";
    if (!r->has_none) return param_refuse(j, "{%s=}, want %.10g to %.10g%s", r->name, min, max, bound);
    return param_refuse(j, "{%s=}, want %.10g to %.10g%s, or %.10g for none", r->name, min, max, bound, r->none);
}

static int check_temperature(const struct judge *j, double t)
{
    if (t == 0 || t >= TEMPERATURE_MIN) return STENO_OK;
    return param_refuse(j, "{temperature=}, want %g to 100, or 0 for the most probable text", TEMPERATURE_MIN);
}

/* Refuses values that lie in the range but in a gap of it. */
static int check_gaps(const struct judge *j)
{
    if (j->call == STENO_CALL_GENERATE) return check_temperature(j, ((const steno_generate_params *)j->p)->temperature);
    if (j->call != STENO_CALL_TRANSCRIBE) return STENO_OK;
    const steno_transcribe_params *p = j->p;
    const double step = p->temperature_increment_on_fallback;
    const int rc = check_temperature(j, p->temperature);
    if (rc) return rc;
    if (step > 0 && step < INCREMENT_MIN)
        return param_refuse(j, "{temperature_increment_on_fallback=}, want %g to 100, or 0 for one attempt", INCREMENT_MIN);
    if (j->m && !j->m->exact && p->verify_margin != VERIFY_MARGIN)
        return param_refuse(j, "{verify_margin} needs a model that was opened with verify");
    const int window_ms = j->m ? (int)model_window_ms(j->m) : 30000;
    if (p->chunk_ms > window_ms) return param_refuse(j, "{chunk_ms=}, and a window of this model is %d ms long", window_ms);
    return STENO_OK;
}

static int check_ranges(const struct judge *j)
{
    int n, rc = STENO_OK;
    const struct param *r = param_rows(j->call, &n);
    for (int i = 0; i < n && !rc; i++) {
        const enum steno_param_kind kind = r[i].kind;
        if (kind == STENO_PARAM_LIST) rc = check_list(j, &r[i]);
        else if (kind != STENO_PARAM_TEXT && kind != STENO_PARAM_CALL && kind != STENO_PARAM_FLAG) rc = check_number(j, &r[i]);
    }
    return rc ? rc : check_gaps(j);
}

/* ---- all checks -------------------------------------------------------------------------------------------------------------- */

int params_judge(const struct judge *j)
{
    int rc = check_served(j);
    if (!rc) rc = check_ranges(j);
    return rc ? rc : param_rules_check(j);
}

int params_check(steno_session *s, enum steno_call call, const void *p)
{
    const struct judge j = { s->model, call, p, NULL, &s->error };
    return params_judge(&j);
}
