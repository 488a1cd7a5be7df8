/* steno tests: files and folders of another kind are named for what they are. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "folder.h"
#include "harness.h"
#include "load/file_probe.h"
#include "load/weights.h"

#define BYTES(s) s, sizeof(s) - 1
#define GGUF_BEGIN "GGUF\3\0\0\0\0\0\0\0\0\0\0\0"
#define ARCHITECTURE "\24\0\0\0\0\0\0\0general.architecture\10\0\0\0\5\0\0\0\0\0\0\0llama"

static const struct { const char *bytes; size_t n; const char *what; int readable; } whole[] = {
    { BYTES("lmgg\xd9\xca\0\0\xdc\5\0\0"), "whisper.cpp .bin", 1 },
    { BYTES("lmgg\12\0\0\0silero-16k\6\0\0\0"), "whisper.cpp .bin", 1 },
    { BYTES("lmgg\11\0\0\0silero-8k\6\0\0\0"), "a Silero VAD model in ggml form (silero-8k)", 0 },
    { BYTES("fmgg\1\0\0\0"), "(ggmf)", 0 },
    { BYTES("tjgg\1\0\0\0"), "(ggjt)", 0 },
    { BYTES("algg\1\0\0\0"), "(ggla)", 0 },
    { BYTES("GGUF"), "a GGUF file", 1 }, /* its reader reports what it lacks */
    { BYTES(GGUF_BEGIN), "a GGUF file", 1 },
    { BYTES("FUGG\0\0\0\3"), "of a big-endian machine", 0 },
    { BYTES("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0" ARCHITECTURE), "of the architecture llama", 0 },
    { BYTES("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0" /* behind a list of two numbers and a list of two texts */
            "\1\0\0\0\0\0\0\0a\11\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0\1\2\3\4\5\6\7\10" ARCHITECTURE), "of the architecture llama", 0 },
    { BYTES("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
            "\1\0\0\0\0\0\0\0a\11\0\0\0\10\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0x\0\0\0\0\0\0\0\0" ARCHITECTURE), "architecture llama", 0 },
    { BYTES("GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377"), "a GGUF file", 1 },
    { BYTES("\6\0\0\0\14\0WhisperSpec\0\3\0\0\0"), "CTranslate2", 1 },
    { BYTES("\6\0\0\0\27\0TransformerDecoderSpec\0\6\0\0\0"),
      "a CTranslate2 model of another kind (TransformerDecoderSpec: a language model)", 0 },
    { BYTES("\10\10\22\7pytorch\32\0052.1.0:\4\12\2\12\0"), "an ONNX model", 0 },
    { BYTES("\10\10\22\7pytorch\32\0052.1.0:\200\200\200\10"), "an ONNX model", 0 }, /* cut inside its graph */
    { BYTES("\10\7\22\4\12\2\12\0\242\37\2\12\0"), "a Core ML model", 0 },
    { BYTES("\34\0\0\0TFL3\0\0\0\0"), "a TensorFlow Lite model", 0 },
    { BYTES("\20\0\0\0ORTM\0\0\0\0"), "(ORT)", 0 },
    { BYTES("PK\3\4\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0archive/data.pkl"), "PyTorch (zip)", 1 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0a/x.bin"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0archive/data.pkl"),
      "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\0\0\0a/data/0"),
      "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0a/.data"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0a/data/12"), "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\13\0\0\0a/byteorder"), "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\30\0\0\0a/.data/serialization_id"),
      "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\21\0\0\0a/.format_version"),
      "a PyTorch file whose entries are compressed", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0a/version"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\21\0\0\0corpus/data/a.csv"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0a/data/1a"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0a/.data/x"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0a/data/"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\11\0\0\0model.bin"), "a zip archive, not a PyTorch file", 0 },
    { BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\0\0\0a/b.npy."), "PyTorch (zip)", 1 },
    { BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0a/b.npy"), "npz", 1 },
    { BYTES("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19."), "before version 1.6", 0 },
    { BYTES("\x80\4\x95\0\0\0\0"), "a Python pickle", 0 },
    { BYTES("\20\0\0\0\0\0\0\0{\"a\":{}}      "), "safetensors", 1 },
    { BYTES("{\"metadata\": {}, \"weight_map\": {}}"), "a JSON file", 1 },
    { BYTES("{\"model_type\": \"whisper\"}"), "a JSON file", 0 },
    { BYTES(" [1, 2]"), "a JSON file", 0 },
    { BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 147951465\n"), "the file itself, of 147951465 bytes", 0 },
    { BYTES("version https://git-lfs.github.com/spec/v1\n"), "Git LFS", 0 },
    { BYTES("\n<!DOCTYPE html>"), "a web page", 0 },
    { BYTES("\xef\xbb\xbf<HTML lang=en>"), "a web page", 0 },
    { BYTES("<?xml version=\"1.0\"?><net>"), "XML", 0 },
    { BYTES("Entry not found"), "a text file", 0 },
    { BYTES("\x1f\x8b\10\0"), "gzip", 0 },
    { BYTES("7z\xbc\xaf\x27\x1c\0"), "7z", 0 },
    { BYTES("RIFF\4\0\0\0WAVE"), "a sound file (WAV)", 0 },
    { BYTES("ID3\4\0\0"), "a sound file (MP3)", 0 },
    { BYTES("\xff\xfb\x90\x64\0\0"), "a sound file (MP3)", 0 },
    { BYTES("\0\0\0\x20" "ftypM4A "), "(MP4)", 0 },
    { BYTES("\x89HDF\r\n"), "HDF5", 0 },
    { BYTES("\x7f" "ELF\2\1\1"), "a program", 0 },
    { BYTES(""), "the file is empty", 0 },
    { BYTES("\1\2\3"), "3 bytes hold no magic", 0 },
    { BYTES("\1\2\3\4"), "magic is 01 02 03 04", 0 },
};

static void test_every_kind_of_file_is_named_with_advice_or_is_readable(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct file f;
        struct file_probe k;
        struct weights w;
        steno_error e = { 0 };
        char *copy = malloc(whole[i].n + 1); /* to its last byte: what reads further is seen by the sanitizer */
        assert_non_null(copy);
        memcpy(copy, whole[i].bytes, whole[i].n);
        file_from_memory(&f, "m.x", copy, whole[i].n);
        assert_int_equal(probe_file(&k, &f, &e), STENO_OK);
        if (!strstr(k.what, whole[i].what)) fail_msg("%zu is '%s', want '%s'", i, k.what, whole[i].what);
        assert_int_equal(k.readable, whole[i].readable);
        assert_int_equal(k.readable, !k.advice[0]);
        const int rc = weights_open(&w, &f, &e);
        assert_true(rc == STENO_EFORMAT || rc == STENO_EUNSUPPORTED || (k.form == PROBE_GGUF && !rc)); /* families come later */
        if (!rc) weights_close(&w);
        const int is_refused = !k.readable && k.form != PROBE_GGUF && k.form != PROBE_ONNX; /* which may be of use */
        if (is_refused && (strncmp(e.text, "m.x: ", 5) || !strstr(e.text, k.what) || !strstr(e.text, k.advice))) fail_msg("%s", e.text);
        free(copy);
    }
}

static void test_no_cut_of_any_kind_reads_past_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        for (size_t n = 0; n < whole[i].n; n++) {
            struct file f;
            struct file_probe k;
            char *copy = malloc(n + !n);
            assert_non_null(copy);
            memcpy(copy, whole[i].bytes, n);
            file_from_memory(&f, "m.x", copy, n);
            assert_int_equal(probe_file(&k, &f, NULL), STENO_OK);
            assert_true(k.what[0] && k.readable == !k.advice[0]);
            free(copy);
        }
}

