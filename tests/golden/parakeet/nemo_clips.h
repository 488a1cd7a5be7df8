/* steno tests: the clips of the Parakeet collection and their results in NeMo. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_NEMO_CLIPS_H
#define STENO_TESTS_NEMO_CLIPS_H
#include <math.h>
#include "golden/golden.h"

static json_t *nemo; /* golden_nemo.json */

static inline struct golden_path material(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/parakeet/%s", shared, name);
    return p;
}

static inline steno_model *model_with(const char *name, int32_t decoder_type)
{
    return reference_model(material(name).s, 0, decoder_type);
}

static inline steno_model *model_of(const char *name)
{
    return model_with(name, STENO_DECODER_AUTO);
}

static inline void hear(steno_session *s, const char *clip, const steno_transcribe_params *p)
{
    char name[64];
    struct sound a = { 0 };
    snprintf(name, sizeof name, "audio/%s.wav", clip);
    assert_int_equal(sound_read(&a, material(name).s), 0);
    if (steno_transcribe(s, a.pcm, a.n, p)) fail_msg("%s: %s", clip, steno_last_error(s));
    sound_free(&a);
}

/* The reference's ids; a CTC head's are those of all rows, with repeats and blanks. */
static inline int ids_wanted(int32_t *ids, json_t *want, int is_ctc)
{
    int n = 0;
    int32_t last = -1;
    for (size_t i = 0; i < json_array_size(want); i++) {
        const int32_t id = (int32_t)json_integer_value(json_array_get(want, i));
        if (!is_ctc || (id != last && id != 48)) ids[n++] = id;
        last = id;
    }
    return n;
}

static inline void check_ids(steno_session *s, const char *clip, json_t *want, int is_ctc)
{
    static int32_t ids[1024];
    const int n = ids_wanted(ids, json_object_get(want, "ids"), is_ctc);
    int at = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        for (int k = 0; k < g.n_tokens; k++, at++)
            if (at >= n || g.tokens[k] != ids[at]) fail_msg("%s: id %d is %d", clip, at, (int)g.tokens[k]);
    }
    if (at != n && *json_string_value(json_object_get(want, "text"))) fail_msg("%s: %d ids, want %d", clip, at, n);
}

/* The reference's last row may end after the audio, ours does not. */
static inline void time_is(const char *clip, const char *text, const steno_session *s, double at, json_t *row)
{
    const double end = (double)steno_duration_ms(s) / 1000, want = 0.08 * (double)json_integer_value(row);
    if (fabs(at - want) > 1e-9 && !(want > end && fabs(at - end) < 1e-3)) fail_msg("%s: '%s' at %f s, want %f", clip, text, at, want);
}

/* Words with text, in order. */
static inline void check_words(steno_session *s, const char *clip, json_t *want)
{
    size_t at = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        for (int k = 0; k < g.n_words; k++, at++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(s, i, k, &w), 0);
            while (at < json_array_size(want) && !*json_string_value(json_object_get(json_array_get(want, at), "word"))) at++;
            json_t *word = json_array_get(want, at);
            if (!word) fail_msg("%s: word '%s' is one too many", clip, w.text);
            assert_string_equal(w.text + (*w.text == ' '), json_string_value(json_object_get(word, "word")));
            time_is(clip, w.text, s, w.start, json_object_get(word, "start_offset"));
            time_is(clip, w.text, s, w.end, json_object_get(word, "end_offset"));
        }
    }
    while (at < json_array_size(want) && !*json_string_value(json_object_get(json_array_get(want, at), "word"))) at++;
    if (at != json_array_size(want)) fail_msg("%s: %zu words, want %zu", clip, at, json_array_size(want));
}

/* All clips but `except`, which may be NULL. Closes the model. */
static inline void check_clips_but(const char *except, steno_model *m, const char *key, int is_ctc)
{
    steno_transcribe_params p;
    const char *clip;
    json_t *results;
    steno_session *s;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    p.word_timestamps = 1;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(nemo, "clips"), clip, results) {
        json_t *want = json_object_get(results, key);
        if (except && !strcmp(clip, except)) continue;
        hear(s, clip, &p);
        check_ids(s, clip, want, is_ctc);
        const char *text = json_string_value(json_object_get(want, "text"));
        if (strcmp(steno_text(s), text) != 0) fail_msg("%s: '%s', want '%s'", clip, steno_text(s), text);
        check_words(s, clip, json_object_get(json_object_get(want, "timestamp"), "word"));
    }
    steno_session_close(s);
    steno_model_close(m);
}

static inline void check_clips(const char *name, const char *key, int is_ctc)
{
    check_clips_but(NULL, model_of(name), key, is_ctc);
}

static inline int nemo_open(void **state)
{
    (void)state;
    nemo = json_open(material("golden_nemo.json").s);
    return 0;
}

static inline int nemo_close(void **state)
{
    (void)state;
    json_decref(nemo);
    return 0;
}
#endif
