/* steno: an option does something, or is refused. SPDX-License-Identifier: MIT
 *
 * Every option that a verb's help lists is tried on a model of each family: the run ends well and differs from the run without it in what
 * the option promises to change, or it is refused with exit code 2 and a line that names it as it was typed. An option that this test
 * does not know fails it: say below what it promises. */
#include "api/bert_model.h"
#include "api/lm_folder.h"
#include "api/random_model.h"
#include "cmd.h"
#include "media.h"
#include "option_promises.h"
#include "cli/signals.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

enum { FAINT = 8000 /* a factor so soft that a model of voice activity finds none */ };
enum { MOST_WORDS = 48, MOST_TEXT = 1 << 20 };

static const char *const family_name[N_FAMILIES] = { "many languages", "English only", "tags", "voice activity", "language model",
                                                     "vectors", "audio language model" };
static struct folder files, home, tags, vad, lm, vectors;
static char model_at[N_FAMILIES][200], out_at[200];

/* What stands for a path in a table of words, and the file's name. */
static struct place { const char *word, *name; char path[200]; } places[] = {
    { "%s", "speech.wav", "" }, { "%2", "stereo.wav", "" }, { "%f", "faint.wav", "" }, { "%g", "written.gguf", "" },
    { "%r", "rules.gbnf", "" }, { "%j", "schema.json", "" }, { "%l", "long.txt", "" },   { "%t", "lines.txt", "" },
};

static int n_bad;

/* All faults are printed before a test fails. */
static void bad(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    n_bad++;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

struct ran { int code; char *text; }; /* what came out on both streams, and in files */

static char *text_of(const char *path)
{
    char *text = calloc(1, MOST_TEXT);
    FILE *f = fopen(path, "rb");
    assert_non_null(text);
    const size_t n = f ? fread(text, 1, MOST_TEXT - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return text;
}

typedef int (*verb_t)(int argc, char **argv);

static char *place_of(const char *word)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].word, word) == 0) return places[i].path;
    return NULL;
}

/* Words are separated by blanks; %m is the model of the family, %v one of voice activity, %o a folder for files, others are places. */
static int split(char **argv, char *words, int family)
{
    int n = 0;
    for (char *w = strtok(words, " "); w && n < MOST_WORDS; w = strtok(NULL, " ")) {
        if (strcmp(w, "%m") == 0) w = model_at[family];
        else if (strcmp(w, "%o") == 0) w = files.path;
        else if (strcmp(w, "%v") == 0) w = model_at[3];
        else if (place_of(w)) w = place_of(w);
        argv[n++] = w;
    }
    return n;
}

/* `says`: the file on standard input. */
static struct ran run(verb_t verb, int family, const char *line, const char *says)
{
    char words[1024], *argv[MOST_WORDS + 1];
    snprintf(words, sizeof words, "%s", line);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const int fd = open(out_at, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open(says ? says : "/dev/null", O_RDONLY);
        dup2(fd, 1);
        dup2(fd, 2);
        dup2(in, 0);
        alarm(240); /* of a busy machine */
        const int n = split(argv, words, family), code = verb(n, argv);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) fail_msg("signal %d: %s", WTERMSIG(status), line);
    return (struct ran){ WEXITSTATUS(status), text_of(out_at) };
}

/* ---- what the help lists ------------------------------------------------------------------------------------------------------ */

struct listed { char name[48], letter, dflt[80]; int is_pair, takes_value; };

