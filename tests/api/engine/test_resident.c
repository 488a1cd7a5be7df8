/* steno tests: what is reported is what becomes resident. SPDX-License-Identifier: MIT
 *
 * Models and sessions whose fixed parts do not hide the rest, each used to the full: all lanes to the end of the text context. */
#include <sys/resource.h>
#include "noise_source.h"
#include "resident.h"
#include "shipped.h"
#include "spell.h"
#include "internal.h"
#include "task/aligner/aligner_session.h"

static int64_t weight_bytes(const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    assert_int_equal(steno_model_info_get(m, &i), 0);
    return i.weight_bytes;
}

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

static char const *const types[] = { "f32", "f16", "q8_0", "q5_0", "q5_1", "q4_0", "q4_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k",
                                     "iq4_xs" };
static enum dtype const type_of[] = { DT_F32, DT_F16, DT_Q8_0, DT_Q5_0, DT_Q5_1, DT_Q4_0, DT_Q4_1, DT_Q2_K, DT_Q3_K, DT_Q4_K, DT_Q5_K,
                                      DT_Q6_K, DT_IQ4_XS };
enum { TYPES = sizeof types / sizeof *types, COMPUTES = STENO_COMPUTE_INT16 + 1 };

static steno_model *open_bytes(struct bytes b, int compute, int index_only)
{
    steno_model *m;
    steno_model_params p;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = compute;
    p.index_only = index_only;
    if (steno_model_open_memory(&m, b.p, b.n, &p, &e)) fail_msg("%s", e.text);
    return m;
}

/* Every type of weights in every arithmetic: what becomes resident, at most while loading, and what a look at the index foretells. */
static void test_weights_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    static struct whisper_dims const dims = { 80, 500, 256, 4, 3, SMALL_VOCAB, 448, 256, 4, 3 };
    enum { WHILE_LOADING = 4 << 20 };
    for (int t = 0; t < TYPES; t++) {
        const struct bytes b = random_bytes(&dims, type_of[t], 1);
        steno_model_close(open_bytes(b, 0, 0)); /* the heap has what it needs for itself */
        for (int c = 0; c < COMPUTES; c++) {
            char what[40];
            snprintf(what, sizeof what, "%s, compute %d", types[t], c);
            steno_model *index = open_bytes(b, c, 1);
            const int64_t foretold = weight_bytes(index), before = resident();
            peak_begin();
            const int64_t before_peak = peak();
            steno_model *m = open_bytes(b, c, 0);
            const int64_t most = peak() - before_peak, took = resident() - before, said = weight_bytes(m);
            assert_said(what, said, took);
            assert_said(what, foretold, took);
            if (most > said + said / 20 + WHILE_LOADING)
                fail_msg("%s: %lld bytes while loading, %lld reported", what, (long long)most, (long long)said);
            steno_model_close(m);
            steno_model_close(index);
        }
        free(b.p);
    }
}

/* No more is asked of the system than is used, but for a piece that is not full yet. */
static void test_a_model_opens_in_the_memory_it_needs(void **state)
{
    (void)state;
    need_resident();
    enum { BESIDES = (32 + 2 + 6) << 20 };
    static const char *const type[] = { "f16", "q5_0" };
    for (int t = 0; t < 2; t++)
        for (int c = STENO_COMPUTE_AUTO; c <= STENO_COMPUTE_F32; c++) {
            steno_model *m;
            steno_model_params p;
            steno_error e;
            struct rlimit all;
            steno_model_params_init(&p);
            p.compute = c;
            p.index_only = 1;
            assert_int_equal(steno_model_open_random(&m, "tiny", type[t], 1, &p, &e), 0);
            const int64_t need = weight_bytes(m);
            steno_model_close(m);
            p.index_only = 0;
            assert_int_equal(getrlimit(RLIMIT_AS, &all), 0);
            const struct rlimit few = { (rlim_t)(address_space() + need / 2), all.rlim_max };
            const struct rlimit enough = { (rlim_t)(address_space() + need + need / 20 + BESIDES), all.rlim_max };
            assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
            const int none = steno_model_open_random(&m, "tiny", type[t], 1, &p, &e);
            assert_int_equal(setrlimit(RLIMIT_AS, &enough), 0);
            const int rc = none ? steno_model_open_random(&m, "tiny", type[t], 1, &p, &e) : 0;
            assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
            assert_int_equal(none, STENO_ENOMEM);
            if (rc) fail_msg("%s, compute %d: %s", type[t], c, e.text);
            steno_model_close(m);
        }
}

