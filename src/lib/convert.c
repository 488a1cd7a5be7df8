/* steno: models in another form. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include "base/cpu.h"
#include "lib/open.h"
#include "task/params.h"

void steno_convert_params_fill(steno_convert_params *p, uint32_t size)
{
    const steno_convert_params own = { .type = "f32" };
    params_give(p, size, &own, sizeof own);
}

/* The model can be used as it is: the file that is made of it can be, too. */
static int check_model(const struct family **family, const char *path, const char *vocab, steno_error *e)
{
    steno_model *m;
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = 1;
    p.vocab = vocab;
    const int rc = model_open_path(&m, path, &p, NULL, e);
    if (rc) return rc;
    *family = m->family;
    steno_model_close(m);
    return (*family)->to_gguf ? STENO_OK : family_refuse_gguf(*family, path, e);
}

static int write_model(const struct family *f, const char *path, const steno_convert_params *p, enum dtype type, steno_error *e)
{
    const struct gguf_sink to = { p->write, p->user };
    struct model_source source;
    struct weights w;
    int rc = model_source_open(&source, path, NULL, e);
    if (!rc) rc = weights_open_source(&w, &source, e);
    if (!rc) {
        rc = f->to_gguf(&w, type, p->vocab, &to, e);
        weights_close(&w);
    }
    model_source_close(&source);
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
    const enum dtype type = own.type ? dtype_find(own.type) : DT_F32;
    if (type == DT_COUNT || !dtype_is_narrowed(type))
        return err_set(e, STENO_EARG, "%s is no type that is written; f32, f16, bf16, q8_0, q5_1, q5_0, q4_1 and q4_0 are", own.type);
    const cpu_fpenv fp = cpu_fpenv_enter();
    const struct family *family;
    int rc = check_model(&family, path, own.vocab, e);
    if (!rc) rc = write_model(family, path, &own, type, e);
    cpu_fpenv_leave(fp);
    return rc;
}
