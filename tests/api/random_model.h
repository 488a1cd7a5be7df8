/* steno tests: small models with random weights. SPDX-License-Identifier: MIT
 *
 * A model of any dimensions, as the bytes of a whisper.cpp file and opened from them, so that a test can also read the weights. */
#ifndef STENO_TESTS_RANDOM_MODEL_H
#define STENO_TESTS_RANDOM_MODEL_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "base/file.h"
#include "convert/bin_random.h"
#include "convert/export.h"
#include "harness.h"
#include "levels.h"

enum { SMALL_VOCAB = 1900, ENGLISH = 51864, MULTILINGUAL = 51865, LANGUAGES_100 = 51866 };

/* 80 mels, 30 positions, 48 wide, 3 heads, 2 layers; 20 tokens of context; English only, or many languages. */
static struct whisper_dims const small_dims = { 80, 30, 48, 3, 2, SMALL_VOCAB, 70, 48, 3, 2 };
static struct whisper_dims const small_multilingual = { 80, 30, 48, 3, 2, MULTILINGUAL, 70, 48, 3, 2 };

struct bytes { uint8_t *p; size_t n; };

static inline struct bytes opened_bytes(const struct file *f)
{
    steno_error e;
    const struct bytes b = { malloc((size_t)f->size), (size_t)f->size };
    assert_non_null(b.p);
    if (file_read(f, 0, b.p, b.n, &e)) fail_msg("%s", e.text);
    return b;
}

static inline struct bytes random_bytes(const struct whisper_dims *d, enum dtype type, uint64_t seed)
{
    struct arena a;
    struct random_file r;
    struct file f;
    steno_error e;
    arena_init(&a);
    if (whisper_random_file(&r, &f, &a, d, type, seed, &e)) fail_msg("%s", e.text);
    const struct bytes b = opened_bytes(&f);
    arena_free(&a);
    return b;
}

/* Of a shape that the library knows by name, at its real size. */
static inline struct bytes shape_bytes(const char *shape, enum dtype type, uint64_t seed)
{
    struct arena a;
    struct random_file r;
    struct file f;
    steno_error e;
    arena_init(&a);
    if (export_random_file(&r, &f, &a, shape, type, seed, &e)) fail_msg("%s", e.text);
    const struct bytes b = opened_bytes(&f);
    arena_free(&a);
    return b;
}

static inline steno_model *bytes_open_as(struct bytes b, const char *level, enum steno_compute compute)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = (int32_t)compute;
    steno_model *m;
    steno_error e;
    if (steno_model_open_memory(&m, b.p, b.n, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static inline steno_model *bytes_open(struct bytes b, const char *level)
{
    return bytes_open_as(b, level, STENO_COMPUTE_AUTO);
}

static inline steno_model *random_model_as(const struct whisper_dims *d, enum dtype type, uint64_t seed, const char *level,
                                           enum steno_compute compute)
{
    const struct bytes b = random_bytes(d, type, seed);
    steno_model *m = bytes_open_as(b, level, compute);
    free(b.p);
    return m;
}

static inline steno_model *random_model(const struct whisper_dims *d, enum dtype type, uint64_t seed, const char *level)
{
    return random_model_as(d, type, seed, level, STENO_COMPUTE_AUTO);
}

static inline steno_session *session_new(const steno_model *m, steno_team *team, int lanes)
{
    steno_session_params p;
    steno_session_params_init(&p);
    p.max_lanes = lanes;
    steno_session *s;
    steno_error e;
    if (steno_session_open(&s, m, team, &p, &e)) fail_msg("%s", e.text);
    return s;
}

/* A session of a batch of its own, in which `windows` windows of `lanes` sequences decode beside each other; *b is closed after it. */
static inline steno_batch_params batch_params_of(int windows, int lanes)
{
    steno_batch_params p;
    steno_batch_params_init(&p);
    p.max_windows = windows;
    p.max_lanes = lanes;
    return p;
}

static inline steno_session_params session_params_in(steno_batch *b)
{
    steno_session_params p;
    steno_session_params_init(&p);
    p.batch = b;
    return p;
}

static inline steno_session *session_in_batch(steno_batch **b, const steno_model *m, int windows, int lanes)
{
    const steno_batch_params bp = batch_params_of(windows, lanes);
    steno_session *s;
    steno_error e;
    if (steno_batch_open(b, m, NULL, &bp, &e)) fail_msg("%s", e.text);
    const steno_session_params p = session_params_in(*b);
    if (steno_session_open(&s, m, NULL, &p, &e)) fail_msg("%s", e.text);
    return s;
}

/* Uniform in [-1, 1). */
static inline float noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state / 2147483648.0f;
}
#endif
