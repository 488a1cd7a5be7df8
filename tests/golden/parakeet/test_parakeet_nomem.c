/* steno tests: Parakeet, Nemotron, Qwen3-ASR and its aligner when there is no memory. SPDX-License-Identifier: MIT
 *
 * Every form of their files is read, converted and transcribed with another allocation failing each time. */
#include "api/convert.h"
#include "api/funasr_model.h"
#include "api/nomem_walk.h"
#include "audio/source.h"
#include "golden/golden.h"

enum { N_SAMPLES = 8000 };
static struct buf nemo, streams, gguf, streams_gguf, bin;
static struct sound audio;

static struct golden_path material(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/%s", shared, name);
    return p;
}

static void take_file(struct buf *b, const char *name)
{
    struct file f;
    steno_error e;
    if (file_open(&f, material(name).s, &e)) fail_msg("%s", e.text);
    char *bytes = malloc((size_t)f.size);
    assert_true(bytes && !file_read(&f, 0, bytes, (size_t)f.size, &e));
    buf_add(b, bytes, (size_t)f.size);
    free(bytes);
    file_close(&f);
}

static int group_begin(void **state)
{
    steno_error e;
    (void)state;
    take_file(&nemo, "parakeet/nemo/odd-tdt_ctc.nemo");
    take_file(&streams, "nemotron/nemotron-tiny.nemo");
    take_file(&bin, "parakeet/ggml/parakeet-digits-tdt.f16.bin");
    if (convert_to(&gguf, material("parakeet/nemo/odd-tdt_ctc.nemo").s, "f16", &e)) fail_msg("%s", e.text);
    if (convert_to(&streams_gguf, material("nemotron/nemotron-tiny.nemo").s, "f16", &e)) fail_msg("%s", e.text);
    return sound_read(&audio, material("parakeet/audio/phrases.wav").s);
}

static int group_end(void **state)
{
    struct buf *const all[] = { &nemo, &streams, &gguf, &streams_gguf, &bin };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_free(all[i]);
    sound_free(&audio);
    return 0;
}

/* Opens a file in memory or at a path, and transcribes with it unless only its headers are read. */
static int use(const struct buf *b, const char *path, int index_only, uint64_t *digest, steno_error *e)
{
    steno_model_params p;
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_transcribe_params t;
    steno_model_info info = { .size = sizeof info };
    steno_model_params_init(&p);
    steno_transcribe_params_init(&t);
    p.index_only = index_only;
    int rc = b ? steno_model_open_memory(&m, b->p, b->len, &p, e) : steno_model_open(&m, path, &p, e);
    if (!rc && index_only) *digest = steno_model_info_get(m, &info) ? 0 : (uint64_t)info.parameters;
    if (!rc && !index_only) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (s) {
        t.sample_len = path ? 4 : t.sample_len;
        rc = steno_transcribe(s, audio.pcm, N_SAMPLES, &t);
        *digest = result_digest(s);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static int from_nemo(uint64_t *digest, steno_error *e) { return use(&nemo, NULL, 1, digest, e); }
static int from_gguf(uint64_t *digest, steno_error *e) { return use(&gguf, NULL, 1, digest, e); }
static int from_bin(uint64_t *digest, steno_error *e) { return use(&bin, NULL, 1, digest, e); }
static int from_streams_gguf(uint64_t *digest, steno_error *e) { return use(&streams_gguf, NULL, 1, digest, e); }
static int stream(uint64_t *digest, steno_error *e) { return use(&streams, NULL, 0, digest, e); }
static int audio_lm(uint64_t *digest, steno_error *e) { return use(NULL, "tests/data/qwen3_asr", 0, digest, e); }

/* A clip with beams and hot words. */
static int searched(const char *path, int beams, uint64_t *digest, steno_error *e)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_transcribe_params t;
    steno_transcribe_params_init(&t);
    t.beam_size = beams;
    t.n_best = beams ? 2 : 0;
    t.hotwords = "two\nseven";
    int rc = steno_model_open(&m, material(path).s, NULL, e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (s) {
        rc = steno_transcribe(s, audio.pcm, N_SAMPLES, &t);
        *digest = result_digest(s);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static int beams_of_ctc(uint64_t *digest, steno_error *e) { return searched("parakeet/hf/ctc", 3, digest, e); }
static int hot_tdt(uint64_t *digest, steno_error *e) { return searched("parakeet/hf/tdt", 0, digest, e); }
static int beams_of_tdt(uint64_t *digest, steno_error *e) { return searched("parakeet/hf/tdt", 3, digest, e); }
static int hot_stream(uint64_t *digest, steno_error *e) { return searched("nemotron/nemotron-tiny.nemo", 0, digest, e); }

/* Words of a text. */
static int aligner(uint64_t *digest, steno_error *e)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    int rc = steno_model_open(&m, "tests/data/qwen3_aligner", NULL, e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (s) {
        struct pcm memory = { audio.pcm, N_SAMPLES, 0, 0 };
        const steno_source src = pcm_source(&memory);
        rc = steno_align(s, &src, "Four zero,\nnine-eight.", NULL);
        *digest = result_digest(s);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static int written(const char *path, const char *form, const char *type, uint64_t *digest, steno_error *e)
{
    struct sum sum = { 1 };
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.form = form;
    p.type = type;
    p.write = sum_take;
    p.user = &sum;
    p.n_threads = 1;
    const int rc = steno_model_convert(path, &p, e);
    *digest = sum.hash;
    return rc;
}

static int to_gguf(uint64_t *digest, steno_error *e)
{
    return written(material("nemotron/nemotron-tiny.nemo").s, "gguf", "q8_0", digest, e);
}

static int to_bin(uint64_t *digest, steno_error *e) { return written(material("parakeet/hf/tdt").s, "bin", "q8_0", digest, e); }
static int lm_to_gguf(uint64_t *digest, steno_error *e) { return written("tests/data/qwen3_asr", "gguf", "q4_k_m", digest, e); }

static void test_every_allocation_between_files_and_results_may_fail(void **state)
{
    static const struct { const char *name; int (*way)(uint64_t *digest, steno_error *e); } ways[] = {
        { "a .nemo file", from_nemo }, { "NVIDIA's GGUF file", from_gguf }, { "a .bin file", from_bin },
        { "a GGUF file of streams", from_streams_gguf }, { "a stream", stream }, { "Qwen3-ASR", audio_lm },
        { "Qwen3-ForcedAligner", aligner }, { "beams of a CTC head", beams_of_ctc },
        { "hot words of TDT", hot_tdt }, { "beams of TDT", beams_of_tdt }, { "hot words of a stream", hot_stream },
        { "streams become a GGUF file", to_gguf }, { "TDT becomes a .bin file", to_bin }, { "Qwen3-ASR becomes a GGUF file", lm_to_gguf },
    };
    (void)state;
    need_counting();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) go(ways[i].name, ways[i].way);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_between_files_and_results_may_fail) };
    if (!is_there(material("parakeet/README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
