/* steno: parameters of the public calls. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include "model/family.h"
#include "engine/params.h"

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

void steno_model_params_fill(steno_model_params *p, uint32_t size)
{
    steno_model_params own = { 0 };
    params_default(STENO_CALL_OPEN, &own);
    params_give(p, size, &own, sizeof own);
}

void steno_punctuate_params_fill(steno_punctuate_params *p, uint32_t size)
{
    steno_punctuate_params own = { 0 };
    params_default(STENO_CALL_PUNCTUATE, &own);
    params_give(p, size, &own, sizeof own);
}

void steno_embed_params_fill(steno_embed_params *p, uint32_t size)
{
    steno_embed_params own = { 0 };
    params_default(STENO_CALL_EMBED, &own);
    params_give(p, size, &own, sizeof own);
}

void steno_generate_params_fill(steno_generate_params *p, uint32_t size)
{
    steno_generate_params own = { 0 };
    params_default(STENO_CALL_GENERATE, &own);
    params_give(p, size, &own, sizeof own);
}

/* Complete parameters of any call. */
union any_params {
    steno_transcribe_params speech;
    steno_vad_params vad;
    steno_punctuate_params marks;
    steno_embed_params embed;
    steno_model_params model;
    steno_generate_params text;
};

static int take_any(union any_params *own, enum steno_call call, const void *p)
{
    if (call == STENO_CALL_FIND_SPEECH) {
        steno_vad_params_init(&own->vad);
        return params_take(&own->vad, p, sizeof own->vad, offsetof(steno_vad_params, user));
    }
    if (call == STENO_CALL_PUNCTUATE) {
        steno_punctuate_params_init(&own->marks);
        return params_take(&own->marks, p, sizeof own->marks, sizeof own->marks);
    }
    if (call == STENO_CALL_EMBED) {
        steno_embed_params_init(&own->embed);
        return params_take(&own->embed, p, sizeof own->embed, sizeof own->embed);
    }
    if (call == STENO_CALL_OPEN) {
        steno_model_params_init(&own->model);
        return params_take(&own->model, p, sizeof own->model, offsetof(steno_model_params, vocab));
    }
    if (call == STENO_CALL_GENERATE) {
        steno_generate_params_init(&own->text);
        return params_take(&own->text, p, sizeof own->text, offsetof(steno_generate_params, top_k));
    }
    steno_transcribe_params_init(&own->speech);
    return params_take(&own->speech, p, sizeof own->speech, offsetof(steno_transcribe_params, temperature_increment_on_fallback));
}

int steno_params_check(const steno_model *m, enum steno_call call, const void *params, const steno_param_names *names, steno_error *e)
{
    union any_params own;
    steno_param_names full = { 0 };
    if (call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_GENERATE) return err_set(e, STENO_EARG, "call %d is not known", (int)call);
    if (take_any(&own, call, params)) return err_set(e, STENO_EARG, "the parameters were not filled by their init function");
    if (params_take(&full, names, sizeof full, sizeof full)) return err_set(e, STENO_EARG, "the size of steno_param_names is not set");
    steno_error unwanted;
    const struct judge j = { m, call, &own, names ? &full : NULL, e ? e : &unwanted };
    if (m) model_hold(m); /* a name callback may close the model */
    const int rc = params_judge(&j);
    if (m) model_release(m);
    return rc;
}

int steno_param_get(const steno_model *m, enum steno_call call, int i, steno_param *out)
{
    if (!out || out->size < sizeof out->size || i < 0 || call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_GENERATE) return STENO_EARG;
    int n;
    const struct param *r = param_rows(call, &n);
    if (i >= n) return STENO_EARG;
    r += i;
    steno_param row = { .kind = r->kind, .name = r->name, .min = param_min(r, m), .max = param_max(r, m), .value = r->value,
                        .none = r->none, .has_none = r->has_none, .text = r->text, .offset = (uint32_t)r->at };
    row.served = param_served(r, m, call);
    row.reason = row.served ? "" : param_why_not(r, m, call);
    if (strcmp(r->name, "chunk_ms") == 0 && row.served && m && model_window_ms(m) < row.max) row.max = model_window_ms(m);
    row.size = out->size < sizeof row ? out->size : (uint32_t)sizeof row;
    memcpy(out, &row, row.size);
    return STENO_OK;
}
