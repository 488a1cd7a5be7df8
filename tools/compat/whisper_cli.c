/* steno: the command line of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
 *
 * A table of its options and their steno equivalents. doc/compat.md lists the differences. */
#include "cli/message.h"
#include "cli/text_file.h"
#include "compat/compat.h"
#include "compat/whisper_cli_run.h"
#include "compat/whisper_cli_write.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

/* A negative number counts as unset, as in whisper-cli, and the language is detected in a whole window. Values above the model's context
 * are refused after the model is loaded. */
static int put_audio_ctx(struct compat_call *c, const char *value)
{
    enum { MOST = 1048576 };
    const long long n = strtoll(value, NULL, 10);
    if (n >= 0 && !(c->given & WCLI_DETECT)) compat_put_format(c, "--audio-ctx=%lld", n < MOST ? n : MOST);
    return EXIT_OK;
}

/* A negative width counts as unset, as in whisper-cli. */
static int put_beam(struct compat_call *c, const char *value)
{
    const uint64_t grammar = WCLI_GRAMMAR | WCLI_RULE; /* grammar search always uses beams */
    const long n = strtol(value, NULL, 10);
    if (n > 1 || (c->given & grammar) == grammar) compat_put_format(c, "--beam-size=%ld", n > 1 ? n : 5);
    return EXIT_OK;
}

/* Without --grammar-rule whisper-cli parses the grammar, ends if that fails, and does not use it. Here it is only searched for a rule. */
static int check_unused_grammar(const char *value)
{
    enum { NO_RULES = 4, MOST = 1 << 20 }; /* the exit code of whisper-cli */
    char why[TEXT_FILE_WHY], *text = NULL;
    const int is_file = access(value, F_OK) == 0;
    const enum text_file how = is_file ? text_file_read(&text, value, 0, MOST, why, sizeof why) : TEXT_FILE_READ;
    const int has_rules = how == TEXT_FILE_READ && strstr(is_file ? text : value, "::=") != NULL;
    free(text);
    if (how != TEXT_FILE_READ) message_file(value, why);
    if (how == TEXT_FILE_NO_MEMORY) return EXIT_MEMORY;
    if (how != TEXT_FILE_READ) return NO_RULES;
    if (has_rules)
        message("--grammar is not used without --grammar-rule, as in whisper-cli: name the rule with which sentences begin");
    else message("--grammar: %s \"%s\" has no rule (name ::= ...)", is_file ? "the file" : "there is no such file, and the text", value);
    return has_rules ? EXIT_OK : NO_RULES;
}

static int put_grammar(struct compat_call *c, const char *value)
{
    if (!*value) return EXIT_OK;
    if (!(c->given & WCLI_RULE)) return check_unused_grammar(value);
    compat_put_format(c, "--grammar=%s", value);
    compat_put_format(c, "--grammar-rule=%s", compat_value(c, "--grammar-rule"));
    compat_put_format(c, "--grammar-penalty=%s", compat_value(c, "--grammar-penalty"));
    return EXIT_OK;
}

/* Can a window be decoded again at a higher temperature? */
static int falls_back(const struct compat_call *c)
{
    const double step = strtod(compat_value(c, "--temperature-inc"), NULL), t = strtod(compat_value(c, "--temperature"), NULL);
    return step > 0 && t + step < 1 + 1e-6 && !compat_is_given(c, "--no-fallback");
}

static int put_increment(struct compat_call *c, const char *value)
{
    compat_put_format(c, "--temperature-increment-on-fallback=%s", falls_back(c) ? value : "0");
    return EXIT_OK;
}

static int put_best_of(struct compat_call *c, const char *value)
{
    const int draws = strtod(compat_value(c, "--temperature"), NULL) > 0 || falls_back(c);
    if (draws && strtol(value, NULL, 10) > 1) compat_put_format(c, "--best-of=%s", value);
    return EXIT_OK;
}

static int put_entropy(struct compat_call *c, const char *value)
{
    if (falls_back(c)) compat_put_format(c, "--entropy-threshold=%s", value);
    return EXIT_OK;
}

/* A text option whose steno equivalent has a text value; an empty text counts as unset. */
static int put_text(struct compat_call *c, const char *name, const char *value)
{
    if (*value) compat_put_format(c, "%s=%s", name, value);
    return EXIT_OK;
}

static int put_prompt(struct compat_call *c, const char *value) { return put_text(c, "--initial-prompt", value); }
static int put_regex(struct compat_call *c, const char *value) { return put_text(c, "--suppress-regex", value); }

static int put_language(struct compat_call *c, const char *value)
{
    return put_text(c, "--language", c->given & WCLI_DETECT ? "auto" : value);
}

static int put_carry(struct compat_call *c, const char *value)
{
    (void)value;
    const char *prompt = compat_value(c, "--prompt");
    if (prompt && *prompt) compat_put(c, "--carry-initial-prompt");
    return EXIT_OK;
}

