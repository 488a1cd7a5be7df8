/* steno: parameters of the public calls. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include "engine/params.h"
#include "model/family.h"

/* Complete parameters of any call. */
union any_params {
    steno_transcribe_params speech;
    steno_vad_params vad;
    steno_punctuate_params marks;
    steno_embed_params embed;
    steno_model_params model;
    steno_generate_params text;
};

/* Size of a call's parameters, and the smallest size that a caller may give. */
struct param_form { size_t size, least; };

static struct param_form form_of(enum steno_call call)
{
    switch (call) {
    case STENO_CALL_FIND_SPEECH: return (struct param_form){ sizeof(steno_vad_params), offsetof(steno_vad_params, user) };
    case STENO_CALL_OPEN: return (struct param_form){ sizeof(steno_model_params), offsetof(steno_model_params, vocab) };
    case STENO_CALL_PUNCTUATE: return (struct param_form){ sizeof(steno_punctuate_params), sizeof(steno_punctuate_params) };
    case STENO_CALL_EMBED: return (struct param_form){ sizeof(steno_embed_params), sizeof(steno_embed_params) };
    case STENO_CALL_GENERATE: return (struct param_form){ sizeof(steno_generate_params), offsetof(steno_generate_params, top_k) };
    default: return (struct param_form){ sizeof(steno_transcribe_params),
                                         offsetof(steno_transcribe_params, temperature_increment_on_fallback) };
    }
}

static void params_fill(enum steno_call call, void *p, uint32_t size)
{
    union any_params own;
    memset(&own, 0, sizeof own);
    params_default(call, &own);
    params_give(p, size, &own, form_of(call).size);
}

void steno_transcribe_params_fill(steno_transcribe_params *p, uint32_t size) { params_fill(STENO_CALL_TRANSCRIBE, p, size); }
void steno_vad_params_fill(steno_vad_params *p, uint32_t size) { params_fill(STENO_CALL_FIND_SPEECH, p, size); }
void steno_model_params_fill(steno_model_params *p, uint32_t size) { params_fill(STENO_CALL_OPEN, p, size); }
void steno_punctuate_params_fill(steno_punctuate_params *p, uint32_t size) { params_fill(STENO_CALL_PUNCTUATE, p, size); }
void steno_embed_params_fill(steno_embed_params *p, uint32_t size) { params_fill(STENO_CALL_EMBED, p, size); }
void steno_generate_params_fill(steno_generate_params *p, uint32_t size) { params_fill(STENO_CALL_GENERATE, p, size); }

static int take_any(union any_params *own, enum steno_call call, const void *p)
{
    const struct param_form form = form_of(call);
    params_fill(call == STENO_CALL_ALIGN ? STENO_CALL_TRANSCRIBE : call, own, (uint32_t)form.size);
    return params_take(own, p, form.size, form.least);
}

int steno_params_check(const steno_model *m, enum steno_call call, const void *params, const steno_param_names *names, steno_error *e)
{
    union any_params own;
    steno_param_names full = { 0 };
    if (call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_GENERATE) return err_set(e, STENO_EARG, "call %d is not known", (int)call);
    if (take_any(&own, call, params)) return err_set(e, STENO_EARG, "the parameters were not filled by their init function");
    if (params_take(&full, names, sizeof full, sizeof full)) return err_set(e, STENO_EARG, "the size of steno_param_names is not set");
    steno_error unused;
    const struct param_check j = { m, call, &own, names ? &full : NULL, e ? e : &unused };
    if (m) model_hold(m); /* a name callback may close the model */
    const int rc = param_check_all(&j);
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

int steno_serves(const steno_model *m, enum steno_call call, const char *name)
{
    int n, is_served = 0;
    if (call < STENO_CALL_TRANSCRIBE || call > STENO_CALL_GENERATE) return 0;
    const struct param *r = param_rows(call, &n);
    for (int i = 0; i < n; i++)
        if (!name || strcmp(r[i].name, name) == 0) is_served |= param_served(&r[i], m, call);
    return is_served;
}
