/* steno: fuzzing of what a request goes on from. SPDX-License-Identifier: MIT
 *
 * A small model reads nine seconds in four settings, and reports from where a request could go on. The first byte chooses the setting, and
 * whether the rest is such bytes (odd) or what is changed in those of the model (even): four bytes each, how, where, and by what.
 * Checksums are made right, so that what is behind them is tried. A request takes the bytes and has results that can be read, or refuses
 * them with a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <steno/steno.h>
#include "base/buf.h"
#include "base/file.h"
#include "convert/bin_random.h"
#include "unit/crc32.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { RATE = 16000, SAMPLES = 9 * RATE, SETTINGS = 4, MOST = 1 << 20 };
static const struct whisper_dims dims = { 80, 150, 48, 3, 2, 51865, 70, 48, 3, 2 };

struct record_head { uint32_t magic, sum; uint64_t size, model; uint32_t n_results, n_state; };

static struct {
    steno_model *model;
    steno_batch *batch;
    steno_session *session;
    steno_heard heard;
    float pcm[SAMPLES];
    int64_t at;
    int status;
    volatile size_t seen;
    struct buf own[SETTINGS]; /* the model's resume data */
} with;

static int64_t hear(void *user, float *pcm, int64_t n)
{
    (void)user;
    if (n > SAMPLES - with.at) n = SAMPLES - with.at;
    memcpy(pcm, with.pcm + with.at, (size_t)n * sizeof *pcm);
    with.at += n;
    return n;
}

static int hear_again(void *user)
{
    (void)user;
    with.at = 0;
    return 0;
}

static void on_done(void *user, steno_session *s, int status)
{
    (void)user, (void)s;
    with.status = status;
}

static int no_window(void *user, int64_t at_ms)
{
    (void)user, (void)at_ms;
    return 0;
}

static void keep(void *user, const void *data, size_t n)
{
    buf_add(user, data, n);
}

static steno_transcribe_params setting(int i)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = "de";
    p.sample_len = 12;
    p.temperature_increment_on_fallback = 0.0 / 0.0;
    p.no_speech_threshold = 0.0 / 0.0;
    if (i == 0) p.word_timestamps = p.token_timestamps = 1;
    if (i == 1) p.beam_size = p.n_best = 3;
    if (i == 2) p.without_timestamps = 1, p.condition_on_previous_text = 0; /* windows beside each other */
    if (i == 3) p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    return p;
}

/* @return how the request ended */
static int request(const steno_transcribe_params *p)
{
    steno_request_params r;
    const steno_source src = { hear, hear_again, NULL };
    steno_request_params_init(&r);
    r.transcribe = p;
    r.heard = &with.heard;
    with.at = 0;
    const int rc = steno_batch_submit(with.batch, with.session, &src, &r);
    if (rc) return rc;
    if (steno_batch_run(with.batch)) abort();
    return with.status;
}

static void open_model(void)
{
    struct arena a;
    struct random_file r;
    struct file f;
    steno_error e;
    arena_init(&a);
    if (whisper_random_file(&r, &f, &a, &dims, DT_F16, 3, &e)) abort();
    uint8_t *bytes = malloc((size_t)f.size);
    if (!bytes || file_read(&f, 0, bytes, (size_t)f.size, &e)) abort();
    if (steno_model_open_memory(&with.model, bytes, (size_t)f.size, NULL, &e)) abort();
    free(bytes);
    arena_free(&a);
}

static void change(uint8_t *to, size_t *n, const uint8_t how[4])
{
    uint32_t v;
    const size_t at = (how[1] | (size_t)how[2] << 8) % (*n ? *n : 1);
    const int8_t by = (int8_t)how[3];
    if (*n < 8 || at > *n - 8) return;
    switch (how[0] % 6) {
    case 0: to[at] ^= how[3]; return;
    case 1:
        memcpy(&v, to + at, sizeof v);
        v += (uint32_t)by;
        memcpy(to + at, &v, sizeof v);
        return;
    case 2: memcpy(to + at, &(int64_t){ by }, 8); return;
    case 3: memcpy(to + at, &(int32_t){ by }, 4); return;
    case 4: memcpy(to + at, &(uint64_t){ (uint64_t)1 << (how[3] & 63) }, 8); return;
    default: *n = at; return;
    }
}