/* The option has no effect without -nfa, but an unknown model name is an error in any case. */
static int put_dtw(struct compat_call *c, const char *value)
{
    static const char *const models[] = { "tiny", "tiny.en", "base", "base.en", "small", "small.en", "medium", "medium.en",
                                          "large.v1", "large.v2", "large.v3", "large.v3.turbo" };
    size_t i = 0;
    while (i < sizeof models / sizeof *models && strcmp(models[i], value) != 0) i++;
    if (!*value) return EXIT_OK;
    if (i == sizeof models / sizeof *models) {
        message("-dtw: unknown model \"%s\"; known are base.en, large.v3, ...", value);
        return EXIT_MODEL;
    }
    const int counts = compat_is_given(c, "--no-flash-attn");
    message("-dtw %s; steno transcribe --word-timestamps finds times of words so", counts ? "is not served" : "does nothing without -nfa");
    return counts ? c->compat->mistake : EXIT_OK;
}

/* A GPU is requested by number with -dev, and by name with -oved (OpenVINO). */
static int report_device(const struct compat_call *c, const char *option, const char *value)
{
    if (*value && strcmp(value, "CPU") != 0 && !compat_is_given(c, "--no-gpu"))
        message("%s %s: this version has no kernels for graphics processors; computing on the CPU", option, value);
    return EXIT_OK;
}

static int put_device(struct compat_call *c, const char *value)
{
    return report_device(c, "-dev", value);
}

static int put_encoder_device(struct compat_call *c, const char *value)
{
    return report_device(c, "-oved", value);
}

#define FLAG(a, n, ...) { .name = "--" n, .alias = "-" a, __VA_ARGS__ }
#define VALUE(a, n, kind, d, ...) { .name = "--" n, .alias = "-" a, .takes = COMPAT_##kind, .dflt = d, __VA_ARGS__ }
#define NOTHING "nothing: it is about graphics processors, and this version computes on the CPU"
#define VAD(a, n, kind, d, words) VALUE(a, n, kind, d, .to = words, .needs = WCLI_VAD) /* the option has no effect without --vad */