static int help_read(struct listed *to, int most, verb_t verb)
{
    struct ran r = run(verb, 0, "--help-all", NULL);
    int n = 0;
    for (char *line = strtok(r.text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *p = strstr(line, "--");
        const int begins = p && p == line + 6 && line[0] == ' ' && (line[2] == '-' || isspace((unsigned char)line[2]));
        if (begins && n < most) {
            struct listed *l = &to[n++];
            memset(l, 0, sizeof *l);
            if (line[2] == '-') l->letter = line[3];
            p += 2;
            if ((l->is_pair = strncmp(p, "[no-]", 5) == 0)) p += 5;
            const size_t k = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
            snprintf(l->name, sizeof l->name, "%.*s", (int)k, p);
            l->takes_value = p[k] == ' ' && p[k + 1] != ' ' && p[k + 1];
        }
        const char *d = strstr(line, "(default: ");
        if (n && d) snprintf(to[n - 1].dflt, sizeof to[n - 1].dflt, "%.*s", (int)strcspn(d + 10, ")"), d + 10);
    }
    free(r.text);
    return n;
}

/* ---- the verbs -------------------------------------------------------------------------------------------------------------- */

#define ROWS(table) table, sizeof table / sizeof *table

static const struct verb {
    const char *name;
    verb_t run;
    const char *before, *after;
    const struct promise *p;
    size_t n;
    unsigned families; /* whose models it takes */
    int measures;      /* its figures differ from run to run */
    int listens;       /* to lines of standard input */
} verbs[] = {
    { "transcribe", cmd_transcribe, "-q -t 1 -m %m -l en -f json", "%s", ROWS(transcribe), SPEECH, 0, 0 },
    { "translate", cmd_translate, "-q -t 1 -m %m -l en -f json", "%s", ROWS(transcribe) - 2, MANY, 0, 0 },
    { "align", cmd_align, "-m %m -l en -t 1", "%s zero", ROWS(align), DECODES, 0, 0 },
    { "detect", cmd_detect, "-m %m -t 1", "%s", ROWS(detect), MANY, 0, 0 },
    { "vad", cmd_vad, "-m %m -t 1", "%s", ROWS(find), VAD, 0, 0 },
    { "stream", cmd_stream, "-q -t 1 -m %m", "%s", ROWS(listen), SPEECH, 0, 0 },
    { "info", cmd_info, "-m %m -t 1", "", ROWS(info), ALL, 0, 0 },
    { "convert", cmd_convert, "", "%m %g", ROWS(convert), TAGS | VAD | NANO, 0, 0 },
    { "quantize", cmd_quantize, "", "%m %g f16", ROWS(convert) - 1, TAGS | NANO, 0, 0 },
    { "bench", cmd_bench, "-m %m -t 1 --runs 1", "", ROWS(bench), ALL & ~TEXTS, 1, 0 },
    { "doctor", cmd_doctor, "", "%m", ROWS(doctor), ALL, 0, 0 },
    { "generate", cmd_generate, "-q -t 1 -m %m -n 24", "ab", ROWS(generate), LM, 0, 0 },
    { "chat", cmd_chat, "-q -t 1 -m %m -n 24", "", ROWS(chat), LM, 0, 1 },
    { "embed", cmd_embed, "-q -t 1 -m %m", "abc cab", ROWS(embed), TEXTS, 0, 0 },
    { "search", cmd_search, "-q -t 1 -m %m", "ab %t", ROWS(search), TEXTS, 0, 0 },
    { "tokenize", cmd_tokenize, "-q -m %m", "<|im_end|>[SEP]", ROWS(tokenize), TEXTS | DECODES, 0, 0 },
};

/* ---- the walk ----------------------------------------------------------------------------------------------------------------- */

/* That of the family where it has one of its own. */
static const struct promise *promise_of(const struct verb *v, const char *option, int family)
{
    const struct promise *first = NULL;
    for (size_t i = 0; i < v->n; i++) {
        if (strcmp(v->p[i].option, option) != 0) continue;
        if (v->p[i].on >> family & 1) return &v->p[i];
        if (!first) first = &v->p[i];
    }
    if (first) return first;
    static const struct promise none;
    bad("%s: --%s is not in this test: say what it promises", v->name, option);
    return &none;
}

/* Figures that were measured are of no account: each is one sign, and so are the blanks before it. */
static void figures_hide(char *text)
{
    char *to = text;
    for (const char *p = text; *p;) {
        const size_t n = strspn(p, "0123456789. ");
        if (n) *to++ = '#';
        else *to++ = *p;
        p += n ? n : 1;
    }
    *to = '\0';
}

static void folder_empty(const char *path)
{
    char at[512];
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(at, sizeof at, "%s/%s", path, e->d_name);
        assert_int_equal(unlink(at), 0);
    }
    closedir(d);
}

