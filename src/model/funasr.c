/* steno: settings and features of FunASR's models. SPDX-License-Identifier: MIT */
#include "model/funasr.h"

#include <math.h>
#include <string.h>
#include "load/cmvn.h"
#include "load/vocab.h"

enum { BANDS = 80 };

const char *const funasr_spare[] = { "cmvn.shift", "cmvn.scale", NULL };

int funasr_is_gguf(const struct weights *w)
{
    return meta_find(&w->meta, "general.architecture") != NULL;
}

int funasr_match(const struct weights *w, const char *model, const char *architecture)
{
    const int gguf = funasr_is_gguf(w);
    return !strcmp(meta_text(&w->meta, gguf ? "general.architecture" : "model", ""), gguf ? architecture : model);
}

/* Only one kind of features is supported. A model that was trained with others would output nonsense. */
static int check_front_end(const struct weights *w, steno_error *e)
{
    static const struct { const char *key; int32_t value; } known[] = {
        { "frontend_conf.fs", 16000 }, { "frontend_conf.frame_length", 25 }, { "frontend_conf.frame_shift", 10 },
    };
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known && !rc; i++) {
        int32_t v = known[i].value;
        rc = meta_int(&w->meta, w->name, known[i].key, 1, INT32_MAX, 1, &v, e);
        if (!rc && v != known[i].value)
            rc = err_set(e, STENO_EUNSUPPORTED, "%s: %s is %d: features are made with %d here, and such a model is not served", w->name,
                         known[i].key, (int)v, (int)known[i].value);
    }
    return rc;
}

int funasr_read_settings(void *to, const struct funasr_settings *s, struct weights *w, steno_error *e)
{
    const int gguf = w->taps_first = funasr_is_gguf(w), form = gguf ? FUNASR_GGUF : FUNASR_CONFIG;
    int rc = check_front_end(w, e);
    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct funasr_setting *row = &s->row[i];
        const char *key = gguf ? row->gguf : row->config;
        int32_t v;
        memcpy(&v, (char *)to + row->at, sizeof v);
        if (key) rc = meta_int(&w->meta, w->name, key, row->lo, row->hi, (row->optional & form) != 0, &v, e);
        memcpy((char *)to + row->at, &v, sizeof v);
    }
    return rc;
}

/* ---- mean and variance --------------------------------------------------------------------------------------------------------- */

/* Shift of SenseVoiceSmall and Paraformer: the log energies of the bands, the same for each frame of a row. */
static const float known_shift[BANDS] = {
    -8.311879f, -8.600912f, -9.615928f, -10.43595f, -11.21292f, -11.88333f, -12.36243f, -12.63706f, -12.8818f, -12.83066f, -12.89103f,
    -12.95666f, -13.19763f, -13.40598f, -13.49113f, -13.5546f, -13.55639f, -13.51915f, -13.68284f, -13.53289f, -13.42107f, -13.65519f,
    -13.50713f, -13.75251f, -13.76715f, -13.87408f, -13.73109f, -13.70412f, -13.56073f, -13.53488f, -13.54895f, -13.56228f, -13.59408f,
    -13.62047f, -13.64198f, -13.66109f, -13.62669f, -13.58297f, -13.57387f, -13.4739f, -13.53063f, -13.48348f, -13.61047f, -13.64716f,
    -13.71546f, -13.79184f, -13.90614f, -14.03098f, -14.18205f, -14.35881f, -14.48419f, -14.60172f, -14.70591f, -14.83362f, -14.92122f,
    -15.00622f, -15.05122f, -15.03119f, -14.99028f, -14.92302f, -14.86927f, -14.82691f, -14.7972f, -14.76909f, -14.71356f, -14.61277f,
    -14.51696f, -14.42252f, -14.36405f, -14.30451f, -14.23161f, -14.19851f, -14.16633f, -14.15649f, -14.10504f, -13.99518f, -13.79562f,
    -13.3996f, -12.7767f, -11.71208f,
};
static const float known_scale[BANDS] = {
    0.155775f, 0.154484f, 0.1527379f, 0.1518718f, 0.1506028f, 0.1489256f, 0.147067f, 0.1447061f, 0.1436307f, 0.1443568f, 0.1451849f,
    0.1455157f, 0.1452821f, 0.1445717f, 0.1439195f, 0.1435867f, 0.1436018f, 0.1438781f, 0.1442086f, 0.1448844f, 0.1454756f, 0.145663f,
    0.146268f, 0.1467386f, 0.1472724f, 0.147664f, 0.1480913f, 0.1483739f, 0.1488841f, 0.1493636f, 0.1497088f, 0.1500379f, 0.1502916f,
    0.1505389f, 0.1506787f, 0.1507102f, 0.1505992f, 0.1505445f, 0.1505938f, 0.1508133f, 0.1509569f, 0.1512396f, 0.1514625f, 0.1516195f,
    0.1516156f, 0.1515561f, 0.1514966f, 0.1513976f, 0.1512612f, 0.151076f, 0.1510596f, 0.1510431f, 0.151077f, 0.1511168f, 0.1511917f,
    0.151023f, 0.1508045f, 0.1505885f, 0.1503493f, 0.1502373f, 0.1501726f, 0.1500762f, 0.1500065f, 0.1499782f, 0.150057f, 0.1502658f,
    0.150469f, 0.1505335f, 0.1505505f, 0.1505328f, 0.1504275f, 0.1502438f, 0.1499674f, 0.1497118f, 0.1494661f, 0.1493102f, 0.1493681f,
    0.1495501f, 0.1499738f, 0.1509654f,
};