static void seal(uint8_t *p, size_t n, const struct record_head *own)
{
    struct record_head h;
    for (size_t at = 0; n - at >= sizeof h; at += (size_t)h.size) {
        memcpy(&h, p + at, sizeof h);
        h.magic = own->magic;
        h.model = own->model;
        if (h.size < sizeof h || h.size > n - at) h.size = n - at;
        memcpy(p + at, &h, sizeof h);
        h.sum = crc32_add(0, p + at + 8, (size_t)h.size - 8);
        memcpy(p + at, &h, sizeof h);
    }
}

static size_t length(const char *text) { return text ? strlen(text) : 0; }

/* Read all that there is. */
static void look(steno_session *s)
{
    size_t n = length(steno_text(s)) + length(steno_language(s));
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        if (steno_segment_get(s, i, &g)) abort();
        n += length(g.text) + length(g.language) + length(g.emotion) + length(g.event) + length(g.itn) + length(g.word_source);
        for (int k = 0; k < g.n_tokens; k++) {
            steno_token t = { .size = sizeof t };
            if (steno_token_get(s, i, k, &t)) abort();
            n += (size_t)g.tokens[k] + (size_t)t.t0_ms;
        }
        for (int k = 0; k < g.n_words; k++) {
            steno_word w = { .size = sizeof w };
            if (steno_word_get(s, i, k, &w)) abort();
            n += length(w.text) + (size_t)w.t0_ms;
        }
    }
    for (int i = 0; i < steno_hypothesis_count(s); i++) {
        steno_hypothesis h = { .size = sizeof h };
        if (steno_hypothesis_get(s, i, &h)) abort();
        n += length(h.text);
        for (int k = 0; k < h.n_tokens; k++) n += (size_t)h.tokens[k] + (h.logprobs[k] > 0);
    }
    with.seen = n;
}

static int go_on(int i, const uint8_t *bytes, size_t n)
{
    steno_transcribe_params p = setting(i);
    p.on_window = no_window;
    p.resume = bytes;
    p.n_resume = (int32_t)n;
    const int rc = request(&p);
    if (rc && rc != STENO_EARG && rc != STENO_ENOMEM) abort();
    if (rc && !*steno_last_error(with.session)) abort(); /* a refusal without a reason */
    if (rc) return rc;
    look(with.session);
    if (p.task != STENO_TRANSCRIBE_AND_TRANSLATE) return rc;
    if (steno_result_select(with.session, STENO_TRANSLATE)) abort();
    look(with.session);
    return steno_result_select(with.session, STENO_TRANSCRIBE);
}

static void begin(void)
{
    uint32_t seed = 7;
    steno_batch_params bp;
    steno_session_params sp;
    const steno_source src = { hear, hear_again, NULL };
    for (int i = 0; i < SAMPLES; i++) {
        seed = seed * 1664525u + 1013904223u;
        if (i % RATE < RATE * 7 / 10) with.pcm[i] = 0.2f * (float)(int32_t)seed / 2147483648.0f;
    }
    open_model();
    steno_batch_params_init(&bp);
    bp.max_windows = 2;
    bp.max_lanes = 3;
    bp.on_done = on_done;
    if (steno_batch_open(&with.batch, with.model, NULL, &bp, NULL)) abort();
    steno_session_params_init(&sp);
    sp.batch = with.batch;
    if (steno_session_open(&with.session, with.model, NULL, &sp, NULL)) abort();
    with.heard.size = sizeof with.heard;
    if (steno_listen(with.model, &src, &with.heard, NULL)) abort();
    for (int i = 0; i < SETTINGS; i++) {
        steno_transcribe_params p = setting(i);
        p.on_resume_point = keep;
        p.user = &with.own[i];
        if (request(&p) || with.own[i].len < 2 * sizeof(struct record_head)) abort();
        const int rc = go_on(i, (const uint8_t *)with.own[i].p, with.own[i].len);
        if (rc) fprintf(stderr, "setting %d: %s\n", i, steno_last_error(with.session)), abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!with.model) begin();
    if (!n || n > MOST) return 0;
    const int i = data[0] >> 1 & (SETTINGS - 1), is_whole = data[0] & 1;
    const struct buf *own = &with.own[i];
    size_t size = is_whole ? n - 1 : own->len;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) return 0;
    if (size) memcpy(bytes, is_whole ? (const void *)(data + 1) : (const void *)own->p, size);
    for (size_t at = 1; !is_whole && at + 4 <= n; at += 4) change(bytes, &size, data + at);
    struct record_head h;
    memcpy(&h, own->p, sizeof h);
    seal(bytes, size, &h);
    uint8_t *exact = realloc(bytes, size ? size : 1); /* reading past the end is seen */
    if (exact) go_on(i, exact, size);
    free(exact ? exact : bytes);
    return 0;
}
