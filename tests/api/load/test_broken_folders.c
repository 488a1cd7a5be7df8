/* steno tests: FunASR folders one file of which is no good. SPDX-License-Identifier: MIT
 *
 * It is missing, empty, cut, of another kind, or has impossible values. Each is refused by a message that names the file and, where it is a
 * setting, the setting; what is cut may open where nothing is missing that is needed. Skipped where STENO_SHARED does not name the
 * collection. */
#include "folder.h"
#include <steno/steno.h>
#include <time.h>
#include "base/buf.h"

enum { CUTS = 24, FILES_MAX = 5, CPU_MOST_S = SANITIZED ? 10 : 1 };

static const char *shared;
static int n_bad;
static char said[128]; /* the values of a file, for messages */

/* also: a file that is linked and never damaged. */
static const struct source { const char *dir, *file[FILES_MAX + 1], *also; } sources[] = {
    { "models/sensevoice/pt", { "config.yaml", "am.mvn", "mini.bpe.model", "model.pt" }, "configuration.json" },
    { "models/paraformer/pt", { "config.yaml", "am.mvn", "tokens.json", "model.pt" }, "configuration.json" },
    { "fsmn-vad/pt", { "config.yaml", "am.mvn", "model.pt" }, "configuration.json" },
};
enum { SENSEVOICE, PARAFORMER, VAD_MODEL, N_SOURCES };

static struct buf bytes_of(const struct source *s, const char *name)
{
    struct buf b = { 0 };
    char path[600], part[4096];
    snprintf(path, sizeof path, "%.300s/material/funasr/%s/%.100s", shared, s->dir, name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("cannot read %s", path);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) buf_add(&b, part, n);
    fclose(f);
    return b;
}

