/* steno tests: what the reference computes inside a window. SPDX-License-Identifier: MIT
 *
 * golden/layers holds tensors of two files of the collection, golden.json what was forced and asked there. */
#ifndef STENO_TESTS_LAYERS_H
#define STENO_TESTS_LAYERS_H
#include "golden.h"
#include "npy.h"
#include "internal.h"

static const char *const stems[] = { "en_phrases", "zh_phrases" };
enum { N_STEMS = sizeof stems / sizeof *stems };

static inline struct npy layers_tensor(const char *stem, const char *what)
{
    char name[160];
    snprintf(name, sizeof name, "whisper-digits/golden/layers/%s.%s.npy", stem, what);
    const struct npy t = npy_read(name);
    if (!t.v) fail_msg("cannot read %s", name);
    return t;
}

static inline json_t *layers_of(json_t *golden, const char *stem)
{
    char name[64];
    snprintf(name, sizeof name, "%s.wav", stem);
    return json_object_get(json_object_get(json_object_get(golden, "files"), name), "layers");
}

/* The session begins and reads the sound: log-mel of its first window. */
static inline void layers_hear_sound(steno_session *s, const struct sound *snd)
{
    struct pcm memory = { snd->pcm, snd->n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    inside_begin(s);
    assert_int_equal(inside_listen(s, &src, NULL), 0);
    assert_int_equal(inside_window(s, 0, (int)inside_frames(s), inside_mel(s)), 0);
}

/* As layers_hear_sound, for a file of the collection. */
static inline void layers_hear(steno_session *s, const char *stem)
{
    char name[64];
    struct sound snd = { 0 };
    snprintf(name, sizeof name, "%s.wav", stem);
    assert_int_equal(sound_read(&snd, audio_of(name).s), 0);
    layers_hear_sound(s, &snd);
    sound_free(&snd);
}
#endif