static int has_length(const struct tensor *t, int n)
{
    return t && t->n_dims == 1 && t->dim[0] == (uint64_t)n;
}

/* Is x the known shift? *scale receives its scale. */
static int find_known(const float *x, int width, float *scale)
{
    if (width % BANDS) return 0;
    for (int i = 0; i < width; i++) {
        if (!(fabsf(x[i] - known_shift[i % BANDS]) < 1e-3f)) return 0;
        scale[i] = known_scale[i % BANDS];
    }
    return 1;
}

/* Some writers stored the first two lists of am.mvn, [ 0 ] and the shift, as shift and scale. So the shift is found under the other name.
 * The scale is that of the model with this shift, or am.mvn's if that file lies beside the model. */
static int repair(struct weights *w, const struct tensor *stored, int width, float *shift, float *scale, steno_error *e)
{
    const int rc = has_length(stored, width) ? tensor_read_f32(stored, shift, e) : STENO_OK;
    if (rc || (has_length(stored, width) && find_known(shift, width, scale))) return rc;
    return err_set(e, STENO_EFORMAT,
                   "%s: cmvn.shift and cmvn.scale are not %d values each, and no am.mvn lies beside it: copy that there from the "
                   "model's original folder", w->name, width);
}

static int read_stored(struct weights *w, int width, float *shift, float *scale, steno_error *e)
{
    const struct tensor *a = weights_find(w, "cmvn.shift"), *b = weights_find(w, "cmvn.scale");
    if (!has_length(a, width) || !has_length(b, width)) return repair(w, b, width, shift, scale, e);
    int rc = tensor_read_f32(a, shift, e);
    if (!rc) rc = tensor_read_f32(b, scale, e);
    for (int i = 0; i < width && !rc; i++)
        if (!(scale[i] > 0))
            rc = err_set(e, STENO_EFORMAT, "%s: cmvn.scale: value %d is %g, want more than 0", w->name, i, (double)scale[i]);
    return rc;
}

int funasr_read_cmvn(struct weights *w, int width, struct arena *a, float **shift, float **scale, steno_error *e)
{
    if (!funasr_is_gguf(w)) return cmvn_find(w, width, a, shift, scale, e);
    float *v = arena_array(a, (size_t)width * 2, sizeof *v);
    if (!v) return err_nomem(e, (size_t)width * 2 * sizeof *v, "mean and variance");
    steno_error why = { 0 }, beside = { 0 };
    int rc = read_stored(w, width, v, v + width, &why);
    *shift = v;
    *scale = v + width;
    if (rc != STENO_EFORMAT) return rc ? err_set(e, rc, "%s", why.text) : rc;
    rc = cmvn_find(w, width, a, shift, scale, &beside);
    if (rc) err_set(e, rc, "%s", rc == STENO_EFORMAT ? why.text : beside.text);
    return rc;
}

/* ---- word lists ------------------------------------------------------------------------------------------------------------------- */

enum { LINE_MAX = 1 << 16, LINES_MAX_SZ = 1 << 28 };

static int add_line(void *user, uint64_t i, const char *s, size_t n)
{
    struct buf *text = user;
    (void)i;
    buf_add(text, s, n);
    buf_str(text, "\n");
    return text->err || text->len > LINES_MAX_SZ ? STENO_ENOMEM : STENO_OK;
}

int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e)
{
    const struct meta_list *list = funasr_is_gguf(w) ? meta_find_list(&w->meta, key) : NULL;
    struct buf lines = { 0 };
    struct file f;
    *text = NULL;
    *n = 0;
    if (list) {
        int rc = meta_list_texts(list, LINE_MAX, add_line, &lines, e);
        if (rc == STENO_ENOMEM) rc = err_nomem(e, lines.len, "a dictionary");
        *n = lines.len;
        if (!rc && !(*text = arena_strdup(a, lines.p ? lines.p : "", lines.len))) rc = err_nomem(e, lines.len, "a dictionary");
        buf_free(&lines);
        return rc;
    }
    const int found = model_source_find(&w->source, file, a, &f, e);
    if (found <= 0) return found;
    const int rc = file_text(&f, LINES_MAX_SZ, a, text, e);
    *n = (size_t)f.size;
    file_close(&f);
    return rc;
}

/* ---- vocabularies of recognisers -------------------------------------------------------------------------------------------------- */

int funasr_find_vocab(const steno_model *m, struct weights *w, steno_error *e)
{
    const char *path = w->vocab ? NULL : m->opening->vocab_path;
    const int rc = w->vocab ? STENO_OK : weights_read_vocab(w, path, e);
    if (rc || w->n_vocab_entries == (uint32_t)m->n_vocab) return rc;
    return err_set(e, STENO_EFORMAT, "%s: the vocabulary has %u entries, the head %d", path ? path : w->name, (unsigned)w->n_vocab_entries,
                   (int)m->n_vocab);
}

int funasr_read_vocab(steno_model *m, const struct weights *w, uint32_t (*text)(char *s, uint32_t n), steno_error *e)
{
    int rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    for (uint32_t i = 0; i < w->n_vocab_entries && !rc; i++) {
        char *copy = arena_strdup(&m->arena, (const char *)w->vocab[i].s, w->vocab[i].n);
        if (!copy) return err_nomem(e, w->vocab[i].n, "vocabulary");
        vocab_set(&m->vocab, (int32_t)i, (const uint8_t *)copy, text ? text(copy, w->vocab[i].n) : w->vocab[i].n);
    }
    return rc ? rc : vocab_index(&m->vocab, &m->arena, e);
}
