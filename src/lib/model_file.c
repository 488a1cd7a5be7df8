/* steno: model files: lists their tensors, and converts them to other forms. SPDX-License-Identifier: MIT
 *
 * Tensors of any file or folder of a known form can be listed. No family needs to recognise the network. */
#include <stddef.h>
#include <string.h>
#include "base/cpu.h"
#include "base/err.h"
#include "convert/export.h"
#include "engine/params.h"
#include "lib/open.h"
#include "load/model_source.h"
#include "load/tensor.h"
#include "load/weights.h"
#include "model/family.h"

/* ---- tensors ------------------------------------------------------------------------------------------------------------------ */

static void tensor_give(const struct tensor *t, void (*take)(void *user, const steno_tensor *t), void *user)
{
    steno_tensor out = { .size = sizeof out, .n_dims = t->n_dims, .name = t->name, .type = form_name(t->form, t->type) };
    out.file = t->file->name;
    out.offset = t->offset;
    out.bytes = t->size;
    for (int i = 0; i < 4; i++) out.dim[i] = i < t->n_dims ? t->dim[i] : 1;
    take(user, &out);
}

int steno_tensors_list(const char *path, void (*take)(void *user, const steno_tensor *t), void *user, steno_error *e)
{
    struct model_source place;
    struct weights w;
    struct buf opened = { 0 };
    err_clear(e);
    if (!path || !take) return err_set(e, STENO_EARG, "steno_tensors_list needs a path, and a function that takes tensors");
    int rc = model_source_open(&place, path, &opened, e);
    if (!rc) {
        rc = weights_open_source(&w, &place, e);
        if (!rc) {
            rc = weights_settle(&w, e);
            for (uint32_t i = 0; i < w.n_tensors && !rc; i++) tensor_give(&w.tensor[i], take, user);
            weights_close(&w);
        }
    }
    model_source_close(&place);
    buf_free(&opened);
    return rc;
}

/* ---- conversion --------------------------------------------------------------------------------------------------------------- */

void steno_convert_params_fill(steno_convert_params *p, uint32_t size)
{
    const steno_convert_params own = { .size = 0 };
    params_give(p, size, &own, sizeof own);
}

/* The form that a model is converted to. */
struct target {
    struct family_export of;
    model_writer *write;
    int is_gguf;
};

static int find_writer(struct target *t, const steno_convert_params *own, const char *path, steno_error *e)
{
    const char *form = own->form;
    t->is_gguf = !form || !strcmp(form, "gguf");
    t->write = t->is_gguf ? t->of.to_gguf : NULL;
    for (const struct model_form *it = t->of.forms; !t->is_gguf && it && it->name; it++)
        if (!strcmp(it->name, form)) {
            if (it->is_folder && !own->file) return err_set(e, STENO_EARG, "form %s is a folder, and needs the function `file`", form);
            t->write = it->write;
        }
    return t->write ? STENO_OK : export_refuse_form(t->of.family, t->is_gguf ? "gguf" : form, path, e);
}

/* Opens the model to check that it is usable, so that the file made of it is usable, too. */
static int check_model(struct target *t, const char *path, const steno_convert_params *own, steno_error *e)
{
    steno_model *m;
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = 1;
    p.vocab = own->vocab;
    p.llm = own->llm;
    const int rc = model_open_path(&m, path, &p, NULL, e);
    if (rc) return rc;
    t->of = export_of(m->family);
    steno_model_close(m);
    return find_writer(t, own, path, e);
}

static int refuse_type(const char *type, steno_error *e)
{
    return err_set(e, STENO_EARG, "%s is not a type that is written; %s are", type, type_mix_names);
}

static int check_order(const struct convert_order *o, const struct target *t, const char *path, const char *imatrix, steno_error *e)
{
    const int is_written = !t->is_gguf || (t->of.has_blocks ? type_mix_is_block(o->mix) : type_mix_is_of_lm(o->mix));
    if (!is_written && !t->of.has_blocks) return refuse_type(o->mix->name, e);
    if (!is_written || (t->is_gguf && !o->mix->plain && !t->of.has_mixes && !t->of.has_blocks))
        return err_set(e, STENO_EARG, "%s: %s is for language models; of %s %s are written", path, o->mix->name, t->of.family->name,
                       t->of.has_blocks ? type_mix_block_names : type_mix_plain_names);
    if (o->is_pure && !t->of.has_mixes)
        return err_set(e, STENO_EARG, "%s: pure, one type and no mixture, is for language models; of %s there are no mixtures", path,
                       t->of.family->name);
    if (imatrix && !t->of.has_mixes)
        return err_set(e, STENO_EARG, "%s: imatrix, the importance of columns, is for language models, not %s", path, t->of.family->name);
    return STENO_OK;
}

