/* steno tests: the FunASR collection. SPDX-License-Identifier: MIT
 *
 * Models, audio and results of the reference's PyTorch classes, in the folder named by STENO_SHARED; tests that need them are skipped
 * where it is missing. */
#ifndef STENO_TESTS_FUNASR_H
#define STENO_TESTS_FUNASR_H
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
    if (file_exists(funasr_file("%s", "README.md").s)) return 0;
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
