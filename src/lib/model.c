/* steno: opening and describing models. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "convert/export.h"
#include "convert/random_file.h"
#include "engine/task.h"
#include "lib/open.h"
#include "load/file_probe.h"
#include "load/ggml.h"
#include "model/parts.h"

/* ---- the list of tasks -------------------------------------------------------------------------------------------------------- */

static const struct task *const tasks[] = {
    &ar_task, &ctc_task, &cif_task, &cif_stream_task, &transducer_task, &transducer_stream_task, &audio_lm_task, &vad_task, &lm_task,
    &punctuation_task, &embed_task, &aligner_task,
};

/* NULL: unknown name. */
static const struct task *task_find(const char *name)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!strcmp(tasks[i]->name, name)) return tasks[i];
    return NULL;
}

int steno_compute_auto(int level)
{
    return kern_gains(level, PK_I16_PAIR) ? STENO_COMPUTE_INT16 : STENO_COMPUTE_F32;
}

static const struct { enum packed_type type; const char *name; } arithmetic[] = {
    [STENO_COMPUTE_F32] = { 0, "f32" },
    [STENO_COMPUTE_BF16] = { PK_BF16_PAIR, "bf16" },
    [STENO_COMPUTE_INT8] = { PK_I8_QUAD, "int8" },
    [STENO_COMPUTE_INT16] = { PK_I16_PAIR, "int16" },
};

/* Packed type for products; 0: f32. */
static enum packed_type low_precision_of(int32_t compute, int level)
{
    return arithmetic[compute == STENO_COMPUTE_AUTO ? steno_compute_auto(level) : compute].type;
}

static const char *compute_name(enum packed_type low_precision)
{
    int i = STENO_COMPUTE_F32;
    while (arithmetic[i].type != low_precision) i++;
    return arithmetic[i].name;
}

static void choose_kernels(steno_model *m, const steno_model_params *p)
{
    const int level = p->cpu_level ? cpu_level_from_name(p->cpu_level) : cpu_level_best();
    kern_init(&m->kern, level);
    executor_cpu(&m->cpu, &m->kern);
    if (!m->executor) m->executor = &m->cpu.base;
    m->low_precision = low_precision_of(p->compute, level);
    m->blocks = p->compute == STENO_COMPUTE_AUTO ? executor_gains(m->executor, PK_Q8_QUAD) : p->compute != STENO_COMPUTE_F32;
    m->index_only = m->store.dry = p->index_only;
}

/* Sets the requested type of keys and values that grow. */
static int kv_type_asked(steno_model *m, int32_t asked, const char *name, steno_error *e)
{
    static enum kv_type const types[] = { [STENO_KV_F32] = KV_F32, [STENO_KV_F16] = KV_F16, [STENO_KV_Q8_0] = KV_Q8 };
    for (int i = 0; i < m->n_states && asked != STENO_KV_AUTO; i++) {
        const struct state_desc *d = &m->state[i];
        if (d->kind != STATE_APPEND) continue;
        m->kv_type[i] = types[asked];
        if (asked == STENO_KV_Q8_0 && d->d_head % KV_INT_D != 0)
            return err_set(e, STENO_EUNSUPPORTED, "%s: kv_type q8_0 needs heads of a multiple of %d numbers, and this model's have %u; f16 "
                                                  "and f32 take any", name, KV_INT_D, d->d_head);
    }
    return STENO_OK;
}

/* With narrow products, keys and values use fewer bits, too. Those that are written once and read at every step use the fewest, if that is
 * faster. */
static enum kv_type kv_type_of(const steno_model *m, const struct state_desc *d)
{
    if (!m->blocks) return KV_F32;
    return d->kind == STATE_REPLACE && d->d_head % KV_INT_D == 0 && m->executor->caps.attn_int ? KV_INT : KV_F16;
}