/* What a file of bytes holds, as a number. */
static void add_written(char *text)
{
    uint64_t h = 14695981039346656037u;
    const char *at = place_of("%g");
    FILE *f = fopen(at, "rb");
    for (int c; f && (c = getc(f)) != EOF;) h = (h ^ (uint64_t)c) * 1099511628211u;
    if (f) fclose(f);
    if (f) sprintf(text + strlen(text), "[%llx]", (unsigned long long)h);
    unlink(at);
}

static struct ran run_with(const struct verb *v, int family, const char *beside, const char *words)
{
    char line[1024], dir[256];
    const int has_own = strstr(beside, "%2") || strstr(beside, "%f") || strstr(beside, "%l");
    /* Guards leave out most of what a random model writes; what is doubtful is decoded six times. */
    const int writes = 1u << family & DECODES && (v->run == cmd_transcribe || v->run == cmd_translate);
    const char *guards = writes && !strstr(words, "--guards") && !strstr(beside, "--guards") ? "--guards off" : "";
    const char *cold = writes && !strstr(words, "--temperature") && !strstr(beside, "--temperature") ? COLD : "";
    snprintf(line, sizeof line, "%s %s %s %s %s %s", v->before, guards, cold, beside, words, has_own ? "" : v->after);
    struct ran r = run(v->run, family, line, v->listens ? place_of("%t") : NULL);
    for (int k = 0; k < 4 && strstr(line, "%o"); k++) { /* what is in files counts, and their names */
        static const char *const names[] = { "speech.json", "other-speech.json", "speech.score.txt", "speech.txt" };
        snprintf(dir, sizeof dir, "%s/%s", files.path, names[k]);
        char *text = text_of(dir);
        if (*text && strlen(r.text) + strlen(text) + 64 < MOST_TEXT) sprintf(r.text + strlen(r.text), "[%s]%s", names[k], text);
        free(text);
        unlink(dir);
    }
    if (strstr(line, "%o")) folder_empty(files.path); /* --dump replaces nothing */
    if (strstr(line, "%g")) add_written(r.text);
    if (v->measures && r.code == 0) figures_hide(r.text);
    return r;
}

/* The reason names the option as it was typed, and no field of the library. */
static void check_refusal(const struct verb *v, int family, const char *words, const struct ran *r)
{
    char typed[64];
    snprintf(typed, sizeof typed, "steno: %.*s", (int)strcspn(words, " "), words);
    const int names_it = strncmp(r->text, typed, strlen(typed)) == 0 || strstr(words, "--demo") != NULL;
    const int one_line = strchr(r->text, '\n') && !strchr(r->text, '\n')[1];
    char *at = r->text;
    while ((at = strchr(at, '_')) && !(isalpha((unsigned char)at[1]) && at > r->text && isalpha((unsigned char)at[-1]))) at++;
    if (r->code != 2 || !names_it || !one_line || at)
        bad("%s %s, %s: exit code %d, %s", v->name, words, family_name[family], r->code, r->text);
}

/* The run without the option; that without any is kept, since most are compared with it. */
static struct ran run_without(const struct verb *v, int family, const char *beside)
{
    static struct ran plain[N_FAMILIES];
    static const struct verb *of[N_FAMILIES];
    if (*beside) return run_with(v, family, beside, "");
    if (of[family] != v) {
        free(plain[family].text);
        plain[family] = run_with(v, family, "", "");
        of[family] = v;
    }
    struct ran copy = { plain[family].code, strdup(plain[family].text) };
    assert_non_null(copy.text);
    return copy;
}