/* Both continue with numbers. */
static void test_transducers_differ_from_whisper_by_their_numbers(void **state)
{
    static const struct { enum probe_form form; uint32_t v[17]; } row[] = {
        { PROBE_GGML, { 51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1, 80, 201, 0, 0, 0, 0 } },
        { PROBE_GGML, { 51866, 1500, 1280, 20, 32, 448, 1280, 20, 4, 128, 1, 128, 201, 0, 0, 0, 0x3c23d70a } },
        { PROBE_GGML, { 51865, 1500, 512, 8, 6, 128, 512, 8, 8, 80, 1, 80, 201, 0, 0, 0, 0 } },
        { PROBE_GGML_TDT, { 8192, 5000, 1024, 8, 24, 128, 1, 512, 8, 256, 9, 640, 2, 5, 10, 128, 257 } },
        { PROBE_GGML_TDT, { 1024, 5000, 512, 8, 17, 80, 2008, 512, 8, 256, 9, 640, 1, 5, 10, 0, 0 } }, /* filters of another shape */
        { PROBE_GGML_TDT, { 1024, 5000, 512, 8, 17, 80, 1, 400, 4, 256, 9, 640, 1, 5, 10, 80, 201 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct file f;
        struct file_probe k;
        uint8_t head[4 + sizeof row->v] = "lmgg";
        memcpy(head + 4, row[i].v, sizeof row->v);
        file_from_memory(&f, "m.bin", head, sizeof head);
        assert_int_equal(probe_file(&k, &f, NULL), STENO_OK);
        if (k.form != row[i].form) fail_msg("row %zu: %d", i, (int)k.form);
    }
}

static void test_a_tar_archive_with_nemo_s_configuration_is_one_of_nemo(void **state)
{
    (void)state;
    static char tar[4 * 512];
    struct file f;
    struct file_probe k;
    strcpy(tar, "./");
    memcpy(tar + 257, "ustar", 5);
    memcpy(tar + 124, "00000000000", 11);
    file_from_memory(&f, "m.nemo", tar, sizeof tar);
    probe_file(&k, &f, NULL);
    assert_string_equal(k.what, "a tar archive");
    memcpy(tar + 512, tar, 512);
    strcpy(tar + 512, "./model_config.yaml");
    probe_file(&k, &f, NULL);
    assert_string_equal(k.what, "a NeMo model (tar archive)");
    memset(tar + 512, 0, 100);
    strcpy(tar + 512, "storages");
    assert_int_equal(probe_file(&k, &f, NULL), STENO_OK);
    assert_string_equal(k.what, "a PyTorch file of before version 0.1.10 (a tar archive)");
    memcpy(tar + 124, "77777777777", 11); /* the next header would be far outside */
    probe_file(&k, &f, NULL);
    assert_string_equal(k.what, "a tar archive");
}

static void test_a_folder_with_a_nemo_file_says_which(void **state)
{
    (void)state;
    char tar[600] = "./model_config.yaml";
    const struct folder d = folder_new();
    struct model_source p;
    struct weights w;
    steno_error e = { 0 };
    memcpy(tar + 257, "ustar", 5);
    folder_put(&d, "m.nemo", tar, sizeof tar);
    for (int beside = 0; beside < 3; beside++) { /* an export is not what the folder is */
        if (beside) folder_text(&d, beside == 1 ? "encoder.onnx" : "coremldata.bin", "x");
        assert_int_equal(model_source_open(&p, d.path, NULL, &e), STENO_OK);
        assert_int_equal(weights_open_source(&w, &p, &e), STENO_EFORMAT);
        if (!strstr(e.text, "no model of its own, but m.nemo; name that file")) fail_msg("%s", e.text);
        model_source_close(&p);
    }
    folder_text(&d, "adapter_config.json", "{}");
    assert_int_equal(model_source_open(&p, d.path, NULL, &e), STENO_OK);
    assert_int_equal(weights_open_source(&w, &p, &e), STENO_EUNSUPPORTED);
    if (!strstr(e.text, "a LoRA adapter")) fail_msg("%s", e.text);
    model_source_close(&p);
    folder_remove(&d);
}

static void test_links_that_lead_nowhere_are_named(void **state)
{
    (void)state;
    static const char *const name[] = { "model.safetensors", "model.bin", "m.nemo", "m-q4.gguf", "config.json" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct folder d = folder_new();
        struct model_source p;
        struct weights w;
        char want[64];
        steno_error e = { 0 };
        if (strcmp(name[i], "config.json") != 0) folder_text(&d, "config.json", "{}");
        else folder_put(&d, "model.safetensors", BYTES("\2\0\0\0\0\0\0\0{}"));
        folder_link_nowhere(&d, name[i]);
        assert_int_equal(model_source_open(&p, d.path, NULL, &e), STENO_OK);
        const int rc = weights_open_source(&w, &p, &e);
        snprintf(want, sizeof want, "%s': it is a link", name[i]);
        if (rc == STENO_OK || !strstr(e.text, want)) fail_msg("%s: %d: %s", name[i], rc, e.text);
        model_source_close(&p);
        folder_remove(&d);
    }
}

static void test_links_to_files_that_are_not_needed_may_lead_nowhere(void **state)
{
    (void)state;
    static const char *const name[] = { "generation_config.json", "processor_config.json", "sentence_bert_config.json",
                                        "preprocessor_config.json", "configuration.json", "added_tokens.json", "chat_template.jinja" };
    const struct folder d = folder_new();
    struct model_source p;
    struct weights w;
    steno_error without = { 0 }, with = { 0 };
    folder_text(&d, "config.json", "{}");
    folder_put(&d, "model.safetensors", BYTES("\36\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":["));
    for (int linked = 0; linked < 2; linked++) {
        for (size_t i = 0; linked && i < sizeof name / sizeof *name; i++)
            folder_link_nowhere(&d, name[i]);
        assert_int_equal(model_source_open(&p, d.path, NULL, NULL), STENO_OK);
        if (weights_open_source(&w, &p, linked ? &with : &without) == STENO_OK) weights_close(&w);
        model_source_close(&p);
    }
    assert_string_equal(with.text, without.text);
    struct arena a;
    struct meta m;
    arena_init(&a);
    meta_init(&m, &a);
    assert_int_equal(model_source_open(&p, d.path, NULL, NULL), STENO_OK);
    if (weights_read_settings(&m, &p, ~0u, &with)) fail_msg("%s", with.text);
    model_source_close(&p);
    arena_free(&a);
    folder_remove(&d);
}

/* A damaged file stops only those that ask for it. */
static void test_only_the_asked_settings_are_read(void **state)
{
    (void)state;
    static const struct { const char *file; unsigned of; } row[] = {
        { "config.json", SETTINGS_NETWORK }, { "config.yaml", SETTINGS_NETWORK }, { "generation_config.json", SETTINGS_GENERATION },
        { "processor_config.json", SETTINGS_FEATURES }, { "preprocessor_config.json", SETTINGS_FEATURES },
        { "sentence_bert_config.json", SETTINGS_POOLING }, { "configuration.json", SETTINGS_FILES },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct folder d = folder_new();
        folder_text(&d, row[i].file, "{\"a\": ");
        for (unsigned which = SETTINGS_NETWORK; which <= SETTINGS_FILES; which *= 2) {
            struct model_source p;
            struct arena a;
            struct meta m;
            steno_error e = { 0 };
            arena_init(&a);
            meta_init(&m, &a);
            assert_int_equal(model_source_open(&p, d.path, NULL, NULL), STENO_OK);
            const int rc = weights_read_settings(&m, &p, which, &e);
            if (which == row[i].of ? rc != STENO_EFORMAT || !strstr(e.text, row[i].file) : rc)
                fail_msg("%s, asked for %u: %d %s", row[i].file, which, rc, e.text);
            model_source_close(&p);
            arena_free(&a);
        }
        folder_remove(&d);
    }
}

static void test_folders_of_other_programs_are_named(void **state)
{
    (void)state;
    static const struct { const char *name[3], *bytes, *text; int status; } c[] = {
        { { "encoder_model.onnx", "config.json" }, "x", ": this is an ONNX model; take the same model in", STENO_EUNSUPPORTED },
        { { "final.mdl" }, "x", ": this is a Kaldi model", STENO_EUNSUPPORTED },
        { { "final.mdl" }, "x", ": this is a Kaldi model; take the same model in a form that is read: a whisper.cpp .bin file",
          STENO_EUNSUPPORTED },
        { { "m.nemo" }, "x", ": m.nemo: 1 bytes hold no magic", STENO_EFORMAT },
        { { "m.nemo", "config.json" }, "", ": m.nemo: the file is empty", STENO_EFORMAT },
        { { "m.nemo" }, "./model_config.yaml", ": m.nemo is a text file", STENO_EFORMAT },
        { { "m.nemo" }, "./a\1\2\3", ": m.nemo: magic is 2e 2f 61 01", STENO_EFORMAT },
        { { "m.nemo", "README.md" }, "version https://git-lfs.github.com/spec/v1\nsize 7\n", ": m.nemo is a pointer of Git LFS",
          STENO_EUNSUPPORTED },
        { { "m.nemo", "m.onnx" }, "", ": this is an ONNX model", STENO_EUNSUPPORTED },
        { { "m.onnx", "ggml-base.bin" }, "lmgg\xd9\xca\1\1", "no model of its own, but ggml-base.bin", STENO_EFORMAT },
        { { "coremldata.bin" }, "x", ": this is a compiled Core ML model", STENO_EUNSUPPORTED },
        { { "weights.npz", "config.json" }, "x", ": weights.npz: 1 bytes hold no magic", STENO_EFORMAT },
        { { "weights.safetensors" }, "<html>", ": weights.safetensors is a web page", STENO_EUNSUPPORTED },
        { { "config.json" }, "{}", ": the folder holds a configuration, but no weights", STENO_EFORMAT },
        { { "config.json", "model.bin", "vocabulary.json" }, "{}", ": model.bin: 2 bytes hold no magic", STENO_EFORMAT },
        { { "config.json", "model.bin" }, "", ": model.bin: the file is empty", STENO_EFORMAT },
        { { "notes.md" }, "x", ": the folder holds no model; want model.safetensors", STENO_EFORMAT },
        { { NULL }, "", ": the folder holds no model; want model.safetensors", STENO_EFORMAT },
        { { "ggml-base.bin", "a.txt", "z.bin" }, "lmgg\xd9\xca\0\0", "no model of its own, but ggml-base.bin; name that file",
          STENO_EFORMAT },
        { { "llama.gguf" }, "GGUF\3", "no model of its own, but llama.gguf; name that file", STENO_EFORMAT },
        { { "model.safetensors" }, "version https://git-lfs.github.com/spec/v1\nsize 7\n", ": model.safetensors is a pointer of Git LFS",
          STENO_EUNSUPPORTED },
        { { "model.pt" }, "<html>", ": model.pt is a web page", STENO_EUNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const struct folder d = folder_new();
        struct model_source p;
        struct weights w;
        steno_error e = { 0 };
        for (int n = 0; n < 3 && c[i].name[n]; n++) folder_text(&d, c[i].name[n], c[i].bytes);
        assert_int_equal(model_source_open(&p, d.path, NULL, &e), STENO_OK);
        const int rc = weights_open_source(&w, &p, &e);
        if (rc != c[i].status || !strstr(e.text, c[i].text)) fail_msg("%d: %s, want %s", rc, e.text, c[i].text);
        model_source_close(&p);
        folder_remove(&d);
    }
    const struct folder d = folder_new(); /* CTranslate2: its one file has NULs */
    struct model_source p;
    struct file_probe k;
    folder_put(&d, "model.bin", BYTES("\6\0\0\0\14\0WhisperSpec\0\3\0\0\0"));
    folder_text(&d, "config.json", "{}");
    assert_int_equal(model_source_open(&p, d.path, NULL, NULL), STENO_OK);
    assert_int_equal(probe_source(&k, &p, NULL), STENO_OK);
    assert_string_equal(k.file, "model.bin");
    assert_string_equal(k.what, "CTranslate2");
    model_source_close(&p);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_file_is_named_with_advice_or_is_readable),
        cmocka_unit_test(test_no_cut_of_any_kind_reads_past_its_end),
        cmocka_unit_test(test_transducers_differ_from_whisper_by_their_numbers),
        cmocka_unit_test(test_a_tar_archive_with_nemo_s_configuration_is_one_of_nemo),
        cmocka_unit_test(test_a_folder_with_a_nemo_file_says_which),
        cmocka_unit_test(test_links_that_lead_nowhere_are_named),
        cmocka_unit_test(test_links_to_files_that_are_not_needed_may_lead_nowhere),
        cmocka_unit_test(test_only_the_asked_settings_are_read),
        cmocka_unit_test(test_folders_of_other_programs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
