/* steno: parameters of the public calls. SPDX-License-Identifier: MIT
 *
 * Callers own structs that grow from version to version. A call copies what its caller's version had over this version's defaults, so
 * later changes have no effect on it, and refuses what is out of range before work starts. */
#include "task/params.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "task/ar/ar_task.h"

enum { WORD = 8 }; /* bytes of the widest field, which lies on a multiple of them: a size in between cuts a field in two */

int params_take(void *own, const void *theirs, size_t n, size_t least)
{
    uint32_t size;
    if (!theirs) return STENO_OK;
    memcpy(&size, theirs, sizeof size);
    if (size < least) return STENO_EARG;
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

void steno_transcribe_params_fill(steno_transcribe_params *p, uint32_t size)
{
    steno_transcribe_params own = { 0 };
    params_default(STENO_CALL_TRANSCRIBE, &own);
    params_give(p, size, &own, sizeof own);
}

void steno_vad_params_fill(steno_vad_params *p, uint32_t size)
{
    steno_vad_params own = { 0 };
    params_default(STENO_CALL_FIND_SPEECH, &own);
    params_give(p, size, &own, sizeof own);
}

/* ---- reasons ----------------------------------------------------------------------------------------------------------------- */

/* Up to n - 1 bytes of what the caller's user calls a field. */
static void name_add(const struct judge *j, char *to, size_t n, const char *field, int with_value)
{
    const steno_param_names *own = j->names;
    const char *name = own && own->name ? own->name(own->user, field, with_value) : NULL;
    const struct param *r = param_find(j->call, field);
    const int is_number = r && r->kind != STENO_PARAM_TEXT && r->kind != STENO_PARAM_LIST && r->kind != STENO_PARAM_CALL;
    if (name) snprintf(to, n, "%s", name);
    else if (with_value && is_number) snprintf(to, n, "%s is %.10g", field, param_number(r, j->p));
    else snprintf(to, n, "%s", field);
}

int param_refuse(const struct judge *j, const char *fmt, ...)
{
    char raw[sizeof j->e->text], told[sizeof raw] = "", field[64];
    size_t n = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    for (const char *p = raw; *p && n + 1 < sizeof told;) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end || end - p > (ptrdiff_t)sizeof field) {
            told[n++] = *p++;
            told[n] = '\0';
            continue;
        }
        const int with_value = end[-1] == '=';
        snprintf(field, sizeof field, "%.*s", (int)(end - p - 1 - with_value), p + 1);
        name_add(j, told + n, sizeof told - n, field, with_value);
        n += strlen(told + n);
        p = end + 1;
    }
    return err_set(j->e, STENO_EARG, "%s", told);
}

/* ---- who serves what --------------------------------------------------------------------------------------------------------- */

static unsigned who(const steno_model *m, enum steno_call call)
{
    if (!m) return call == STENO_CALL_FIND_SPEECH ? BY_VAD : call == STENO_CALL_ALIGN ? BY_ALIGN : BY_SPEECH;
    if (m->family->search == SEARCH_VAD) return BY_VAD;
    if (m->family->search == SEARCH_CTC) return BY_TAGS;
    const unsigned many = m->tokens.n_languages ? BY_MANY : BY_ENGLISH;
    return call == STENO_CALL_ALIGN ? BY_ALIGN | many : many;
}

static int is_served(const struct param *r, const steno_model *m, enum steno_call call)
{
    const unsigned by = who(m, call);
    if (by & BY_ALIGN) return (r->by & BY_ALIGN) && (!(by & BY_ENGLISH) || (r->by & (BY_ENGLISH | BY_TAGS)));
    return (r->by & by) != 0;
}

static const char *why_not(const struct param *r, enum steno_call call)
{
    if (call == STENO_CALL_ALIGN && !(r->by & BY_ALIGN)) return "is about choosing text, and in an alignment the text is known";
    if (r->by == BY_VAD) return "is for models that find speech";
    if (r->by == BY_TAGS) return "is for models with tags";
    return (r->by & BY_AR) == BY_MANY ? "is for models that know several languages" : "is for models that decode token by token";
}

