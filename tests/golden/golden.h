/* steno tests: results of the reference, and how ours are held against them. SPDX-License-Identifier: MIT
 *
 * golden.json holds what openai-whisper (f32, CPU, temperature 0) made of each sound file under each set of options. A set is in scope
 * when every option in it is one that options_apply knows; a case counts when the reference itself is sure of it ("stable"). The whole
 * collection lies in the folder named by STENO_SHARED and is used where it is there; a part of it, for the shipped model, is in
 * tests/data/golden. */
#ifndef STENO_TESTS_GOLDEN_H
#define STENO_TESTS_GOLDEN_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <steno/steno.h>
#include <steno/media.h>
#include "harness.h"
#include "levels.h"

enum { PATH_MAX_LEN = 512, PCM_MAX = 16000 * 130 };

struct golden_path { char s[PATH_MAX_LEN]; };

/* A file of the whole collection; "" when it is not on this machine. */
static inline struct golden_path shared_file(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/whisper-digits/%s", shared, name);
    return p;
}

/* A sound file of the collection. */
static inline struct golden_path audio_of(const char *name)
{
    char file[128];
    snprintf(file, sizeof file, "golden/audio/%s", name);
    return shared_file(file);
}

/* A model that computes as the reference does. text_ctx and decoder_type as in steno_model_params, 0: the default. */
static inline steno_model *reference_model(const char *path, int32_t text_ctx, int32_t decoder_type)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    p.text_ctx = text_ctx;
    p.decoder_type = decoder_type;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static inline int is_there(const char *path)
{
    FILE *f = *path ? fopen(path, "rb") : NULL;
    if (f) fclose(f);
    return f != NULL;
}

/* What main returns where the whole collection is missing: ctest shows the test as skipped. */
static inline int collection_missing(void)
{
    if (is_there(shared_file("golden/golden.json").s)) return 0;
    fprintf(stderr, "skipped: STENO_SHARED does not name the collection of goldens\n");
    return 77;
}

static inline json_t *json_open(const char *path)
{
    json_error_t e;
    json_t *j = json_load_file(path, 0, &e);
    if (!j) fail_msg("%s:%d: %s", path, e.line, e.text);
    return j;
}

/* ---- sound ------------------------------------------------------------------------------------------------------------------- */

struct sound { float *pcm; int64_t n; };

/* Whole file as 16 kHz mono. @return 0, or 1 when this build, which has no FFmpeg, cannot decode the format */
static inline int sound_read(struct sound *out, const char *path)
{
    steno_media *m = NULL;
    steno_error e;
    const int rc = steno_media_open(&m, path, NULL, NULL, &e);
    if (rc == STENO_EUNSUPPORTED && strncmp(steno_media_backend(), "FFmpeg", 6)) return 1;
    if (rc) fail_msg("%s: %s", path, e.text);
    steno_source src;
    steno_media_source(m, &src);
    out->pcm = malloc(PCM_MAX * sizeof *out->pcm);
    assert_non_null(out->pcm);
    out->n = 0;
    for (int64_t got; (got = src.read(src.user, out->pcm + out->n, PCM_MAX - out->n)) != 0; out->n += got)
        if (got < 0) fail_msg("%s: %s", path, steno_media_error(m));
    steno_media_close(m);
    if (!out->n) fail_msg("%s: no sound is in it", path);
    return 0;
}