/* A model as people have it. To a folder of safetensors belongs what stands beside its original: links to both are in d then. */
static int open_named(steno_model **m, const char *name, const steno_model_params *p, struct folder *d, steno_error *e)
{
    static const char *const beside[] = { "config.json", "model.safetensors", "../pt/am.mvn", "../pt/tokens.json" };
    *d = folder_new();
    for (size_t i = 0; i < sizeof beside / sizeof *beside && strstr(name, "/safetensors"); i++) {
        const char *slash = strrchr(beside[i], '/');
        char from[700];
        snprintf(from, sizeof from, "%s/%s", name, beside[i]);
        if (symlink(from, folder_at(d, slash ? slash + 1 : beside[i]).path)) fail_msg("cannot link %s", from);
    }
    return steno_model_open(m, strstr(name, "/safetensors") ? d->path : name, p, e);
}

/* The language model of one in two files, NULL: it needs none. */
static const char *llm_of(const char *name, char path[700])
{
    static const char first[] = "funasr-encoder-mini";
    const char *at = strstr(name, first), *type = at ? at + sizeof first - 1 : "";
    if (!at) return NULL;
    type = !strcmp(type, ".gguf") ? "-f32.gguf" : !strcmp(type, "-q8.gguf") ? "-q8_0.gguf" : type;
    snprintf(path, 700, "%.*sqwen3-mini%s", (int)(at - name), name, type);
    return path;
}

/* Files as people have them, those of the collection where it is there. */
static void test_files_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    static const char *const path[] = {
        "whisper-digits/whisper-digits.bin", "whisper-digits/whisper-digits-q8_0.bin", "whisper-digits/whisper-digits-q5_1.bin",
        "whisper-digits/whisper-digits-q4_0.bin", "whisper-digits/hf", "funasr/fsmn-vad/pt", "funasr/fsmn-vad/safetensors",
        "funasr/fsmn-vad/gguf/fsmn-vad.gguf", "funasr/models/sensevoice/pt", "funasr/models/sensevoice/safetensors",
        "funasr/models/sensevoice/gguf/sensevoice-mini.gguf", "funasr/models/sensevoice/gguf/sensevoice-mini-f16.gguf",
        "funasr/models/sensevoice/gguf/sensevoice-mini-q8.gguf", "funasr/models/paraformer/pt",
        "funasr/models/paraformer/safetensors", "funasr/models/paraformer/gguf/paraformer-mini.gguf",
        "funasr/models/paraformer/gguf/paraformer-mini-f16.gguf", "funasr/models/paraformer/gguf/paraformer-mini-q8.gguf",
        "funasr/models/nano/pt", "funasr/models/nano/gguf/funasr-encoder-mini.gguf", "funasr/models/nano/gguf/funasr-encoder-mini-f16.gguf",
        "funasr/models/nano/gguf/funasr-encoder-mini-q8.gguf",
        "llm/models/bert/hf", "llm/models/bert/gguf/bert-F16.gguf", "llm/models/bert/gguf/bert-cls-Q8_0.gguf",
    };
    const char *shared = getenv("STENO_SHARED");
    for (int i = -1; i < (int)(sizeof path / sizeof *path); i++) {
        char name[600];
        if (i < 0) snprintf(name, sizeof name, "%s", shipped_model);
        else snprintf(name, sizeof name, "%.400s/material/%s", shared ? shared : "", path[i]);
        if (i >= 0 && !shared) break;
        for (int c = STENO_COMPUTE_AUTO; c <= (strstr(name, "funasr") ? STENO_COMPUTE_AUTO : STENO_COMPUTE_INT8); c++) {
            steno_model *m;
            steno_model_params p;
            steno_error e;
            steno_model_params_init(&p);
            p.compute = c;
            struct folder d;
            char llm[700];
            p.llm = llm_of(name, llm);
            const int64_t before = resident();
            if (open_named(&m, name, &p, &d, &e)) fail_msg("%s", e.text);
            assert_said(name, weight_bytes(m), resident() - before);
            steno_model_close(m);
            folder_remove(&d);
        }
    }
}

