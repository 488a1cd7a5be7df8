/* steno: the command line of openai-whisper. SPDX-License-Identifier: MIT
 *
 * Prints lines with times on standard output as segments arrive, and writes NAME.txt, .vtt, .srt, .tsv and .json into the folder of
 * --output_dir. It computes in f32, as openai-whisper does on a CPU. doc/compat.md lists each option and the differences. */
#include "cli/message.h"
#include "compat/argparse.h"
#include "compat/compat.h"
#include "models/models.h"
#include "path.h"
#include "verbs/transcribe_as.h"
#include "write.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPENAI_HELP = 1 };

struct run {
    const char *language; /* as typed; NULL: detect */
    int verbose, reported;    /* reported: the language of the current input was printed */
};

/* ---- what was typed ---------------------------------------------------------------------------------------------------------- */

static int is_true(const struct compat_call *c, const char *name)
{
    return strcmp(compat_value(c, name), "True") == 0;
}

static int is_none(const struct compat_call *c, const char *name)
{
    const char *value = compat_value(c, name);
    return !value || strcmp(value, "None") == 0;
}

/* The value of an option that is not None; the parser has checked its type. */
static double number(const struct compat_call *c, const char *name)
{
    char text[ARGPARSE_NUMBER_SZ];
    return argparse_number(text, compat_value(c, name), COMPAT_NUM) ? strtod(text, NULL) : 0;
}

static int is_set(const struct compat_call *c, const char *name)
{
    return !is_none(c, name) && number(c, name) != 0;
}

static int has_subtitles(const struct compat_call *c)
{
    const char *format = compat_value(c, "--output_format");
    return strcmp(format, "all") == 0 || strcmp(format, "srt") == 0 || strcmp(format, "vtt") == 0;
}

static int ends_in_en(const char *model)
{
    const size_t n = strlen(model);
    return n > 3 && strcmp(model + n - 3, ".en") == 0;
}

static int is_english(const char *language)
{
    return language && (strcmp(language, "en") == 0 || strcmp(language, "English") == 0);
}

/* ---- the model --------------------------------------------------------------------------------------------------------------- */

/* Names that openai-whisper downloads, and their files. */
static const struct { const char *name, *file; } known[] = {
    { "tiny.en", "tiny.en.pt" }, { "tiny", "tiny.pt" }, { "base.en", "base.en.pt" }, { "base", "base.pt" }, { "small.en", "small.en.pt" },
    { "small", "small.pt" }, { "medium.en", "medium.en.pt" }, { "medium", "medium.pt" }, { "large-v1", "large-v1.pt" },
    { "large-v2", "large-v2.pt" }, { "large-v3", "large-v3.pt" }, { "large", "large-v3.pt" }, { "large-v3-turbo", "large-v3-turbo.pt" },
    { "turbo", "large-v3-turbo.pt" },
};