static inline void sound_free(struct sound *s)
{
    free(s->pcm);
    s->pcm = NULL;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

enum { CLIP_TIMES_MAX = 16, GOLDEN_LANES = 5 };

/* "0.5,2.5" as times. */
static inline void clips_apply(steno_transcribe_params *p, const char *list)
{
    static double times[CLIP_TIMES_MAX];
    p->clip_timestamps = times;
    p->n_clip_timestamps = 0;
    for (const char *at = list; at && *at && p->n_clip_timestamps < CLIP_TIMES_MAX; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        times[p->n_clip_timestamps++] = strtod(at, NULL);
}

/* One option of the reference as ours. @return 0 when this version does not serve it */
static inline int option_apply(steno_transcribe_params *p, const char *name, const json_t *v)
{
    if (!strcmp(name, "without_timestamps")) p->without_timestamps = json_is_true(v);
    else if (!strcmp(name, "condition_on_previous_text")) p->condition_on_previous_text = json_is_true(v);
    else if (!strcmp(name, "task")) p->task = strcmp(json_string_value(v), "translate") ? STENO_TRANSCRIBE : STENO_TRANSLATE;
    else if (!strcmp(name, "language")) p->language = json_string_value(v);
    else if (!strcmp(name, "initial_prompt")) p->initial_prompt = json_string_value(v);
    else if (!strcmp(name, "suppress_tokens")) p->suppress_tokens = json_string_value(v);
    else if (!strcmp(name, "max_initial_timestamp")) p->max_initial_timestamp = json_is_null(v) ? 0 : json_number_value(v);
    else if (!strcmp(name, "carry_initial_prompt")) p->carry_initial_prompt = json_is_true(v);
    else if (!strcmp(name, "no_speech_threshold")) p->no_speech_threshold = json_is_null(v) ? (double)NAN : json_number_value(v);
    else if (!strcmp(name, "logprob_threshold")) p->logprob_threshold = json_is_null(v) ? (double)NAN : json_number_value(v);
    else if (!strcmp(name, "beam_size")) p->beam_size = (int32_t)json_integer_value(v);
    else if (!strcmp(name, "patience")) p->patience = json_number_value(v);
    else if (!strcmp(name, "length_penalty")) p->length_penalty = json_number_value(v);
    else if (!strcmp(name, "clip_timestamps")) clips_apply(p, json_string_value(v));
    else if (!strcmp(name, "word_timestamps")) p->word_timestamps = json_is_true(v);
    else if (!strcmp(name, "hallucination_silence_threshold")) p->hallucination_silence_threshold = json_number_value(v);
    else return 0;
    return 1;
}

/* Parameters of a set for a file in `language`. @return 0 when the set is out of scope */
static inline int options_apply(steno_transcribe_params *p, json_t *set, const char *language)
{
    steno_transcribe_params_init(p);
    p->language = language;
    p->temperature_increment_on_fallback = 0; /* the reference was given one temperature */
    p->guards = STENO_GUARDS_OFF; /* the reference to the letter: its segments end at the model's times, behind the sound, too */
    const char *name;
    json_t *v;
    int known = set != NULL;
    json_object_foreach(set, name, v) known = known && option_apply(p, name, v);
    return known;
}

/* ---- comparison -------------------------------------------------------------------------------------------------------------- */

struct tolerance { double logprob, ratio, no_speech_rel; };

static struct tolerance const exact_numbers = { 1e-4, 1e-4, 2e-3 };

static inline int differ(char *why, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, n, fmt, ap);
    va_end(ap);
    return 1;
}

static inline double field(const json_t *o, const char *name)
{
    return json_number_value(json_object_get(o, name));
}

static inline int tokens_differ(const steno_segment *g, const json_t *want, char *why, size_t n)
{
    const json_t *ids = json_object_get(want, "tokens");
    for (int i = 0; i < g->n_tokens && i < (int)json_array_size(ids); i++) {
        const int id = (int)json_integer_value(json_array_get(ids, (size_t)i));
        if (g->tokens[i] != id) return differ(why, n, "segment %d, token %d is %d, want %d", (int)g->id, i, (int)g->tokens[i], id);
    }
    if (g->n_tokens != (int)json_array_size(ids))
        return differ(why, n, "segment %d has %d tokens, want %zu", (int)g->id, (int)g->n_tokens, json_array_size(ids));
    return 0;
}

static inline int numbers_differ(const steno_segment *g, const json_t *want, struct tolerance t, char *why, size_t n)
{
    const double logprob = field(want, "avg_logprob"), ratio = field(want, "compression_ratio"), none = field(want, "no_speech_prob");
    if (!(fabs(g->avg_logprob - logprob) <= t.logprob))
        return differ(why, n, "segment %d: avg_logprob %.9g, want %.9g", (int)g->id, g->avg_logprob, logprob);
    if (!(fabs(g->compression_ratio - ratio) <= t.ratio))
        return differ(why, n, "segment %d: compression_ratio %.9g, want %.9g", (int)g->id, g->compression_ratio, ratio);
    if (!(fabs(g->no_speech_prob - none) <= t.no_speech_rel * none + 1e-12))
        return differ(why, n, "segment %d: no_speech_prob %.9g, want %.9g", (int)g->id, g->no_speech_prob, none);
    return 0;
}

/* Words of a segment: the same texts, times within 20 ms, probabilities within 1e-3. */
static inline int golden_words_differ(const steno_session *s, const steno_segment *g, const json_t *want, char *why, size_t n)
{
    const json_t *words = json_object_get(want, "words");
    for (int i = 0; i < g->n_words && i < (int)json_array_size(words); i++) {
        const json_t *v = json_array_get(words, (size_t)i);
        const char *text = json_string_value(json_object_get(v, "word"));
        steno_word w = { .size = sizeof w };
        if (steno_word_get(s, g->id, i, &w)) return differ(why, n, "segment %d: word %d cannot be read", (int)g->id, i);
        if (strcmp(w.text, text) != 0) return differ(why, n, "segment %d: word %d is '%s', want '%s'", (int)g->id, i, w.text, text);
        if (!(fabs(w.start - field(v, "start")) <= 0.0201) || !(fabs(w.end - field(v, "end")) <= 0.0201))
            return differ(why, n, "segment %d: word '%s' at %.3f..%.3f s, want %.3f..%.3f", (int)g->id, text, w.start, w.end,
                          field(v, "start"), field(v, "end"));
        if (!(fabs(w.probability - field(v, "probability")) <= 1e-3))
            return differ(why, n, "segment %d: word '%s' has probability %.6f, want %.6f", (int)g->id, text, w.probability,
                          field(v, "probability"));
    }
    if (g->n_words != (int)json_array_size(words))
        return differ(why, n, "segment %d has %d words, want %zu", (int)g->id, (int)g->n_words, json_array_size(words));
    return 0;
}

static inline int segment_differs(const steno_segment *g, const json_t *want, struct tolerance t, char *why, size_t n)
{
    const char *text = json_string_value(json_object_get(want, "text"));
    const long long t0 = llround(1000 * field(want, "start")), t1 = llround(1000 * field(want, "end"));
    const long long near = json_object_get(want, "words") ? 20 : 0; /* segments end with their words */
    if (tokens_differ(g, want, why, n)) return 1;
    if (strcmp(g->text, text) != 0) return differ(why, n, "segment %d: text '%s', want '%s'", (int)g->id, g->text, text);
    if (g->id != json_integer_value(json_object_get(want, "id"))) return differ(why, n, "segment %d has the wrong id", (int)g->id);
    if (g->seek_frames != json_integer_value(json_object_get(want, "seek")))
        return differ(why, n, "segment %d: seek %lld, want %g", (int)g->id, (long long)g->seek_frames, field(want, "seek"));
    if (llabs(g->t0_ms - t0) > near || llabs(g->t1_ms - t1) > near)
        return differ(why, n, "segment %d: %lld..%lld ms, want %lld..%lld", (int)g->id, (long long)g->t0_ms, (long long)g->t1_ms, t0, t1);
    return numbers_differ(g, want, t, why, n);
}

/* First difference between the session's result and the reference's, as text in why. @return 1 when there is one */
static inline int result_differs(const steno_session *s, const json_t *want, struct tolerance t, char *why, size_t n)
{
    const json_t *segments = json_object_get(want, "segments");
    const char *text = json_string_value(json_object_get(want, "text")), *language = json_string_value(json_object_get(want, "language"));
    steno_segment g = { .size = sizeof g };
    for (int i = 0; i < steno_segment_count(s) && i < (int)json_array_size(segments); i++) {
        if (steno_segment_get(s, i, &g)) return differ(why, n, "segment %d cannot be read", i);
        if (segment_differs(&g, json_array_get(segments, (size_t)i), t, why, n)) return 1;
        if (golden_words_differ(s, &g, json_array_get(segments, (size_t)i), why, n)) return 1;
    }
    if (steno_segment_count(s) != (int)json_array_size(segments))
        return differ(why, n, "%d segments, want %zu", steno_segment_count(s), json_array_size(segments));
    if (strcmp(steno_text(s), text) != 0) return differ(why, n, "text '%s', want '%s'", steno_text(s), text);
    if (strcmp(steno_language(s), language) != 0) return differ(why, n, "language %s, want %s", steno_language(s), language);
    return 0;
}

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

struct engine { steno_team *team; steno_model *model; steno_session *session; int32_t drafts; /* of a run, 0: as usual */ };

static inline void engine_open_verified(struct engine *g, const char *path, const char *level, int threads, enum steno_compute compute,
                                        int verify)
{
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.cpu_level = level;
    p.verify = verify;
    *g = (struct engine){ 0 };
    if (steno_team_open(&g->team, threads, &e)) fail_msg("%s", e.text);
    p.team = g->team;
    if (steno_model_open(&g->model, path, &p, &e)) fail_msg("%s", e.text);
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = GOLDEN_LANES;
    if (steno_session_open(&g->session, g->model, g->team, &sp, &e)) fail_msg("%s", e.text);
}

static inline void engine_open_as(struct engine *g, const char *path, const char *level, int threads, enum steno_compute compute)
{
    engine_open_verified(g, path, level, threads, compute, 0);
}

static inline void engine_open(struct engine *g, const char *path, const char *level, int threads)
{
    engine_open_as(g, path, level, threads, STENO_COMPUTE_F32);
}

static inline void engine_close(struct engine *g)
{
    steno_session_close(g->session);
    steno_model_close(g->model);
    steno_team_close(g->team);
}

/* ---- running cases ----------------------------------------------------------------------------------------------------------- */

struct tally { int cases, differ, unstable, undecoded; };

typedef int case_fn(void *user, const char *file, const char *set, const steno_session *s, const json_t *want);

/* Every stable case of one file through the engine, of those sets that `only` (NULL: all) names; fn is asked about each result and
 * returns 1 for a difference. */
static inline void file_run(struct tally *t, struct engine *g, json_t *golden, const char *name, const char *path, const char *only,
                            case_fn *fn, void *user)
{
    struct sound snd;
    if (sound_read(&snd, path)) {
        t->undecoded++;
        return;
    }
    const int before = t->cases + t->unstable;
    json_t *file = json_object_get(json_object_get(golden, "files"), name), *sets = json_object_get(golden, "option_sets"), *want;
    const json_t *truth = json_object_get(file, "truth");
    const char *language = json_string_value(json_object_get(truth ? truth : file, "language")), *set;
    if (snd.n != json_integer_value(json_object_get(file, "samples")))
        fail_msg("%s: %lld samples, want %g", path, (long long)snd.n, field(file, "samples"));
    json_object_foreach(json_object_get(file, "results"), set, want)
    {
        steno_transcribe_params p;
        json_t *options = json_object_get(sets, set);
        if (!options) options = json_object_get(json_object_get(golden, "long_option_sets"), set);
        if (!options_apply(&p, options, language) || (only && !strstr(only, set))) continue;
        if (p.clip_timestamps) clips_apply(&p, json_string_value(json_object_get(file, "clip_timestamps")));
        if (g->drafts && !p.beam_size && p.temperature == 0) p.draft_max = g->drafts;
        if (!json_is_true(json_object_get(want, "stable"))) {
            t->unstable++;
            continue;
        }
        if (steno_transcribe(g->session, snd.pcm, snd.n, &p)) fail_msg("%s, %s: %s", name, set, steno_last_error(g->session));
        t->cases++;
        t->differ += fn(user, name, set, g->session, want);
    }
    sound_free(&snd);
    if (t->cases + t->unstable == before) fail_msg("golden.json, %s: no case for %s", name, only ? only : "it");
}

/* A case_fn: everything equal, numbers within the tolerance that user points at. */
static inline int case_equal(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    const struct tolerance *t = user;
    char why[600];
    if (!result_differs(s, want, *t, why, sizeof why)) return 0;
    print_error("golden.json, %s, %s: %s\n", file, set, why);
    return 1;
}
#endif