/* A file may hold the embedding a second time, as what makes logits: weights, their number and what becomes resident are those of one. */
static void test_the_embedding_counts_once(void **state)
{
    (void)state;
    need_resident();
    static struct whisper_dims const dims = { 80, 200, 256, 4, 1, 20000, 448, 256, 4, 1 };
    steno_model_info info[2] = { { .size = sizeof *info }, { .size = sizeof *info } };
    for (int tied = 0; tied < 2; tied++) {
        const struct bytes b = random_bytes(&dims, DT_F16, 3);
        const struct folder d = folder_new();
        struct weights w;
        struct file f;
        steno_model *m;
        steno_error e;
        file_from_memory(&f, "random", b.p, b.n);
        assert_int_equal(weights_open(&w, &f, NULL), 0);
        if (tied) spell_tied(&d, &w, AS_STORED);
        else spell_model(&d, &w, AS_STORED, 1);
        weights_close(&w);
        free(b.p);
        const int64_t before = resident();
        if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
        assert_said(tied ? "embedding twice" : "embedding once", weight_bytes(m), resident() - before);
        assert_int_equal(steno_model_info_get(m, &info[tied]), 0);
        steno_model_close(m);
        folder_remove(&d);
    }
    assert_int_equal(info[1].weight_bytes, info[0].weight_bytes);
    assert_int_equal(info[1].parameters, info[0].parameters);
    assert_true(info[0].parameters > (int64_t)dims.n_vocab * dims.n_text_state);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------------------- */

/* Nothing but text, so that nothing ends early. */
static void only_text(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    const steno_model *m = user;
    (void)at;
    (void)tokens;
    (void)n;
    const int32_t last = steno_token_id(m, STENO_TOKEN_TIMESTAMP) + 1500;
    for (int32_t id = steno_token_id(m, STENO_TOKEN_END); id <= last; id++) logits[id] = -INFINITY;
}

struct measured { int windows, lanes, threads, in_full; };

/* Open what is asked for, fill it, and compare. */
static void measure(const struct whisper_dims *d, int compute, struct measured r, int words)
{
    char what[100];
    snprintf(what, sizeof what, "compute %d, %d windows of %d lanes, %d threads%s", compute, r.windows, r.lanes, r.threads,
             words ? ", words" : "");
    steno_model *m = random_model_as(d, DT_F16, 1, NULL, (enum steno_compute)compute);
    steno_batch *b = NULL;
    steno_batch_params bp;
    steno_session_params sp;
    steno_error e;
    steno_session *s;
    steno_team *team = NULL;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = r.windows;
    bp.steps_between_encodes = 0; /* all windows at once */
    bp.max_lanes = sp.max_lanes = r.lanes;
    if (r.threads > 1) assert_int_equal(steno_team_open(&team, r.threads, &e), 0);
    const int64_t before = resident();
    if (r.windows > 1 && steno_batch_open(&b, m, team, &bp, &e)) fail_msg("%s", e.text);
    sp.batch = b;
    if (steno_session_open(&s, m, b ? NULL : team, &sp, &e)) fail_msg("%s", e.text);
    const int64_t said = (b ? steno_batch_memory(m, team, &bp) : 0) + steno_session_memory(m, team, &sp);
    const int64_t window = 320 * (int64_t)d->n_audio_ctx;
    struct noise audio = { 1, r.windows * window, 0 };
    const steno_source src = { noise_read, noise_rewind, &audio };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.without_timestamps = 1; /* and windows that know nothing of each other */
    p.condition_on_previous_text = 0;
    p.temperature = 1;
    p.temperature_increment_on_fallback = 0;
    p.best_of = r.lanes;
    p.sample_len = d->n_text_ctx;
    p.word_timestamps = words;
    p.guards = STENO_GUARDS_OFF;
    p.user = m;
    p.logits_filter = only_text;
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    assert_said(what, said, resident() - before);
    steno_session_close(s);
    steno_batch_close(b);
    steno_model_close(m);
    steno_team_close(team);
}

static struct whisper_dims const long_texts = { 80, 1500, 256, 4, 1, SMALL_VOCAB, 448, 256, 4, 2 };
static struct whisper_dims const many_words = { 80, 150, 64, 1, 2, ENGLISH, 32, 64, 1, 2 };

static void test_sessions_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    static struct measured const words[] = { { 16, 1, 1, 1 }, { 32, 1, 1, 1 }, { 8, 5, 1, 1 },
                                             { 32, 5, 1, 0 }, { 16, 1, 9, 0 }, { 8, 5, 64, 0 } };
    static struct measured const texts[] = { { 1, 1, 2, 1 }, { 1, 5, 3, 0 },  { 1, 1, 7, 1 },  { 1, 5, 16, 1 }, { 1, 1, 64, 0 },
                                             { 1, 1, 1, 0 }, { 1, 5, 1, 1 },  { 1, 32, 1, 0 }, { 8, 1, 1, 1 } };
    static struct measured const one = { 1, 1, 1, 0 }, five = { 1, 5, 1, 1 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (in_full() || !words[i].in_full) measure(&many_words, STENO_COMPUTE_AUTO, words[i], 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (in_full() || !texts[i].in_full) measure(&long_texts, STENO_COMPUTE_AUTO, texts[i], 0);
    for (int c = STENO_COMPUTE_F32; c < COMPUTES; c++) measure(&long_texts, c, in_full() ? five : one, 0);
    measure(&long_texts, STENO_COMPUTE_AUTO, one, 1);
}

/* One clip as long as any may be, which a search for speech takes all audio for; the next call gives back what that needed. */
static void hear_longest(steno_session *s, int seconds, int64_t span_ms)
{
    char name[600];
    steno_model *vad;
    steno_error e;
    steno_vad_params v;
    steno_transcribe_params p;
    snprintf(name, sizeof name, "%.400s/material/funasr/fsmn-vad/pt", shared_dir());
    if (steno_model_open(&vad, name, NULL, &e)) fail_msg("%s", e.text);
    steno_vad_params_init(&v);
    v.threshold = -1;
    v.max_segment_ms = span_ms;
    steno_transcribe_params_init(&p);
    p.vad_model = vad;
    p.vad = &v;
    struct noise audio = { 1, seconds * RATE, 0 };
    const steno_source src = { noise_read, noise_rewind, &audio };
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    steno_model_close(vad);
}

/* A session of a model of clips or streams, used to the full: the longest clips, the most beams. It is run
 * again where something that only some runs touch was not touched yet. */
static void measure_funasr(const char *name, int threads)
{
    enum { TIMES = 40, LONGEST_S = 60 /* of a clip of any family */ };
    char what[700];
    steno_model *m;
    steno_team *team;
    steno_session *s;
    steno_error e;
    steno_transcribe_params tp;
    snprintf(what, sizeof what, "%s, %d threads", name, threads);
    steno_model_params p;
    steno_model_params_init(&p);
    steno_transcribe_params_init(&tp);
    tp.guards = STENO_GUARDS_OFF; /* noise is audio without speech, and is searched all the same */
    tp.beam_size = strstr(name, "sensevoice") ? 32 : 0;
    assert_int_equal(steno_team_open(&team, threads, &e), 0);
    p.team = team;
    struct folder d;
    if (open_named(&m, name, &p, &d, &e)) fail_msg("%s", e.text);
    const int64_t before = resident(), said = steno_session_memory(m, team, NULL);
    if (steno_session_open(&s, m, team, NULL, &e)) fail_msg("%s", e.text);
    int64_t took = 0;
    if (!strstr(name, "vad")) hear_longest(s, LONGEST_S, -1);
    for (int i = 0; i < TIMES && took + took / 20 < said; i++) {
        struct noise audio = { 1, LONGEST_S * RATE, 0 };
        const steno_source src = { noise_read, noise_rewind, &audio };
        const int rc = strstr(name, "vad") ? steno_find_speech(s, &src, NULL) : steno_transcribe_source(s, &src, &tp);
        if (rc) fail_msg("%s: %s", name, steno_last_error(s));
        took = resident() - before;
    }
    assert_said(what, said, took);
    steno_session_close(s);
    steno_model_close(m);
    steno_team_close(team);
    folder_remove(&d);
}

static void test_sessions_of_clips_and_streams_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    static const char *const path[] = {
        "fsmn-vad/pt", "fsmn-vad/safetensors", "fsmn-vad/gguf/fsmn-vad.gguf",
        "models/sensevoice/pt", "models/sensevoice/safetensors", "models/sensevoice/gguf/sensevoice-mini.gguf",
        "models/sensevoice/gguf/sensevoice-mini-f16.gguf", "models/sensevoice/gguf/sensevoice-mini-q8.gguf",
        "models/paraformer/pt", "models/paraformer/safetensors", "models/paraformer/gguf/paraformer-mini.gguf",
        "models/paraformer/gguf/paraformer-mini-f16.gguf", "models/paraformer/gguf/paraformer-mini-q8.gguf",
    };
    static const int threads[] = { 2, 64, 1, 3, 8, 16, 33 };
    enum { ANY_FORM = 1, QUICK = 3 }; /* numbers of threads for every form of a family; for one form, where not all is tried */
    const char *shared = getenv("STENO_SHARED");
    if (!shared) skip();
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        char name[600];
        snprintf(name, sizeof name, "%.400s/material/funasr/%s", shared, path[i]);
        const size_t n = !strstr(path[i], "/pt") ? ANY_FORM : in_full() ? sizeof threads / sizeof *threads : QUICK;
        for (size_t t = 0; t < n; t++) measure_funasr(name, threads[t]);
    }
}