/* Loads the same network in f32, as stored, next to the fast one. Weights that both use in the same form are loaded once. */
static int load_exact(steno_model *m, struct weights *w, steno_error *e)
{
    steno_model *x = m->exact = calloc(1, sizeof *x);
    if (!x) return err_nomem(e, sizeof *x, "a model");
    arena_init(&x->arena);
    x->family = m->family;
    x->task = m->task;
    x->is_exact = 1;
    x->index_only = m->index_only;
    x->matrix_type = m->matrix_type;
    kern_init(&x->kern, m->kern.level);
    executor_cpu(&x->cpu, &x->kern);
    x->executor = m->executor == &m->cpu.base ? &x->cpu.base : m->executor;
    x->store = m->store;
    const struct model_open opening = { .team = m->opening->team, .align_heads = m->opening->align_heads };
    x->opening = &opening;
    const int rc = m->family->describe(x, w, e);
    m->store = x->store;
    x->store = (struct weight_store){ 0 };
    x->opening = NULL;
    return rc;
}

/* Code that finds an error in a model need not know its path. Here the path is added to the message, if it is missing. */
static int refused(const struct model_source *place, int rc, steno_error *e)
{
    const int is_about_the_model = rc == STENO_EFORMAT || rc == STENO_EUNSUPPORTED || rc == STENO_ENOVOCAB;
    if (!e || !is_about_the_model || strstr(e->text, place->name)) return rc;
    return err_set(e, rc, "%s: %s", place->name, e->text);
}

/* Another vocabulary helps only models that take one. */
static int no_vocabulary(const steno_model *m, steno_error *e)
{
    const int rc = m->task->serves(m) & MODELS_VOCAB ? STENO_ENOVOCAB : STENO_EFORMAT;
    if (e) e->status = rc;
    return rc;
}

struct giving { struct executor *executor; steno_error *e; };

static int weights_give(void *user, const void *at, size_t n)
{
    const struct giving *g = user;
    return executor_weights(g->executor, at, n, g->e);
}

static int load(steno_model *m, const struct model_source *place, const steno_model_params *p, steno_error *e)
{
    struct weights w;
    int rc = weights_open_source(&w, place, e);
    if (rc) return rc;
    m->family = family_find(&w);
    rc = m->family ? family_read_settings(m->family, &w, e) : family_refuse(&w, e);
    if (m->family && !(m->family->low_precision & LOW_PRECISION_ROWS)) m->low_precision = 0;
    if (m->family && !(m->family->low_precision & LOW_PRECISION_STEPS)) m->blocks = 0;
    m->matrix_type = w.matrix_type;
    m->matrix_name = w.matrix_name ? w.matrix_name : dtype_name(w.matrix_type);
    m->format = w.format;
    for (uint32_t i = 0; i < w.n_tensors; i++)
        m->parameters += (int64_t)(w.tensor[i].dim[0] * w.tensor[i].dim[1] * w.tensor[i].dim[2] * w.tensor[i].dim[3]);
    if (!rc) {
        m->task = task_find(m->family->task);
        const struct param_check param_check = { m, STENO_CALL_OPEN, p, NULL, e };
        rc = m->task ? param_check_all(&param_check) : err_set(e, STENO_EUNSUPPORTED, "%s: no task is called %s", w.name, m->family->task);
    }
    if (!rc && p->decoder_type != STENO_DECODER_AUTO) rc = m->family->decoder(&m->family, &w, p->decoder_type, e);
    if (!rc) m->task = task_find(m->family->task);
    const int verify = p->verify && (m->low_precision || m->blocks); /* "auto" may already mean f32 */
    if (!rc && !m->index_only) rc = weights_settle(&w, e);
    for (uint32_t i = 0; i < w.n_tensors && m->blocks && !verify; i++) tensor_pack_blocks(&w.tensor[i]);
    if (!rc) rc = m->family->describe(m, &w, e);
    if (rc == STENO_ENOVOCAB) rc = no_vocabulary(m, e);
    if (!rc && verify) rc = load_exact(m, &w, e);
    for (int i = 0; i < m->n_states; i++) m->kv_type[i] = kv_type_of(m, &m->state[i]);
    if (!rc) rc = kv_type_asked(m, p->kv_type, w.name, e);
    for (int i = 0; m->exact && i < m->n_states; i++) m->exact->kv_type[i] = kv_type_of(m->exact, &m->exact->state[i]);
    if (!rc) rc = weights_check_used(&w, m->family->spare, e);
    weight_store_trim(&m->store);
    weights_close(&w);
    struct giving give = { m->executor, e };
    return rc || m->index_only ? rc : weight_store_each(&m->store, weights_give, &give);
}