/* The file of a known name in --model_dir. @return malloc'd path, or NULL if it is missing or errno is ENOMEM */
static char *in_model_dir(const struct compat_call *c, const char *file)
{
    const char *dir = compat_value(c, "--model_dir");
    errno = 0;
    char *path = dir ? path_join(dir, file) : NULL;
    if (!path || access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

/* The model is a path, a known name, or a name in the caches. */
static int put_model(struct compat_call *c)
{
    const char *name = compat_value(c, "--model");
    const size_t n_known = sizeof known / sizeof *known;
    size_t k = 0;
    if (access(name, F_OK) == 0) {
        compat_put_format(c, "--model=%s", name);
        return EXIT_OK;
    }
    while (k < n_known && strcmp(known[k].name, name) != 0) k++;
    char *path = k < n_known ? in_model_dir(c, known[k].file) : models_find(name);
    if (!path && k < n_known && errno != ENOMEM) {
        char stem[32];
        snprintf(stem, sizeof stem, "%.*s", (int)(strlen(known[k].file) - strlen(".pt")), known[k].file);
        path = models_find(stem); /* resolves the short names "turbo" and "large" */
    }
    if (!path && errno == ENOMEM) {
        c->failed = 1;
        return EXIT_OK; /* the caller reports it */
    }
    if (!path && k == n_known) return argparse_error(c, "argument --model: invalid valid_model_name value: '%s'", name);
    compat_put_format(c, "--model=%s", path ? path : name); /* it is then reported as missing, with the command that downloads it */
    free(path);
    return EXIT_OK;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

/* A language is a code, or an English name with a capital first letter. The library has the list of names. */
static int put_language(struct compat_call *c)
{
    const char *value = compat_value(c, "--language");
    if (ends_in_en(compat_value(c, "--model")) && !is_english(value)) {
        if (value) message("%s is an English-only model but receipted '%s'; using English instead.", compat_value(c, "--model"), value);
        value = "en";
    }
    if (!value) return EXIT_OK;
    const int is_code = strlen(value) <= 3 && strspn(value, "abcdefghijklmnopqrstuvwxyz") == strlen(value) && steno_language_name(value);
    const int is_name = value[0] >= 'A' && value[0] <= 'Z' && strlen(value) > 3;
    if (!is_code && !is_name)
        return argparse_error(c, "argument --language: invalid choice: '%s' (choose from codes: en, zh, ...; names: English, Chinese, ...)",
                              value);
    compat_put_format(c, "--language=%s", value);
    return EXIT_OK;
}

static void put_number(struct compat_call *c, const char *name, const char *ours)
{
    char text[ARGPARSE_NUMBER_SZ];
    if (is_none(c, name)) compat_put_format(c, "%s=none", ours);
    else if (argparse_number(text, compat_value(c, name), COMPAT_NUM)) compat_put_format(c, "%s=%s", ours, text);
}

/* Beams apply at temperature 0, draws at higher temperatures, and ranking at both. */
static int put_search(struct compat_call *c)
{
    const double t = number(c, "--temperature");
    const int none = is_none(c, "--temperature_increment_on_fallback") || !is_set(c, "--temperature_increment_on_fallback");
    const int beams = t == 0 && !is_none(c, "--beam_size"), draws = t > 0 || !none;
    const char *patience = compat_value(c, "--patience"), *penalty = compat_value(c, "--length_penalty");
    if (beams && number(c, "--beam_size") < 1) return argparse_error(c, "argument --beam_size: a beam search has at least one beam");
    if (beams) compat_put_format(c, "--beam-size=%.0f", number(c, "--beam_size"));
    if (patience && t == 0 && !beams) return argparse_error(c, "argument --patience: patience requires beam_size to be given");
    if (patience && beams) put_number(c, "--patience", "--patience");
    if (draws && is_set(c, "--best_of")) compat_put_format(c, "--best-of=%.0f", number(c, "--best_of"));
    if (penalty && !(number(c, "--length_penalty") >= 0 && number(c, "--length_penalty") <= 1))
        return argparse_error(c, "argument --length_penalty: length_penalty (alpha) should be a value between 0 and 1");
    if (penalty && ((beams && number(c, "--beam_size") > 1) || (draws && is_set(c, "--best_of"))))
        put_number(c, "--length_penalty", "--length-penalty");
    put_number(c, "--temperature", "--temperature");
    if (none) compat_put(c, "--temperature-increment-on-fallback=0");
    else put_number(c, "--temperature_increment_on_fallback", "--temperature-increment-on-fallback");
    return EXIT_OK;
}

static void put_text(struct compat_call *c)
{
    const char *prompt = compat_value(c, "--initial_prompt");
    if (is_set(c, "--temperature_increment_on_fallback") && number(c, "--temperature") < 1) /* otherwise there is only one attempt */
        put_number(c, "--compression_ratio_threshold", "--compression-ratio-threshold");
    put_number(c, "--logprob_threshold", "--logprob-threshold");
    put_number(c, "--no_speech_threshold", "--no-speech-threshold");
    compat_put_format(c, "--suppress-tokens=%s", compat_value(c, "--suppress_tokens"));
    if (prompt) compat_put_format(c, "--initial-prompt=%s", prompt);
    if (prompt && is_true(c, "--carry_initial_prompt")) compat_put(c, "--carry-initial-prompt");
    if (!is_true(c, "--condition_on_previous_text")) compat_put(c, "--no-condition-on-previous-text");
    if (*compat_value(c, "--clip_timestamps")) compat_put_format(c, "--clip-timestamps=%s", compat_value(c, "--clip_timestamps"));
}

static int is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int put_words(struct compat_call *c)
{
    static const char *const need[] = { "--highlight_words", "--max_line_count", "--max_line_width", "--max_words_per_line" };
    const int words = is_true(c, "--word_timestamps"), subtitles = has_subtitles(c);
    for (size_t i = 0; i < sizeof need / sizeof *need; i++) {
        const int asked = i ? is_set(c, need[i]) : is_true(c, need[i]);
        if (asked && !words) return argparse_error(c, "%s requires --word_timestamps True", need[i]);
        if (!asked || !subtitles || (strcmp(need[i], "--max_line_count") == 0 && !is_set(c, "--max_line_width"))) continue;
        if (i) compat_put_format(c, "%s=%.0f", need[i], number(c, need[i]));
        else compat_put(c, "--highlight-words");
    }
    if (!words) return EXIT_OK;
    compat_put(c, "--word-timestamps");
    /* openai-whisper uses the official heads only for models chosen by name */
    if (is_file(compat_value(c, "--model"))) compat_put(c, "--alignment-heads half");
    compat_put_format(c, "--prepend-punctuations=%s", compat_value(c, "--prepend_punctuations"));
    compat_put_format(c, "--append-punctuations=%s", compat_value(c, "--append_punctuations"));
    if (!is_none(c, "--hallucination_silence_threshold"))
        put_number(c, "--hallucination_silence_threshold", "--hallucination-silence-threshold");
    if (is_set(c, "--max_line_count") && !is_set(c, "--max_line_width"))
        message("UserWarning: --max_line_count has no effect without --max_line_width");
    if (is_set(c, "--max_words_per_line") && is_set(c, "--max_line_width"))
        message("UserWarning: --max_words_per_line has no effect with --max_line_width");
    if (strcmp(compat_value(c, "--task"), "translate") == 0)
        message("UserWarning: Word-level timestamps on translations may not be reliable.");
    return EXIT_OK;
}

static int put_machine(struct compat_call *c)
{
    const char *device = compat_value(c, "--device");
    if (is_none(c, "--threads")) return argparse_error(c, "argument --threads: None is not a number of threads");
    if (number(c, "--threads") > 0) compat_put_format(c, "--threads=%.0f", number(c, "--threads"));
    if (strcmp(device, "cpu") != 0) message("--device %s: this version computes on the CPU", device);
    if (is_true(c, "--fp16")) message("UserWarning: FP16 is not supported on CPU; using FP32 instead");
    return EXIT_OK;
}

static int put_all(struct compat_call *c, const char *unused)
{
    (void)unused;
    if (c->given & OPENAI_HELP) return EXIT_OK;
    int code = put_model(c);
    if (code == EXIT_OK) code = put_language(c);
    if (code == EXIT_OK) code = put_search(c);
    if (code == EXIT_OK) code = put_words(c);
    if (code == EXIT_OK) code = put_machine(c);
    if (code != EXIT_OK) return code;
    put_text(c);
    compat_put_format(c, "--task=%s", compat_value(c, "--task"));
    compat_put_format(c, "--output-format=%s", compat_value(c, "--output_format"));
    const char *dir = compat_value(c, "--output_dir");
    compat_put_format(c, "--output-dir=%s%s", dir[0] == '@' ? "./" : "", dir); /* openai-whisper treats it as a plain folder name */
    compat_put(c, "-q --guards off --compute f32");
    return EXIT_OK;
}

/* ---- output ------------------------------------------------------------------------------------------------------------------ */

static void begin(void *user, const struct job_input *in)
{
    struct run *r = user;
    r->reported = r->language || !steno_model_language(in->job->model, 0);
    if (!r->reported && r->verbose) puts("Detecting language using up to the first 30 seconds. Use `--language` to specify the language");
}

/* "Haitian Creole": capitals as Python's title() sets them. */
static void report_language(struct run *r, const char *code)
{
    const char *name = steno_language_name(code);
    if (r->reported || !name) return;
    r->reported = 1;
    fputs("Detected language: ", stdout);
    for (const char *p = name; *p; p++) putchar((p == name || p[-1] == ' ') && *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    putchar('\n');
}

static void segment(void *user, const steno_session *s, const steno_segment *seg, const int32_t *who)
{
    struct run *r = user;
    struct sink f = sink_to_stream(stdout);
    (void)who;
    report_language(r, steno_language(s));
    if (!r->verbose) return;
    sink_char(&f, '[');
    write_time(&f, seg->t0_ms, 0, '.');
    sink_text(&f, " --> ");
    write_time(&f, seg->t1_ms, 0, '.');
    sink_text(&f, "] ");
    text_put(&f, TEXT_LINE, seg->text, strlen(seg->text));
    sink_char(&f, '\n');
}

/* A language from the command line is written as it was typed. */
static void before_writing(void *user, struct transcript *t)
{
    struct run *r = user;
    report_language(r, t->language);
    if (r->language) t->language = r->language;
    t->language_prob = 0; /* openai-whisper's JSON has no probability */
    t->empty_cues = 1;
}

static int run(struct compat_call *c)
{
    if (c->given & OPENAI_HELP) {
        compat_help(stdout, c);
        return message_flush();
    }
    struct run r = { .verbose = is_true(c, "--verbose"), .language = compat_value(c, "--language") };
    if (ends_in_en(compat_value(c, "--model")) && !is_english(r.language)) r.language = "en";
    const struct transcribe_as as = { .user = &r, .begin = begin, .segment = segment, .before_writing = before_writing, .notes = 1,
                                      .program = c->compat->name, .own = c->own };
    return compat_code(c, transcribe_as(c->n_words, c->word, &as));
}

/* ---- the table --------------------------------------------------------------------------------------------------------------- */

#define OPT(n, kind, d, ...) { .name = "--" n, .takes = COMPAT_##kind, .dflt = d, __VA_ARGS__ }

/* clang-format off */
static const struct compat_option options[] = {
    { .put = put_all },
    { .name = "--help", .alias = "-h", .sets = OPENAI_HELP, .help = "print this list" },
    OPT("model", TEXT, "turbo", .help = "a path, or a name in the caches: tiny, base.en, turbo, ..."),
    OPT("model_dir", TEXT, NULL, .help = "a folder to look for a named model in, before the caches"),
    OPT("device", TEXT, "cpu", .help = "nothing: this version computes on the CPU"),
    OPT("output_dir", TEXT, ".", .alias = "-o", .help = "-o X"),
    OPT("output_format", TEXT, "all", .alias = "-f", .choices = "txt|vtt|srt|tsv|json|all", .help = "-f X"),
    OPT("verbose", BOOL, "True", .help = "segments with their times on standard output"),
    OPT("task", TEXT, "transcribe", .choices = "transcribe|translate", .help = "--task X"),
    OPT("language", TEXT, NULL, .help = "--language X; JSON has it as it is typed"),
    OPT("temperature", NUM, "0", .help = "--temperature X"),
    OPT("best_of", INT_NONE, "5", .help = "--best-of X, above temperature 0"),
    OPT("beam_size", INT_NONE, "5", .help = "--beam-size X, at temperature 0"),
    OPT("patience", NUM, NULL, .help = "--patience X"),
    OPT("length_penalty", NUM, NULL, .help = "--length-penalty X"),
    OPT("suppress_tokens", TEXT, "-1", .help = "--suppress-tokens X"),
    OPT("initial_prompt", TEXT, NULL, .help = "--initial-prompt X"),
    OPT("carry_initial_prompt", BOOL, "False", .help = "--carry-initial-prompt"),
    OPT("condition_on_previous_text", BOOL, "True", .help = "--no-condition-on-previous-text where it is False"),
    OPT("fp16", BOOL, "True", .help = "nothing: it is computed in f32, as there on a CPU"),
    OPT("temperature_increment_on_fallback", NUM_NONE, "0.2", .help = "--temperature-increment-on-fallback X"),
    OPT("compression_ratio_threshold", NUM_NONE, "2.4", .help = "--compression-ratio-threshold X"),
    OPT("logprob_threshold", NUM_NONE, "-1.0", .help = "--logprob-threshold X"),
    OPT("no_speech_threshold", NUM_NONE, "0.6", .help = "--no-speech-threshold X"),
    OPT("word_timestamps", BOOL, "False", .help = "--word-timestamps"),
    OPT("prepend_punctuations", TEXT, "\"'\u201c\u00bf([{-", .help = "--prepend-punctuations X"),
    OPT("append_punctuations", TEXT, "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001", .help = "--append-punctuations X"),
    OPT("highlight_words", BOOL, "False", .help = "--highlight-words"),
    OPT("max_line_width", INT_NONE, NULL, .help = "--max-line-width X"),
    OPT("max_line_count", INT_NONE, NULL, .help = "--max-line-count X"),
    OPT("max_words_per_line", INT_NONE, NULL, .help = "--max-words-per-line X"),
    OPT("threads", INT_NONE, "0", .help = "--threads X; 0: as many as pay"),
    OPT("clip_timestamps", TEXT, "0", .help = "--clip-timestamps X"),
    OPT("hallucination_silence_threshold", NUM_NONE, NULL, .help = "--hallucination-silence-threshold X"),
    { 0 },
};
/* clang-format on */

const struct compat compat_whisper[] = {
    { .name = "whisper", .usage = "[-h] [--model MODEL] [--OPTION VALUE]... audio [audio ...]", .options = options, .type = argparse_type,
      .mistake = EXIT_USAGE, .run = run },
    { .name = NULL },
};