/* The audio of two clips, which a chain holds if the second one may begin anywhere in the first. */
static void hold_two_clips(steno_session *s)
{
    const int64_t most = aligner_most_samples(s->model);
    struct noise audio = { 1, 2 * most, 0 };
    const steno_source src = { noise_read, noise_rewind, &audio };
    const float *pcm;
    int64_t n;
    aligner_audio_begin(s, &src);
    aligner_of(s)->keep = 0;
    assert_int_equal(aligner_audio_get(s, most, 2 * most, &pcm, &n), 0);
    assert_int_equal(n, most);
}

/* The longest clips, as many as a session takes together, with texts up to the end of the context; and the longest text of an aligner,
 * with the audio of a chain. */
static void measure_qwen(const char *name, int threads, int compute)
{
    enum { TIMES = 6, WORDS = 1090, CLIPS = 4 /* in a run */, LONGEST_S = 60 };
    char what[700], *text = calloc(1, 8 * WORDS);
    steno_model *m;
    steno_team *team;
    steno_session *s;
    steno_error e;
    steno_model_params p;
    steno_transcribe_params tp;
    snprintf(what, sizeof what, "%s, %d threads, compute %d", name, threads, compute);
    assert_non_null(text);
    for (int i = 0; i < WORDS; i++) strcat(text, "eight ");
    steno_model_params_init(&p);
    steno_transcribe_params_init(&tp);
    p.compute = compute;
    assert_int_equal(steno_team_open(&team, threads, &e), 0);
    if (steno_model_open(&m, name, &p, &e)) fail_msg("%s", e.text);
    const int aligns = strstr(name, "aligner") != NULL;
    const int64_t before = resident(), said = steno_session_memory(m, team, NULL);
    if (steno_session_open(&s, m, team, NULL, &e)) fail_msg("%s", e.text);
    if (!aligns) tp.sample_len = m->text_ctx, tp.guards = STENO_GUARDS_OFF;
    int64_t took = 0;
    if (!aligns) hear_longest(s, CLIPS * LONGEST_S, LONGEST_S * 1000 - 100); /* longer spans are cut */
    for (int i = 0; i < TIMES && took + took / 20 < said; i++) {
        struct noise audio = { (uint32_t)i + 1, (aligns ? 40 : CLIPS * LONGEST_S) * RATE, 0 };
        const steno_source src = { noise_read, noise_rewind, &audio };
        if (aligns ? steno_align(s, &src, text, NULL) : steno_transcribe_source(s, &src, &tp)) fail_msg("%s", steno_last_error(s));
        if (aligns) hold_two_clips(s);
        took = resident() - before;
    }
    assert_said(what, said, took);
    steno_session_close(s);
    steno_model_close(m);
    steno_team_close(team);
    free(text);
}

