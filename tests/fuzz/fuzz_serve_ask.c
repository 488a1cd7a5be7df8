/* steno: fuzzing of requests for transcriptions. SPDX-License-Identifier: MIT
 *
 * The first byte chooses a route, lines behind it are fields, NAME=VALUE. What is read passes the library's own check. */
#include "ask_fields.h"
#include "ask_other.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void add_line(struct form *f, const char *line, size_t n)
{
    char name[FORM_NAME_MAX + 1];
    struct api_error e = { 0 };
    const char *equals = memchr(line, '=', n);
    const size_t k = equals ? (size_t)(equals - line) : n;
    if (!equals || k >= sizeof name) return;
    memcpy(name, line, k);
    name[k] = '\0';
    form_add(f, name, equals + 1, n - k - 1, &e);
}

/* Any model, with or without a detector; vad_default: it is used by default. */
static void fill(struct ask *a, struct form *f, int has_vad, int vad_default, struct api_error *e)
{
    struct job job = { 0 };
    steno_error err;
    steno_transcribe_params_init(&job.params);
    a->vad_default = vad_default;
    if (has_vad) steno_vad_params_init(&job.speech.params);
    if (ask_fill(a, f, &job, NULL, e) != API_OK) return;
    if (steno_params_check(NULL, STENO_CALL_TRANSCRIBE, &job.params, NULL, &err) != STENO_OK) abort();
    if (job.params.beam_size > 8 || job.params.best_of > 8 || job.max_len < 0 || a->use_vad < 0 || a->use_vad > has_vad) abort();
    if (job.params.hotwords && !*job.params.hotwords) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct form f; /* large */
    struct api_error e = { 0 };
    struct ask a;
    if (!n) return 0;
    const int choice = data[0] % (4 * ASK_N_ROUTES);
    for (size_t at = 1; at < n;) {
        const uint8_t *end = memchr(data + at, '\n', n - at);
        const size_t k = end ? (size_t)(end - data) - at : n - at;
        add_line(&f, (const char *)data + at, k);
        at += k + 1;
    }
    ask_read_as(&a, &f, (enum ask_route)(choice / 4), STENO_TRANSCRIBE, choice % 2, &e);
    if (!memchr(a.ignored, '\0', sizeof a.ignored) || strpbrk(a.ignored, "\r\n")) abort();
    if (e.code == API_OK) fill(&a, &f, choice / 2 % 2, choice / 2 % 2 && data[0] >> 7, &e);
    if ((e.code != API_OK) != (e.message[0] != '\0')) abort();
    ask_free(&a);
    form_free(&f);
    return 0;
}