/* Shares weights only if both models need them in the same form, packed for the same instructions. */
static void share_with(steno_model *m, const steno_model *other)
{
    if (!other || other->index_only || m->index_only) return;
    if (m->executor->ops != other->executor->ops || m->executor->ops->weights || m->kern.level != other->kern.level) return;
    model_hold(other);
    m->shares = other;
    m->store.others = other->plan;
    m->store.n_others = other->n_plans;
}

static int open_place(steno_model **out, const struct model_source *place, const steno_model_params *p, const struct model_variant *v,
                      steno_error *e)
{
    steno_model_params own;
    steno_model_params_init(&own);
    if (params_take(&own, p, sizeof own, offsetof(steno_model_params, vocab)))
        return err_set(e, STENO_EARG, "steno_model_params was not filled by steno_model_params_init");
    const struct param_check param_check = { NULL, STENO_CALL_OPEN, &own, NULL, e };
    if (param_check_all(&param_check)) return STENO_EARG;
    const int64_t t0 = os_now_ns();
    steno_model *m = calloc(1, sizeof *m);
    if (!m) return err_nomem(e, sizeof *m, "a model");
    arena_init(&m->arena);
    const char *heads = own.alignment_heads && *own.alignment_heads ? own.alignment_heads : NULL;
    const struct model_open opening = { own.team, own.vocab, heads, v && v->unfused, own.no_cmvn, own.text_ctx, own.llm,
                                        own.gelu == STENO_GELU_TANH, own.jieba_dict };
    m->opening = &opening;
    m->tokens = no_token_roles;
    m->executor = v ? v->executor : NULL;
    team_hold(own.team);
    const cpu_fpenv fp = cpu_fpenv_enter();
    choose_kernels(m, &own);
    share_with(m, own.share_with);
    int rc = refused(place, load(m, place, &own, e), e);
    cpu_fpenv_leave(fp);
    m->opening = NULL;
    m->load_us = (os_now_ns() - t0) / 1000;
    team_close(own.team);
    if (!rc) rc = model_life_begin(m, e);
    if (rc) {
        model_free(m);
        return rc;
    }
    *out = m;
    return STENO_OK;
}

int model_open_path(steno_model **out, const char *path, const steno_model_params *p, const struct model_variant *v, steno_error *e)
{
    struct model_source place;
    struct buf opened = { 0 };
    int rc = model_source_open(&place, path, &opened, e);
    if (!rc) rc = open_place(out, &place, p, v, e);
    model_source_close(&place);
    if (rc) buf_free(&opened);
    else (*out)->opened = opened;
    return rc;
}

int steno_model_open(steno_model **out, const char *path, const steno_model_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !path) return err_set(e, STENO_EARG, "steno_model_open needs a place for the model and a path");
    *out = NULL;
    return model_open_path(out, path, p, NULL, e);
}

int model_open_file(steno_model **out, const struct file *f, const steno_model_params *p, const struct model_variant *v, steno_error *e)
{
    struct model_source place;
    model_source_of_file(&place, f);
    return open_place(out, &place, p, v, e);
}

int steno_model_open_memory(steno_model **out, const void *data, size_t n, const steno_model_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || (!data && n)) return err_set(e, STENO_EARG, "steno_model_open_memory needs a place for the model and its bytes");
    *out = NULL;
    struct file f;
    file_from_memory(&f, "model in memory", data ? data : "", n);
    return model_open_file(out, &f, p, NULL, e);
}