static void test_sessions_of_audio_language_models_and_aligners_take_what_is_reported(void **state)
{
    (void)state;
    need_resident();
    if (!getenv("STENO_SHARED")) skip();
    static const char *const path[] = { "tests/data/qwen3_asr", "tests/data/qwen3_aligner" };
    for (size_t i = 0; i < sizeof path / sizeof *path; i++)
        for (int threads = 1; threads <= 16; threads *= 4)
            for (int c = STENO_COMPUTE_AUTO; c <= STENO_COMPUTE_F32; c++) measure_qwen(path[i], threads, c);
}

/* Of no published shape do word times need more scratch than encoding does, so hardly anything is held for them: counters of commands,
 * and a thread's sums of more rows. */
static void test_word_times_take_no_scratch_of_their_own(void **state)
{
    (void)state;
    static const char *const shape[] = { "tiny", "tiny.en", "base", "small", "medium", "large-v3", "turbo" };
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int c = STENO_COMPUTE_AUTO; c < COMPUTES; c++) {
            steno_model *m;
            steno_model_params p;
            steno_error e;
            steno_model_params_init(&p);
            p.index_only = 1;
            p.compute = c;
            if (steno_model_open_random(&m, shape[i], "f16", 1, &p, &e)) fail_msg("%s", e.text);
            const size_t without = inside_exec_memory(m, 2, 2), with = inside_exec_memory(m, 3, ROWS_OUT_MIN);
            if (with > without + without / 100)
                fail_msg("%s, compute %d: %zu bytes with word times, %zu without", shape[i], c, with, without);
            steno_model_close(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_take_what_is_reported),
        cmocka_unit_test(test_a_model_opens_in_the_memory_it_needs),
        cmocka_unit_test(test_files_take_what_is_reported),
        cmocka_unit_test(test_the_embedding_counts_once),
        cmocka_unit_test(test_sessions_take_what_is_reported),
        cmocka_unit_test(test_sessions_of_clips_and_streams_take_what_is_reported),
        cmocka_unit_test(test_sessions_of_audio_language_models_and_aligners_take_what_is_reported),
        cmocka_unit_test(test_word_times_take_no_scratch_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