/* clang-format off */
static const struct compat_option options[] = {
    { .to = "-q --decoding whisper.cpp --gelu tanh --sample-length 220 --guards off --compression-ratio-threshold none "
            "--no-suppress-non-speech" },
    FLAG("h", "help", .sets = WCLI_HELP, .help = "print this list"),
    { .name = "--version", .sets = WCLI_VERSION, .help = "print the version" },
    VALUE("t", "threads", INT, NULL, .to = "--threads %"),
    VALUE("p", "processors", INT, "1", .help = "cut the sound into X equal parts, each decoded by itself; all processors work on each"),
    VALUE("ot", "offset-t", INT, "0", .to = "--offset-ms %"),
    VALUE("on", "offset-n", INT, "0", .help = "added to the numbers of subtitles"),
    VALUE("d", "duration", INT, "0", .to = "--duration-ms %"),
    VALUE("mc", "max-context", INT, "-1", .to = "--max-context %"),
    VALUE("ml", "max-len", INT, "0", .help = "maximum length of a segment in characters"),
    FLAG("sow", "split-on-word", .help = "-ml cuts where a space is"),
    VALUE("bo", "best-of", INT, "5", .put = put_best_of, .help = "--best-of X"),
    VALUE("bs", "beam-size", INT, "5", .put = put_beam, .help = "--beam-size X"),
    VALUE("ac", "audio-ctx", INT, "0", .put = put_audio_ctx, .help = "--audio-ctx X"),
    VALUE("wt", "word-thold", NUM, "0.01", .help = "share above which a timestamp counts for the times of tokens"),
    VALUE("et", "entropy-thold", NUM, "2.4", .put = put_entropy, .help = "--entropy-threshold X"),
    VALUE("lpt", "logprob-thold", NUM, "-1", .to = "--logprob-threshold %"),
    VALUE("nth", "no-speech-thold", NUM, "0.6", .to = "--no-speech-threshold %"),
    VALUE("tp", "temperature", NUM, "0", .to = "--temperature %"),
    VALUE("tpi", "temperature-inc", NUM, "0.2", .put = put_increment, .help = "--temperature-increment-on-fallback X"),
    FLAG("debug", "debug-mode", .refused = "is not served: what it writes is for whisper.cpp's authors"),
    FLAG("tr", "translate", .to = "--task translate", .sets = WCLI_TRANSLATE),
    FLAG("di", "diarize", .to = "--diarize", .sets = WCLI_DIARIZE),
    FLAG("tdrz", "tinydiarize", .to = "--tinydiarize", .sets = WCLI_TURNS),
    FLAG("nf", "no-fallback", .help = "--temperature-increment-on-fallback 0"),
    FLAG("otxt", "output-txt", .sets = WCLI_TXT, .help = "write NAME.txt"),
    FLAG("ovtt", "output-vtt", .sets = WCLI_VTT, .help = "write NAME.vtt"),
    FLAG("osrt", "output-srt", .sets = WCLI_SRT, .help = "write NAME.srt"),
    FLAG("olrc", "output-lrc", .sets = WCLI_LRC, .help = "write NAME.lrc"),
    FLAG("owts", "output-words", .sets = WCLI_WTS, .help = "write NAME.wts"),
    VALUE("fp", "font-path", TEXT, "/System/Library/Fonts/Supplemental/Courier New Bold.ttf", .help = "the font that NAME.wts names"),
    FLAG("ocsv", "output-csv", .sets = WCLI_CSV, .help = "write NAME.csv"),
    FLAG("oj", "output-json", .sets = WCLI_JSON, .help = "write NAME.json"),
    FLAG("ojf", "output-json-full", .sets = WCLI_JSON | WCLI_FULL, .help = "write NAME.json, with tokens"),
    VALUE("of", "output-file", TEXT, NULL, .lists = COMPAT_OUTPUT, .help = "NAME of the first, second, ... input; - is standard output"),
    FLAG("np", "no-prints", .sets = WCLI_QUIET, .help = "nothing on standard error but what is wrong"),
    FLAG("ps", "print-special", .sets = WCLI_SPECIAL, .help = "special tokens in texts, in files, too"),
    FLAG("pc", "print-colors", .sets = WCLI_COLORS, .help = "tokens coloured by their probability, wherever standard output goes"),
    { .name = "--print-confidence", .sets = WCLI_CONFIDENCE, .help = "the same in styles" },
    FLAG("pp", "print-progress", .to = "--progress lines"),
    FLAG("nt", "no-timestamps", .to = "--without-timestamps", .sets = WCLI_BARE),
    VALUE("l", "language", TEXT, "en", .put = put_language, .help = "--language X"),
    FLAG("dl", "detect-language", .sets = WCLI_DETECT, .help = "nothing but the language: in NAME.json, and on standard error"),
    { .name = "--prompt", .takes = COMPAT_TEXT, .put = put_prompt, .help = "--initial-prompt X" },
    { .name = "--carry-initial-prompt", .put = put_carry, .help = "--carry-initial-prompt" },
    VALUE("m", "model", TEXT, "models/ggml-base.en.bin", .to = "--model %"),
    VALUE("f", "file", TEXT, NULL, .lists = COMPAT_INPUT, .help = "an input; - is standard input"),
    VALUE("oved", "ov-e-device", TEXT, NULL, .put = put_encoder_device, .help = NOTHING),
    VALUE("dtw", "dtw", TEXT, NULL, .put = put_dtw, .help = "nothing; with -nfa it is refused"),
    FLAG("ls", "log-score", .sets = WCLI_SCORE, .help = "write NAME.score.txt"),
    FLAG("ng", "no-gpu", .help = NOTHING),
    VALUE("dev", "device", INT, NULL, .env = "WHISPER_ARG_DEVICE", .put = put_device, .help = NOTHING),
    FLAG("fa", "flash-attn", .help = NOTHING),
    FLAG("nfa", "no-flash-attn", .help = NOTHING),
    { .name = "--compute", .takes = COMPAT_TEXT, .to = "--compute %", .help = "steno's own: auto, f32, bf16, int16 or int8" },
    FLAG("sns", "suppress-nst", .to = "--suppress-non-speech", .help = "--suppress-non-speech"),
    { .name = "--suppress-regex", .takes = COMPAT_TEXT, .put = put_regex, .help = "--suppress-regex X" },
    { .name = "--grammar", .takes = COMPAT_TEXT, .put = put_grammar, .sets = WCLI_GRAMMAR, .help = "--grammar X, with --grammar-rule" },
    { .name = "--grammar-rule", .takes = COMPAT_TEXT, .sets = WCLI_RULE, .help = "--grammar-rule X, with --grammar" },
    { .name = "--grammar-penalty", .takes = COMPAT_NUM, .dflt = "100", .help = "--grammar-penalty X" },
    { .name = "--vad", .sets = WCLI_VAD, .to = "--vad silero --vad-join --vad-rules whisper-cpp" },
    VAD("vm", "vad-model", TEXT, NULL, "--vad-model %"),
    VAD("vt", "vad-threshold", NUM, "0.5", "--vad-threshold %"),
    VAD("vspd", "vad-min-speech-duration-ms", INT, "250", "--vad-min-speech-ms %"),
    VAD("vsd", "vad-min-silence-duration-ms", INT, "100", "--vad-min-silence-ms %"),
    VAD("vmsd", "vad-max-speech-duration-s", NUM, NULL, "--vad-max-speech-s %"),
    VAD("vp", "vad-speech-pad-ms", INT, "30", "--vad-speech-pad-ms %"),
    VAD("vo", "vad-samples-overlap", NUM, "0.1", "--vad-samples-overlap %"),
    { 0 },
};
/* clang-format on */

#define NAMED(n) { .name = n, .options = options, .manner = COMPAT_INPUTS | COMPAT_AT_FILE, .mistake = 1, .run = whisper_cli_run }

const struct compat compat_whisper_cli[] = { NAMED("whisper-cli"), NAMED("whisper-cpp"), NAMED("main"), { .name = NULL } };