static int check_served(const struct judge *j)
{
    int n;
    const struct param *r = param_rows(j->call, &n);
    for (int k = 0; k < 2 * n; k++) { /* first what was said: the rest may be its consequence */
        const int i = k % n;
        if (!is_served(&r[i], j->m, j->call) && (k < n ? param_said(j, r[i].name) : param_asked(j, &r[i])))
            return param_refuse(j, "{%s} %s; this %s%s model does not serve it: leave it out", r[i].name, why_not(&r[i], j->call),
                                j->m ? j->m->family->name : "", j->m && who(j->m, j->call) & BY_ENGLISH ? " (English only)" : "");
    }
    return STENO_OK;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

static double most_of(const struct param *r, const steno_model *m)
{
    const int ar = m && m->family->search == SEARCH_AR;
    if (ar && r->limit == LIMIT_TEXT_CTX) return m->text_ctx;
    return ar && r->limit == LIMIT_AUDIO_CTX ? m->audio_ctx : r->most;
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
    if (n < 0 || (n && !items))
        return param_refuse(j, "n_%s is %d at no address, or less than none", r->name, (int)n);
    if (r->count_at != offsetof(steno_transcribe_params, n_clip_timestamps)) return check_ids(j, r->name, items, n);
    const double *t = items;
    for (int32_t i = 0; i < n; i++) {
        if (!(t[i] >= 0 && t[i] <= 1e9)) return param_refuse(j, "{%s}: %g at place %d is no time in seconds", r->name, t[i], (int)i);
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
    const double v = param_number(r, j->p), most = most_of(r, j->m);
    if (r->has_none && (v == r->none || (isnan(v) && isnan(r->none)))) return STENO_OK;
    if (v >= r->least && v <= most) return STENO_OK;
    const char *bound = j->m ? bound_of(r) : "";
    if (!r->has_none) return param_refuse(j, "{%s=}, want %.10g to %.10g%s", r->name, r->least, most, bound);
    return param_refuse(j, "{%s=}, want %.10g to %.10g%s, or %.10g for none", r->name, r->least, most, bound, r->none);
}

/* What is in its range, but not everywhere in it. */
static int check_gaps(const struct judge *j)
{
    if (j->call != STENO_CALL_TRANSCRIBE) return STENO_OK;
    const steno_transcribe_params *p = j->p;
    const double step = p->temperature_increment_on_fallback;
    if (p->temperature > 0 && p->temperature < TEMPERATURE_LEAST)
        return param_refuse(j, "{temperature=}, want %g to 100, or 0 for the most probable text", TEMPERATURE_LEAST);
    if (step > 0 && step < INCREMENT_LEAST)
        return param_refuse(j, "{temperature_increment_on_fallback=}, want %g to 100, or 0 for one attempt", INCREMENT_LEAST);
    if (j->m && !j->m->exact && p->verify_margin != VERIFY_MARGIN)
        return param_refuse(j, "{verify_margin} needs a model that was opened with verify");
    const int window_ms = j->m ? 20 * (int)j->m->audio_ctx : 30000;
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

/* ---- altogether -------------------------------------------------------------------------------------------------------------- */

int params_judge(const struct judge *j)
{
    int rc = check_served(j);
    if (!rc) rc = check_ranges(j);
    return rc ? rc : param_rules_check(j);
}

int params_check(steno_session *s, enum steno_call call, const void *p)
{
    const struct judge j = { s->model, call, p, NULL, &s->error };
    const int rc = params_judge(&j);
    if (rc || call != STENO_CALL_TRANSCRIBE || s->model->family->search != SEARCH_AR) return rc;
    const steno_transcribe_params *t = p;
    const int lanes = (int)s->batch->n_lanes, many = t->beam_size > lanes ? t->beam_size : t->best_of;
    if (many <= lanes) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%s is %d, but the session was opened for %d sequences at a time (max_lanes)",
                   t->beam_size > lanes ? "beam_size" : "best_of", many, lanes);
}

/* The parameters of a call in full. */
union any_params { steno_transcribe_params speech; steno_vad_params vad; };

static int take_any(union any_params *own, enum steno_call call, const void *p)
{
    if (call == STENO_CALL_FIND_SPEECH) {
        steno_vad_params_init(&own->vad);
        return params_take(&own->vad, p, sizeof own->vad, offsetof(steno_vad_params, user));
    }
    steno_transcribe_params_init(&own->speech);
    return params_take(&own->speech, p, sizeof own->speech, offsetof(steno_transcribe_params, temperature_increment_on_fallback));
}

int steno_params_check(const steno_model *m, enum steno_call call, const void *params, const steno_param_names *names, steno_error *e)
{
    union any_params own;
    steno_param_names full = { 0 };
    if (call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_FIND_SPEECH) return err_set(e, STENO_EARG, "call %d is not known", (int)call);
    if (take_any(&own, call, params)) return err_set(e, STENO_EARG, "the parameters were not filled by their init function");
    if (params_take(&full, names, sizeof full, sizeof full)) return err_set(e, STENO_EARG, "the size of steno_param_names is not set");
    steno_error unwanted;
    const struct judge j = { m, call, &own, names ? &full : NULL, e ? e : &unwanted };
    if (m) model_hold(m); /* names may close it */
    const int rc = params_judge(&j);
    if (m) model_release(m);
    return rc;
}

int steno_param_get(const steno_model *m, enum steno_call call, int i, steno_param *out)
{
    if (!out || out->size < sizeof out->size || i < 0 || call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_FIND_SPEECH) return STENO_EARG;
    int n;
    const struct param *r = param_rows(call, &n);
    if (i >= n) return STENO_EARG;
    r += i;
    steno_param row = { .kind = r->kind, .name = r->name, .least = r->least, .most = most_of(r, m), .value = r->value, .none = r->none,
                        .has_none = r->has_none, .text = r->text, .offset = (uint32_t)r->at };
    row.served = is_served(r, m, call);
    row.reason = row.served ? "" : why_not(r, call);
    if (strcmp(r->name, "chunk_ms") == 0 && row.served && m && 20 * m->audio_ctx < row.most) row.most = 20 * m->audio_ctx;
    row.size = out->size < sizeof row ? out->size : (uint32_t)sizeof row;
    memcpy(out, &row, row.size);
    return STENO_OK;
}