int steno_kind_get(const char *path, steno_kind *kind, steno_error *e)
{
    err_clear(e);
    if (!path || !kind || kind->size < sizeof(uint32_t))
        return err_set(e, STENO_EARG, "steno_kind_get needs a path and a steno_kind whose size is set");
    struct model_source place;
    struct file_probe k;
    int rc = model_source_open(&place, path, NULL, e);
    if (!rc) rc = probe_source(&k, &place, e);
    model_source_close(&place);
    if (rc) return rc;
    steno_kind own = { .readable = k.readable };
    _Static_assert(sizeof own.what == sizeof k.what && sizeof own.advice == sizeof k.advice && sizeof own.file == sizeof k.file,
                   "texts of one kind are of one size, else their end is lost");
    memcpy(own.what, k.what, sizeof own.what);
    memcpy(own.advice, k.advice, sizeof own.advice);
    memcpy(own.file, k.file, sizeof own.file);
    const uint32_t n = kind->size < sizeof own ? kind->size : (uint32_t)sizeof own;
    own.size = n;
    memcpy(kind, &own, n);
    return STENO_OK;
}

static int reader_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const steno_reader *r = user;
    if (r->read(r->user, off, dst, n) >= 0) return STENO_OK;
    return err_set(e, STENO_EIO, "model: the reader failed at byte %llu", (unsigned long long)off);
}

int steno_model_open_reader(steno_model **out, const steno_reader *r, const steno_model_params *p, steno_error *e)
{
    err_clear(e);
    if (out) *out = NULL;
    int rc = STENO_OK;
    if (!out || !r || !r->read)
        rc = err_set(e, STENO_EARG, "steno_model_open_reader needs a place for the model and a reader with a read function");
    const struct file f = { .name = "model", .size = r ? r->size : 0, .fd = -1, .read = reader_read, .user = r };
    if (!rc) rc = model_open_file(out, &f, p, NULL, e);
    if (r && r->close) r->close(r->user);
    return rc;
}

int steno_model_open_random(steno_model **out, const char *shape, const char *type, uint64_t seed, const steno_model_params *p,
                            steno_error *e)
{
    err_clear(e);
    if (!out || !shape || !type) return err_set(e, STENO_EARG, "steno_model_open_random needs a place for the model, a shape and a type");
    *out = NULL;
    const enum dtype t = dtype_find(type);
    if (t == DT_COUNT || ggml_ftype_code(t) < 0)
        return err_set(e, STENO_EARG, "unknown type '%s'; known are f32, f16, q8_0, q5_0, q5_1, q4_0, q4_1, q2_k, q3_k, q4_k, q5_k, q6_k,"
                       " iq4_xs", type);
    struct arena a;
    arena_init(&a);
    struct random_file r;
    struct file f;
    int status = export_random_file(&r, &f, &a, shape, t, seed, e);
    if (!status) status = model_open_file(out, &f, p, NULL, e);
    arena_free(&a);
    return status;
}

void steno_model_close(steno_model *m)
{
    if (m) model_release(m);
}

/* Arithmetic of the encoder's attention: integer if its plan has such a layer. */
static const char *attention_name(const steno_model *m)
{
    const struct plan *p = &m->plan[PLAN_ENCODER];
    const int pairs = m->low_precision == PK_BF16_PAIR || (m->low_precision == PK_I8_QUAD && executor_gains(m->executor, PK_BF16_PAIR));
    int is_i8 = 0, is_i16 = 0, is_f32 = 0;
    for (int k = 0; k < p->n_ops; k++) {
        if (p->op[k].kind != OP_KV_PACK) continue;
        is_i8 |= p->slot[p->op[k].kv_slot].kv_type == KV_I8;
        is_i16 |= p->slot[p->op[k].kv_slot].kv_type == KV_I16;
        is_f32 |= p->slot[p->op[k].kv_slot].kv_type == KV_PANELS;
    }
    return is_i8 ? "int8" : is_i16 ? "int16" : pairs && !is_f32 ? "bf16" : "f32";
}