static void option_walk(const struct verb *v, const struct listed *l)
{
    for (int f = 0; f < N_FAMILIES; f++) {
        const struct promise *p = promise_of(v, l->name, f);
        if (!(v->families >> f & 1) || !p->words || !*p->words || !*model_at[f]) continue;
        const int is_served = (p->on >> f & 1) != 0;
        struct ran r = run_with(v, f, is_served ? p->beside : "", p->words);
        if (!is_served) {
            check_refusal(v, f, p->words, &r);
            free(r.text);
            char typed[160]; /* its default, too, is refused */
            snprintf(typed, sizeof typed, "--%s%s%s", l->name, l->takes_value ? " " : "", l->takes_value ? l->dflt : "");
            if (!l->dflt[0] || strchr(l->dflt, ';') || (p->shown && !*p->shown)) continue;
            r = run_with(v, f, "", typed);
            check_refusal(v, f, typed, &r);
            free(r.text);
            continue;
        }
        if (r.code == 4 && strncmp(steno_media_backend(), "FFmpeg", 6) != 0 && strstr(r.text, "; a build without FFmpeg ")) {
            free(r.text);
            continue; /* refused with the right message */
        }
        const struct ran without = run_without(v, f, p->beside);
        if (r.code != 0) bad("%s %s %s, %s: exit code %d, %s", v->name, p->beside, p->words, family_name[f], r.code, r.text);
        if ((!p->shown || !*p->shown) && without.code == 0 && strcmp(r.text, without.text) == 0)
            bad("%s %s %s, %s: nothing changed: %.100s", v->name, p->beside, p->words, family_name[f], r.text);
        free(without.text);
        free(r.text);
    }
}

static void walk(const char *name)
{
    struct listed l[160];
    n_bad = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const struct verb *v = &verbs[i];
        if (strcmp(v->name, name) != 0) continue;
        const int n = help_read(l, 160, v->run);
        assert_true(n > 1);
        const int step = v->run == cmd_translate && !in_full() ? 4 : 1; /* its options are those of transcribe */
        for (int k = 0; k < n; k += step)
            if (strncmp(l[k].name, "help", 4) != 0) option_walk(v, &l[k]);
        for (size_t k = 0; k < v->n; k++) {
            int found = 0;
            for (int j = 0; j < n; j++) found |= strcmp(l[j].name, v->p[k].option) == 0;
            if (!found) bad("%s has no option --%s any more", v->name, v->p[k].option);
        }
    }
    assert_int_equal(n_bad, 0);
}

static void test_every_option_of_transcribe_changes_something_or_is_refused(void **state) { (void)state, walk("transcribe"); }
static void test_every_option_of_translate_changes_something_or_is_refused(void **state) { (void)state, walk("translate"); }
static void test_every_option_of_align_changes_something_or_is_refused(void **state) { (void)state, walk("align"); }
static void test_every_option_of_detect_changes_something_or_is_refused(void **state) { (void)state, walk("detect"); }
static void test_every_option_of_vad_changes_something_or_is_refused(void **state) { (void)state, walk("vad"); }
static void test_every_option_of_stream_changes_something_or_is_refused(void **state) { (void)state, walk("stream"); }
static void test_every_option_of_info_changes_something_or_is_refused(void **state) { (void)state, walk("info"); }
static void test_every_option_of_convert_changes_something_or_is_refused(void **state) { (void)state, walk("convert"); }
static void test_every_option_of_quantize_changes_something_or_is_refused(void **state) { (void)state, walk("quantize"); }
static void test_every_option_of_bench_changes_something_or_is_refused(void **state) { (void)state, walk("bench"); }
static void test_every_option_of_doctor_changes_something_or_is_refused(void **state) { (void)state, walk("doctor"); }
static void test_every_option_of_generate_changes_something_or_is_refused(void **state) { (void)state, walk("generate"); }
static void test_every_option_of_chat_changes_something_or_is_refused(void **state) { (void)state, walk("chat"); }
static void test_every_option_of_embed_changes_something_or_is_refused(void **state) { (void)state, walk("embed"); }
static void test_every_option_of_search_changes_something_or_is_refused(void **state) { (void)state, walk("search"); }
static void test_every_option_of_tokenize_changes_something_or_is_refused(void **state) { (void)state, walk("tokenize"); }

/* ---- models and sounds -------------------------------------------------------------------------------------------------------- */

static void put_bytes(const char *path, struct bytes b)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f)) fail_msg("cannot write %s", path);
    free(b.p);
}

