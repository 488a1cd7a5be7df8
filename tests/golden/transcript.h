/* steno tests: the transcript of the shipped recording. SPDX-License-Identifier: MIT
 *
 * For tests that write the shipped model in another form. */
#ifndef STENO_TESTS_TRANSCRIPT_H
#define STENO_TESTS_TRANSCRIPT_H
#include "api/shipped.h"
#include "load/weights.h"

/* ids: digest of the tokens; all: of everything that a result has */
struct shipped_text { char text[200]; uint64_t ids, all; };

static inline struct shipped_text shipped_text(steno_model *m)
{
    const struct audio a = demo_audio(0, 0, 1);
    struct shipped_text said = { .ids = 14695981039346656037u };
    const steno_transcribe_params p = params_new();
    steno_session *s = session_new(m, NULL, 1);
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
    snprintf(said.text, sizeof said.text, "%s", steno_text(s));
    said.all = result_digest(s);
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        for (int j = 0; j < g.n_tokens; j++) said.ids = (said.ids ^ (uint64_t)g.tokens[j]) * 1099511628211u;
    }
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
    return said;
}

/* The shipped model's file and its index. */
struct source { struct file f; struct weights w; };

static inline void source_open(struct source *s)
{
    steno_error e;
    if (file_open(&s->f, shipped_model, &e) || weights_open(&s->w, &s->f, &e)) fail_msg("%s", e.text);
}

static inline void source_close(struct source *s)
{
    weights_close(&s->w);
    file_close(&s->f);
}
#endif