/* The source's files, as links, without one. */
static struct folder folder_without(const struct source *s, const char *name)
{
    const struct folder d = folder_new();
    for (int i = -1; i < FILES_MAX; i++) {
        const char *file = i < 0 ? s->also : s->file[i];
        char path[600];
        if (!file || strcmp(file, name) == 0) continue;
        snprintf(path, sizeof path, "%.300s/material/funasr/%s/%.100s", shared, s->dir, file);
        if (symlink(path, folder_at(&d, file).path)) fail_msg("cannot link %s", path);
    }
    return d;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Open the folder, which then goes. */
static int try(const struct folder *d, const char *what, steno_error *e)
{
    steno_model *m;
    const double begun = cpu_s();
    const int rc = steno_model_open(&m, d->path, NULL, e);
    const double took = cpu_s() - begun;
    folder_remove(d);
    steno_model_close(m);
    if (took > CPU_MOST_S) fail_msg("%s: %g s", what, took);
    if (rc && (!e->text[0] || !strstr(e->text, d->path))) fail_msg("%s: the message does not name the folder: %s", what, e->text);
    if (rc && (strchr(e->text, '\n') || strchr(e->text, '\r'))) fail_msg("%s: several lines: %s", what, e->text);
    return rc;
}

/* The folder with these bytes in place of the file, or with NULL without it. */
static int try_with(const struct source *s, const char *name, const void *bytes, size_t n, const char *what, steno_error *e)
{
    const struct folder d = folder_without(s, name);
    if (bytes) folder_put(&d, name, bytes, n);
    return try(&d, what, e);
}

static void expect(const struct source *s, const char *name, const void *bytes, size_t n, const char *needle)
{
    char what[300];
    steno_error e;
    snprintf(what, sizeof what, "%s, %s as %zu bytes%s, %s", s->dir, name, n, bytes ? "" : " (missing)", said);
    const int rc = try_with(s, name, bytes, n, what, &e);
    const int refused = rc == STENO_EFORMAT || rc == STENO_EIO || rc == STENO_EUNSUPPORTED || rc == STENO_ENOVOCAB;
    if (refused && (!*needle || strstr(e.text, needle))) return;
    n_bad++; /* all faults are printed before a test fails */
    print_error("%s: status %d: \"%s\", want \"%s\"\n", what, rc, rc ? e.text : "", needle);
}

static void test_a_file_that_is_missing_empty_or_of_another_kind_is_named(void **state)
{
    (void)state;
    static const char page[] = "<!DOCTYPE html><html><body>Not found</body></html>";
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    static const char noise[64] = { '\x80', 3, '\xff', 7, 0, 1, '\n', '\x90' };
    for (const struct source *s = sources; s < sources + N_SOURCES; s++)
        for (const char *const *file = s->file; *file; file++) {
            const int is_weights = strcmp(*file, "model.pt") == 0, is_vocab = strstr(*file, "tokens") || strstr(*file, "bpe");
            const char *name = is_weights || strcmp(*file, "config.yaml") == 0 ? "" : is_vocab ? "" : *file;
            expect(s, *file, NULL, 0, name);
            name = is_vocab ? *file : name;
            expect(s, *file, "", 0, name);
            expect(s, *file, page, sizeof page - 1, name);
            expect(s, *file, pointer, sizeof pointer - 1, name);
            expect(s, *file, noise, sizeof noise, name);
        }
    assert_int_equal(n_bad, 0);
}

static void test_a_file_that_is_cut_is_refused_or_whole_as_far_as_it_is_needed(void **state)
{
    (void)state;
    for (const struct source *s = sources; s < sources + N_SOURCES; s++)
        for (const char *const *file = s->file; *file; file++) {
            struct buf all = bytes_of(s, *file);
            int n_refused = 0;
            for (size_t i = 0; i < CUTS; i++) {
                char what[200];
                steno_error e;
                const size_t n = all.len * i / CUTS;
                snprintf(what, sizeof what, "%s, %zu bytes of %s", s->dir, n, *file);
                n_refused += try_with(s, *file, all.p, n, what, &e) != STENO_OK;
            }
            if (n_refused < (strstr(*file, "config") ? 1 : CUTS)) fail_msg("%s, %s: %d cuts are refused", s->dir, *file, n_refused);
            buf_free(&all);
        }
}

/* The text that replaces another in a file. */
static void test_impossible_parameters_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { int source; const char *file, *from, *to, *needle; } lies[] = {
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: 0", "encoder_conf.output_size" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: many", "encoder_conf.output_size" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: 99999999999999999999", "encoder_conf.output_size" },
        { SENSEVOICE, "config.yaml", "attention_heads: 4", "attention_heads: 3", "3 heads" },
        { SENSEVOICE, "config.yaml", "attention_heads: 4", "attention_heads: -4", "attention_heads" },
        { SENSEVOICE, "config.yaml", "num_blocks: 4", "num_blocks: 5", "encoder.encoders" },
        { SENSEVOICE, "config.yaml", "num_blocks: 4", "num_blocks: 1000000000", "num_blocks" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: 128\n  output_size: 128", "output_size" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: [[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]", "config.yaml" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: *nobody", "config.yaml" },
        { SENSEVOICE, "config.yaml", "output_size: 128", "output_size: \"", "config.yaml" },
        { SENSEVOICE, "config.yaml", "model: SenseVoiceSmall", "model: Nobody", "Nobody" },
        { SENSEVOICE, "am.mvn", "<AddShift>", "<AddShaft>", "am.mvn" },
        { SENSEVOICE, "am.mvn", "<Rescale>", "<AddShift>", "am.mvn" },
        { SENSEVOICE, "am.mvn", "-8.311879 ", "", "am.mvn" },
        { SENSEVOICE, "am.mvn", "-8.311879", "nan", "am.mvn" },
        { SENSEVOICE, "am.mvn", "-8.311879", "1e999", "am.mvn" },
        { SENSEVOICE, "am.mvn", "-8.311879", "minus", "am.mvn" },
        { PARAFORMER, "tokens.json", "\"<blank>\",", "", "94 entries, the head 95" },
        { PARAFORMER, "tokens.json", "\"<blank>\",", "7,", "tokens.json" },
        { PARAFORMER, "tokens.json", "\"<blank>\",", "\"<blank>\" ", "tokens.json" },
        { PARAFORMER, "tokens.json", "\"<blank>\",", "\"\\ud800\",", "tokens.json" },
        { PARAFORMER, "tokens.json", "\"<blank>\",", "{},", "tokens.json" },
        { PARAFORMER, "tokens.json", "]", "]]", "tokens.json" },
        { VAD_MODEL, "config.yaml", "fsmn_layers: 4", "fsmn_layers: 5", "fsmn.4" },
        { VAD_MODEL, "config.yaml", "lorder: 20", "lorder: 0", "lorder" },
        { VAD_MODEL, "am.mvn", "<Rescale>", "<Rescue>", "am.mvn" },
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const struct source *s = &sources[lies[i].source];
        struct buf all = bytes_of(s, lies[i].file), b = { 0 };
        buf_add(&all, "", 1);
        const char *at = strstr(all.p, lies[i].from);
        if (!at) fail_msg("%s: there is no \"%s\"", lies[i].file, lies[i].from);
        buf_add(&b, all.p, (size_t)(at - all.p));
        buf_str(&b, lies[i].to);
        buf_add(&b, at + strlen(lies[i].from), all.len - 1 - (size_t)(at - all.p) - strlen(lies[i].from));
        snprintf(said, sizeof said, "%.120s", lies[i].to);
        expect(s, lies[i].file, b.p, b.len, lies[i].needle);
        buf_free(&all);
        buf_free(&b);
    }
    assert_int_equal(n_bad, 0);
}

int main(void)
{
    shared = getenv("STENO_SHARED");
    char at[600];
    snprintf(at, sizeof at, "%.400s/material/funasr/README.md", shared ? shared : "/none");
    if (access(at, R_OK)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the FunASR collection\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_is_missing_empty_or_of_another_kind_is_named),
        cmocka_unit_test(test_a_file_that_is_cut_is_refused_or_whole_as_far_as_it_is_needed),
        cmocka_unit_test(test_impossible_parameters_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