/* The recording, and, for two channels, silence beside it. */
static void put_sound(const char *path, int channels, int softer)
{
    enum { HEADER = 44, RATE_HZ = 16000, MOST = 2 * RATE_HZ };
    uint8_t head[HEADER] = "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data";
    static int16_t pcm[MOST];
    FILE *f = fopen("tests/data/demo.wav", "rb"), *to = fopen(path, "wb");
    assert_non_null(f);
    assert_non_null(to);
    fseek(f, HEADER, SEEK_SET);
    const uint32_t n = (uint32_t)fread(pcm, 2, MOST, f), bytes = n * 2 * (uint32_t)channels;
    head[22] = (uint8_t)channels;
    for (int i = 0; i < 4; i++) head[4 + i] = (uint8_t)((bytes + 36) >> 8 * i), head[40 + i] = (uint8_t)(bytes >> 8 * i);
    const uint32_t rate = 32000u * (uint32_t)channels;
    for (int i = 0; i < 4; i++) head[28 + i] = (uint8_t)(rate >> 8 * i);
    head[32] = (uint8_t)(2 * channels);
    fwrite(head, 1, HEADER, to);
    for (uint32_t i = 0; i < n; i++)
        for (int c = 0; c < channels; c++) {
            const int16_t v = (int16_t)(pcm[i] / (c ? 16 : softer));
            fwrite(&v, 2, 1, to);
        }
    fclose(f);
    fclose(to);
}

static int all_open(void **state)
{
    (void)state;
    struct whisper_dims d = { 80, 60, 48, 3, 2, MULTILINGUAL, 40, 48, 3, 2 };
    home = folder_new();
    tags = ctc_folder();
    vad = vad_folder();
    lm = lm_folder();
    vectors = bert_folder();
    snprintf(model_at[0], sizeof model_at[0], "%s/many.bin", home.path);
    snprintf(model_at[1], sizeof model_at[1], "%s/english.bin", home.path);
    snprintf(model_at[2], sizeof model_at[2], "%s", tags.path);
    snprintf(model_at[3], sizeof model_at[3], "%s", vad.path);
    snprintf(model_at[4], sizeof model_at[4], "%s", lm.path);
    snprintf(model_at[5], sizeof model_at[5], "%s", vectors.path);
    if (getenv("STENO_SHARED")) /* there is none in this tree; without it that family is passed over */
        snprintf(model_at[6], sizeof model_at[6], "%.150s/material/funasr/models/nano/pt", shared_dir());
    put_bytes(model_at[0], random_bytes(&d, DT_F16, 1));
    d.n_vocab = SMALL_VOCAB;
    put_bytes(model_at[1], random_bytes(&d, DT_F16, 1));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        snprintf(places[i].path, sizeof places[i].path, "%s%s/%s", strcmp(places[i].word, "%l") ? "" : "@", home.path, places[i].name);
    snprintf(out_at, sizeof out_at, "%s/out.txt", home.path);
    snprintf(files.path, sizeof files.path, "%.50s/files", home.path);
    put_sound(place_of("%s"), 1, 1);
    put_sound(place_of("%2"), 2, 1);
    put_sound(place_of("%f"), 1, FAINT);
    folder_text(&home, "rules.gbnf", "root ::= [a-c]+");
    folder_text(&home, "schema.json", "{\"type\": \"integer\"}");
    folder_text(&home, "lines.txt", "ab\nc d e\nabba\n");
    char longer[2 * 700 + 1] = "";
    for (size_t i = 0; i + 2 < sizeof longer; i += 2) memcpy(longer + i, "c ", 3);
    folder_text(&home, "long.txt", longer);
    setenv("HOME", home.path, 1);
    unsetenv("STENO_MODEL");
    unsetenv("XDG_CACHE_HOME");
    return 0;
}

static int all_close(void **state)
{
    (void)state;
    folder_remove(&files);
    folder_remove(&home);
    folder_remove(&tags);
    folder_remove(&vad);
    folder_remove(&lm);
    folder_remove(&vectors);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]); /* "*bench*" */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_of_transcribe_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_translate_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_align_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_detect_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_vad_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_stream_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_info_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_convert_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_quantize_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_bench_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_doctor_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_generate_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_chat_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_embed_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_search_changes_something_or_is_refused),
        cmocka_unit_test(test_every_option_of_tokenize_changes_something_or_is_refused),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