/* The caller's callbacks, which receive what the writer outputs. */
struct caller { const steno_convert_params *p; };

static int give_bytes(void *user, const void *data, size_t n)
{
    const struct caller *c = user;
    return c->p->write(c->p->user, data, n);
}

static int give_file(void *user, const char *name)
{
    const struct caller *c = user;
    return c->p->file(c->p->user, name);
}

static int give_tensor(void *user, const struct tensor_note *n)
{
    const struct caller *c = user;
    const steno_convert_tensor t = { .size = sizeof t, .i = (int32_t)n->i, .n = (int32_t)n->n, .name = n->name, .from = n->from,
                                     .to = n->to, .wanted = n->requested, .from_bytes = (int64_t)n->from_sz,
                                     .to_bytes = (int64_t)n->to_sz };
    return c->p->tensor(c->p->user, &t);
}

static int write_model(const struct target *t, const char *path, const steno_convert_params *p, const struct convert_order *o,
                       steno_error *e)
{
    struct caller caller = { p };
    struct model_sink to = { .write = give_bytes, .user = &caller, .tensor = p->tensor ? give_tensor : NULL,
                             .file = give_file };
    struct model_source source;
    struct weights w;
    int rc = team_open(&to.team, p->n_threads, e);
    if (rc) return rc;
    rc = model_source_open(&source, path, NULL, e);
    if (!rc) rc = weights_open_source(&w, &source, e);
    if (!rc) {
        rc = family_read_settings(family_find(&w), &w, e);
        if (!rc) rc = t->write(&w, o, &to, e);
        weights_close(&w);
    }
    model_source_close(&source);
    team_close(to.team);
    return rc;
}

static int read_importance(struct imatrix *m, const char *path, steno_error *e)
{
    struct file f;
    int rc = file_open(&f, path, e);
    if (rc) return rc;
    rc = imatrix_read(m, &f, e);
    file_close(&f);
    return rc;
}

static int convert(const char *path, const steno_convert_params *p, struct convert_order *o, steno_error *e)
{
    struct target target;
    struct imatrix m = { 0 };
    int rc = check_model(&target, path, p, e);
    if (!rc && !o->mix && target.is_gguf) o->mix = type_mix_find("f32");
    if (!rc) rc = check_order(o, &target, path, p->imatrix, e);
    if (!rc && p->imatrix) {
        rc = read_importance(&m, p->imatrix, e);
        o->importance = &m;
    }
    if (!rc) rc = write_model(&target, path, p, o, e);
    imatrix_close(&m);
    return rc;
}

int steno_model_convert(const char *path, const steno_convert_params *p, steno_error *e)
{
    err_clear(e);
    steno_convert_params own;
    steno_convert_params_init(&own);
    if (!path || !p || params_take(&own, p, sizeof own, offsetof(steno_convert_params, type)) || !own.write)
        return err_set(e, STENO_EARG,
                       "steno_model_convert needs a path, and steno_convert_params that were filled and have a write function");
    struct convert_order o = { .mix = own.type ? type_mix_find(own.type) : NULL, .vocab = own.vocab, .llm = own.llm,
                               .rounds_again = own.allow_requantize != 0, .is_pure = own.pure != 0 };
    if (own.type && !o.mix) return refuse_type(own.type, e);
    if (own.n_threads < 0 || own.n_threads > TEAM_MAX)
        return err_set(e, STENO_EARG, "n_threads is %d, want 0 to %d", (int)own.n_threads, TEAM_MAX);
    const cpu_fpenv fp = cpu_fpenv_enter();
    const int rc = convert(path, &own, &o, e);
    cpu_fpenv_leave(fp);
    return rc;
}