int steno_model_info_get(const steno_model *m, steno_model_info *info)
{
    if (!m || !info || info->size < sizeof(uint32_t)) return STENO_EARG;
    const struct model_widths *d = &m->widths;
    steno_model_info i = { .n_mels = d->n_mels, .n_audio_ctx = m->audio_ctx, .n_audio_state = d->audio_state,
                           .n_audio_head = d->audio_heads, .n_audio_layer = d->audio_layers, .n_vocab = m->n_vocab,
                           .n_text_ctx = m->text_ctx, .n_text_state = d->text_state, .n_text_head = d->text_heads,
                           .n_text_layer = d->text_layers, .n_languages = m->tokens.n_languages,
                           .is_multilingual = m->tokens.n_languages > 0, .parameters = m->parameters };
    snprintf(i.family, sizeof i.family, "%s", m->family->name);
    snprintf(i.name, sizeof i.name, "%s", m->name);
    snprintf(i.format, sizeof i.format, "%s", m->format);
    snprintf(i.weight_type, sizeof i.weight_type, "%s", m->matrix_name);
    snprintf(i.compute, sizeof i.compute, "%s", compute_name(m->low_precision));
    snprintf(i.device, sizeof i.device, "cpu");
    snprintf(i.attention, sizeof i.attention, "%s", attention_name(m));
    snprintf(i.decoder_weights, sizeof i.decoder_weights, "%s", m->decoder_int8 ? "int8" : "stored");
    snprintf(i.cpu_level, sizeof i.cpu_level, "%s", cpu_level_name(m->kern.level));
    i.weight_bytes = (int64_t)(weight_store_memory(&m->store) + m->arena.total + (m->exact ? m->exact->arena.total : 0));
    i.verify = m->exact != NULL;
    i.bare_text = (int32_t)m->family->bare_text;
    snprintf(i.chat, sizeof i.chat, "%s", model_chat_name(m));
    i.jieba = m->jieba;
    i.itn = m->family->audio_lm ? 2 * m->family->audio_lm->has_itn : m->family->ctc && ((const struct ctc_model *)m->part)->itn;
    i.alignment_heads = m->align_heads;
    i.alignment_unsure = m->align_unsure;
    i.attention_before = m->sight.is_local ? m->sight.before : -1;
    i.attention_after = m->sight.is_local ? m->sight.after : -1;
    snprintf(i.durations, sizeof i.durations, "%s", m->durations);
    snprintf(i.decoder_types, sizeof i.decoder_types, "%s", m->decoder_types);
    i.draft_sources = m->task->drafts;
    for (int k = 0; k < m->n_states; k++) {
        const struct state_desc *kv = &m->state[k];
        if (kv->kind != STATE_APPEND) continue;
        i.token_bytes += (int64_t)state_token_sz(kv, m->kv_type[k]);
        i.kv_bytes += (int64_t)state_pool_sz(kv, m->kv_type[k], 1);
    }
    i.session_bytes = steno_session_memory(m, NULL, NULL);
    const uint32_t n = info->size < sizeof i ? info->size : (uint32_t)sizeof i;
    i.size = n;
    memcpy(info, &i, n);
    return STENO_OK;
}

const char *steno_model_language(const steno_model *m, int i)
{
    return m && i >= 0 && i < m->tokens.n_languages ? language_code(i) : NULL;
}

const char *steno_model_file(const steno_model *m, int i)
{
    const char *p = m ? m->opened.p : NULL, *end = p ? p + m->opened.len : NULL;
    for (; p < end && i > 0; i--) p += strlen(p) + 1;
    return p < end && i == 0 ? p : NULL;
}

int steno_plan_dump(const steno_model *m, void (*write)(void *user, const char *line), void *user)
{
    if (!m || !write) return STENO_EARG;
    model_hold(m);
    for (int i = 0; i < m->n_states; i++) state_dump(&m->state[i], i, m->kv_type[i], write, user);
    for (int i = 0; i < m->n_plans; i++) plan_dump(&m->plan[i], write, user);
    model_release(m);
    return STENO_OK;
}
