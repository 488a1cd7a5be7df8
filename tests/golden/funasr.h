/* steno tests: the FunASR collection. SPDX-License-Identifier: MIT
 *
 * Models, audio and results of the reference's PyTorch classes, in the folder named by STENO_SHARED; tests that need them are skipped
 * where it is missing. */
#ifndef STENO_TESTS_FUNASR_H
#define STENO_TESTS_FUNASR_H
#include <unistd.h>
#include "golden.h"
#include "npy.h"

static inline struct golden_path funasr_file(const char *fmt, const char *name)
{
    struct golden_path p = { "" };
    char tail[256];
    const char *shared = getenv("STENO_SHARED");
    snprintf(tail, sizeof tail, fmt, name);
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/funasr/%s", shared, tail);
    return p;
}

/* What main returns where the collection is missing. */
static inline int funasr_missing(void)
{
    if (is_there(funasr_file("%s", "README.md").s)) return 0;
    fprintf(stderr, "skipped: STENO_SHARED does not name the FunASR collection\n");
    return 77;
}

/* Results and model that all tests of a program share. */
static json_t *golden;
static steno_model *model;

static inline void funasr_open(const char *results, const char *weights)
{
    steno_error e;
    golden = json_open(funasr_file("%s", results).s);
    if (steno_model_open(&model, funasr_file("%s", weights).s, NULL, &e)) fail_msg("%s", e.text);
}

/* As the reference computes. */
static inline int model_open_f32(steno_model **m, const char *path, steno_error *e)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    return steno_model_open(m, path, &p, e);
}

static inline void funasr_open_f32(const char *results, const char *weights)
{
    steno_error e;
    golden = json_open(funasr_file("%s", results).s);
    if (model_open_f32(&model, funasr_file("%s", weights).s, &e)) fail_msg("%s", e.text);
}

static inline int funasr_close(void **state)
{
    (void)state;
    steno_model_close(model);
    json_decref(golden);
    return 0;
}

/* A tensor of the collection; it must be there. */
static inline struct npy funasr_tensor(const char *fmt, const char *name)
{
    char path[300], tail[256];
    snprintf(tail, sizeof tail, fmt, name);
    snprintf(path, sizeof path, "funasr/%s", tail);
    const struct npy t = npy_read(path);
    if (!t.v) fail_msg("cannot read %s", path);
    return t;
}

/* Rows that lie ld floats apart against a tensor of the collection: |difference| / |reference|. */
static inline double funasr_distance(const float *ours, size_t ld, size_t width, const char *fmt, const char *stem)
{
    struct npy want = funasr_tensor(fmt, stem);
    double d = 0, norm = 0;
    for (size_t i = 0; i < want.n; i++) {
        const double w = want.v[i], x = ours[i / width * ld + i % width];
        d += (x - w) * (x - w);
        norm += w * w;
    }
    free(want.v);
    return sqrt(d / norm);
}

/* A folder of links to a model's safetensors spelling and what it lacks, which must be removed. */
static inline struct golden_path funasr_safetensors(const char *which)
{
    static const char *const from[] = { "safetensors/config.json", "safetensors/model.safetensors", "pt/am.mvn", "pt/tokens.json",
                                        "pt/seg_dict" };
    struct golden_path dir = { "/tmp/steno-funasr-XXXXXX" };
    assert_non_null(mkdtemp(dir.s));
    for (int i = 0; i < 5; i++) {
        char to[PATH_MAX_LEN], tail[128];
        snprintf(tail, sizeof tail, "models/%.40s/%s", which, from[i]);
        snprintf(to, sizeof to, "%.200s/%s", dir.s, strrchr(from[i], '/') + 1);
        assert_int_equal(symlink(funasr_file("%s", tail).s, to), 0);
    }
    return dir;
}

static inline void funasr_safetensors_remove(struct golden_path dir)
{
    static const char *const name[] = { "config.json", "model.safetensors", "am.mvn", "tokens.json", "seg_dict" };
    for (int i = 0; i < 5; i++) {
        char path[PATH_MAX_LEN];
        snprintf(path, sizeof path, "%.200s/%s", dir.s, name[i]);
        unlink(path);
    }
    rmdir(dir.s);
}

/* PCM as a source that gives uneven pieces. */
struct pcm_feed { const struct sound *s; int64_t at, piece; };

static inline int64_t pcm_read(void *user, float *pcm, int64_t n)
{
    struct pcm_feed *m = user;
    int64_t take = m->s->n - m->at < n ? m->s->n - m->at : n;
    if (m->piece && take > m->piece) take = m->piece;
    if (take > 0) memcpy(pcm, m->s->pcm + m->at, (size_t)take * sizeof *pcm);
    m->at += take;
    return take;
}
#endif
