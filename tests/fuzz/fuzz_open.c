/* steno: fuzzing of the whole way from a model file to text. SPDX-License-Identifier: MIT
 *
 * Opens the input as a model, makes a session where that takes little memory, and transcribes a fifth of a second. */
#include <steno/steno.h>
#include "fuzz/input/model.h"

enum { SAMPLES = 3200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void ignore(void *user, const char *line)
{
    *(size_t *)user += strlen(line);
}

static void use(const steno_model *m)
{
    steno_session *s = NULL;
    steno_transcribe_params p;
    float pcm[SAMPLES];
    size_t lines = 0;
    int32_t ids[16];
    char text[64];
    for (int i = 0; i < SAMPLES; i++) pcm[i] = (float)(i * 37 % 201 - 100) / 200;
    steno_plan_dump(m, ignore, &lines);
    const int n = steno_tokenize(m, " one 2, three!", ids, 16);
    if (n > 0) steno_detokenize(m, ids, n < 16 ? n : 16, text, sizeof text);
    if (steno_session_memory(m, NULL, NULL) > (int64_t)64 << 20 || steno_session_open(&s, m, NULL, NULL, NULL)) return;
    steno_transcribe_params_init(&p);
    p.sample_len = 4;
    p.initial_prompt = "a";
    if (steno_transcribe(s, pcm, SAMPLES, &p) && !*steno_last_error(s)) abort(); /* a failure without a reason */
    steno_session_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    size_t size;
    uint8_t *bytes = model_input(data, n, &size);
    if (!bytes) return 0;
    steno_model *m = NULL;
    steno_error e = { 0 };
    if (!steno_model_open_memory(&m, bytes, size, NULL, &e)) use(m);
    else if (!e.status || !e.text[0]) abort();
    steno_model_close(m);
    free(bytes);
    return 0;
}
