/* steno: the command line of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
 *
 * Lines with times on standard output as they come, and files beside the input, NAME.wav.txt, or where -of says. What becomes of each
 * option, and what differs, is told in doc/compat.md. */
#include "atomic_file.h"
#include "dialects.h"
#include "ledger_code.h"
#include "message.h"
#include "sound.h"
#include "transcribe_as.h"
#include "whisper_cli_console.h"
#include "whisper_cli_view.h"
#include "whisper_cli_write.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDS_WITHOUT_INPUT 2 /* as there */

struct run {
    const struct dialect_call *call;
    struct ledger *ledger;
    struct whisper_cli_result result; /* what was typed of it */
    struct whisper_cli_rules rules;
    struct whisper_cli_console console;
    struct whisper_cli_sound sound;
    int lost; /* 1: there was no memory for the sound */
};

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

/* Which of the inputs: they are the very words that were typed. */
static int index_of(const struct dialect_call *c, const char *input)
{
    for (int i = 0; i < c->n_inputs; i++)
        if (c->input[i] == input) return i;
    return 0;
}

static const char *base_of(const struct dialect_call *c, int i)
{
    return i < c->n_outputs && c->output[i][0] ? c->output[i] : c->input[i];
}

static char *name_of(const struct dialect_call *c, int i, const char *extension)
{
    const char *base = base_of(c, i);
    const size_t n = strlen(base), k = strlen(extension) + 1;
    char *name = malloc(n + k);
    if (!name) {
        message("out of memory for the name of an output");
        return NULL;
    }
    memcpy(name, base, n);
    memcpy(name + n, extension, k);
    return name;
}

static int plan_file(const struct run *r, int i, const struct whisper_cli_writer *w)
{
    char *name = name_of(r->call, i, w->extension);
    if (!name) return EXIT_MEMORY;
    int code = ledger_code(r->ledger, ledger_plan(r->ledger, name));
    const char *fault = code == EXIT_OK ? atomic_file_fault(name) : NULL;
    if (fault) message("%s: cannot write: %s", name, fault);
    free(name);
    return fault ? EXIT_OUTPUT : code;
}

static int plan(void *user, struct ledger *l)
{
    struct run *r = user;
    const struct dialect_call *c = r->call;
    int code = EXIT_OK;
    r->ledger = l;
    for (int i = 0; i < c->n_inputs && code == EXIT_OK; i++) code = ledger_code_read(l, "an input", c->input[i]);
    for (int i = 0; i < c->n_inputs; i++) {
        if (strcmp(base_of(c, i), "-") == 0) continue;
        for (const struct whisper_cli_writer *w = whisper_cli_writers; w->extension && code == EXIT_OK; w++)
            if (r->result.given & w->bit) code = plan_file(r, i, w);
    }
    return code;
}

static int write_file(const struct run *r, const struct whisper_cli_result *result, const struct whisper_cli_writer *w, const char *name)
{
    struct atomic_file file;
    if (atomic_file_open(&file, name)) return message_not_written(name, errno);
    errno = 0;
    struct sink f = sink_to_stream(file.f);
    w->write(&f, result);
    const int refused = ledger_check(r->ledger, name);
    const int why = !f.failed ? 0 : ferror(file.f) ? errno : ENOMEM; /* the writer had none, or the stream failed */
    if (refused || f.failed) atomic_file_abort(&file);
    if (refused) return ledger_code(r->ledger, refused);
    if (f.failed) return message_not_written(name, why);
    if (atomic_file_commit(&file)) return message_not_written(name, errno);
    if (!(r->result.given & WCLI_QUIET)) message("saved %s", name);
    return ledger_code(r->ledger, ledger_wrote(r->ledger, name));
}

static int write_stdout(const struct whisper_cli_result *result, const struct whisper_cli_writer *w, int *used)
{
    struct sink f = sink_to_stream(stdout);
    if (*used) {
        message("one format goes to standard output: %s is not written", w->extension + 1);
        return EXIT_OK;
    }
    *used = 1;
    w->write(&f, result);
    return message_flush();
}

/* Speakers of pieces: a segment that is cut may have several. */
static void name_speakers(struct whisper_cli_view *v, const struct job_input *in)
{
    for (int i = 0; v->t.speakers && i < v->t.n; i++)
        v->speakers[i] = diarize_speaker(&in->diarize, v->segs[i].t0_ms, v->segs[i].t1_ms);
}

static int write_all(struct run *r, const struct job_input *in, const struct transcript *t)
{
    const int i = index_of(r->call, in->file);
    struct whisper_cli_result result = r->result;
    int code = message_flush(), used = 0;
    result.t = t;
    result.input = in->file;
    result.n_samples = in->heard;
    for (const struct whisper_cli_writer *w = whisper_cli_writers; w->extension && code == EXIT_OK; w++) {
        if (!(result.given & w->bit)) continue;
        if (strcmp(base_of(r->call, i), "-") == 0) {
            code = write_stdout(&result, w, &used);
            continue;
        }
        char *name = name_of(r->call, i, w->extension);
        code = name ? write_file(r, &result, w, name) : EXIT_MEMORY;
        free(name);
    }
    return code;
}

static long long number_of(const struct dialect_call *c, const char *option)
{
    return strtoll(dialect_value(c, option), NULL, 10);
}

/* As there, a sound, or what -ot and -d leave of it, is not decoded where it has no more than ten frames. */
static void tell_brief(const struct run *r, const struct job_input *in, const struct transcript *t)
{
    enum { FRAME_MS = 10, FRAME = 160, HALF_A_WINDOW = 200, BRIEF_FRAMES = 10 };
    const long long from = number_of(r->call, "--offset-t") / FRAME_MS, asked = number_of(r->call, "--duration") / FRAME_MS;
    const long long frames = asked > 0 ? asked : 1 + (in->heard - HALF_A_WINDOW) / FRAME - from;
    if (t->n || r->result.given & (WCLI_QUIET | WCLI_DETECT) || frames > BRIEF_FRAMES) return;
    message("%s: there is no text: less than 0.12 s are to be decoded, and whisper.cpp's rules want more", in->file);
}

static int output(void *user, const struct job_input *in, struct transcript *t)
{
    struct run *r = user;
    struct whisper_cli_view view;
    struct whisper_cli_rules rules = r->rules;
    if (r->result.given & WCLI_DETECT && !(r->result.given & WCLI_QUIET)) message("%s: language %s", in->file, t->language);
    if (rules.sound && (r->lost || whisper_cli_levels(&r->sound))) {
        message("out of memory for the sound of %s", in->file);
        return EXIT_MEMORY;
    }
    int code = EXIT_OK;
    if (whisper_cli_view(&view, t, &rules)) {
        message("out of memory for the text of %s", in->file);
        code = EXIT_MEMORY;
    } else {
        name_speakers(&view, in);
        if (r->console.late) whisper_cli_console_all(&r->console, &view.t);
        tell_brief(r, in, t);
        code = write_all(r, in, &view.t);
    }
    whisper_cli_view_free(&view);
    return code;
}

/* ---- the console ------------------------------------------------------------------------------------------------------------- */

static void begin(void *user, const struct job_input *in)
{
    struct run *r = user;
    const int hidden = strcmp(base_of(r->call, index_of(r->call, in->file)), "-") == 0;
    whisper_cli_console_begin(&r->console, r->result.given, in->job->model, hidden);
    whisper_cli_sound_free(&r->sound);
}

static void samples(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n)
{
    struct run *r = user;
    (void)in;
    if (r->rules.sound && whisper_cli_hear(&r->sound, at, pcm, n)) r->lost = 1;
}

static void segment(void *user, const steno_session *s, const steno_segment *seg, const int32_t *who)
{
    struct run *r = user;
    if (!r->console.late) whisper_cli_console_segment(&r->console, s, seg, who);
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Files that are not there are told first; if none is left there is nothing to do. */
static int check_inputs(const struct dialect_call *c)
{
    int n = 0;
    for (int i = 0; i < c->n_inputs; i++) n += strcmp(c->input[i], "-") == 0 || access(c->input[i], F_OK) == 0;
    if (n) return EXIT_OK;
    for (int i = 0; i < c->n_inputs; i++) message_file(sound_name(c->input[i]), strerror(ENOENT));
    message("no input; \"%s --help\" lists the options", c->called);
    return ENDS_WITHOUT_INPUT;
}

static int check(const struct dialect_call *c, const struct whisper_cli_result *r)
{
    if ((c->given & WCLI_DIARIZE) && (c->given & WCLI_TURNS))
        return dialect_mistake(c, "--diarize and --tinydiarize cannot be had together");
    if ((c->given & WCLI_WTS) && access(r->font, R_OK))
        return dialect_mistake(c, "-owts needs a font's file, and %s is none: give one with -fp", r->font);
    return check_inputs(c);
}

/* Karaoke has short lines. */
static int32_t max_len_of(const struct dialect_call *c)
{
    const long n = strtol(dialect_value(c, "--max-len"), NULL, 10);
    return n > 0 ? (int32_t)(n < INT32_MAX ? n : INT32_MAX) : n == 0 && c->given & WCLI_WTS ? 60 : 0;
}

static int run(struct dialect_call *c)
{
    if (c->given & WCLI_HELP) {
        dialect_help(stdout, c);
        return message_flush();
    }
    if (c->given & WCLI_VERSION) {
        printf("steno %s\n", steno_version());
        return message_flush();
    }
    struct run r = { .call = c };
    r.result = (struct whisper_cli_result){ .given = c->given, .model = dialect_value(c, "--model"),
                                            .font = dialect_value(c, "--font-path"),
                                            .language = c->given & WCLI_DETECT ? "auto" : dialect_value(c, "--language"),
                                            .offset_n = (int32_t)strtol(dialect_value(c, "--offset-n"), NULL, 10) };
    r.rules = (struct whisper_cli_rules){ .threshold = strtod(dialect_value(c, "--word-thold"), NULL), .max_len = max_len_of(c),
                                          .special = (c->given & WCLI_SPECIAL) != 0, .by_words = dialect_is_given(c, "--split-on-word") };
    if (r.rules.max_len || c->given & (WCLI_FULL | WCLI_WTS)) r.rules.sound = &r.sound;
    if (r.rules.max_len) r.result.given |= WCLI_CUT;
    const struct transcribe_as as = { .user = &r, .plan = plan, .begin = begin, .samples = samples, .segment = segment, .output = output,
                                      .uncut = 1, .language_only = (c->given & WCLI_DETECT) != 0 };
    int code = check(c, &r.result);
    if (code == EXIT_OK) code = dialect_code(c, transcribe_as(c->n_words, c->word, &as));
    whisper_cli_sound_free(&r.sound);
    return code;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

/* A negative number is none there. */
static int put_audio_ctx(struct dialect_call *c, const char *value)
{
    if (value[0] != '-') dialect_put_format(c, "--audio-ctx=%s", value);
    return EXIT_OK;
}

/* A negative width is none there. */
static int put_beam(struct dialect_call *c, const char *value)
{
    const uint64_t grammar = WCLI_GRAMMAR | WCLI_RULE; /* asks for beams in any case */
    const long n = strtol(value, NULL, 10);
    if (n > 1 || (c->given & grammar) == grammar) dialect_put_format(c, "--beam-size=%ld", n > 1 ? n : 5);
    return EXIT_OK;
}

static int put_grammar(struct dialect_call *c, const char *value)
{
    if (!(c->given & WCLI_RULE) || !*value) return EXIT_OK; /* nothing comes of one without the other */
    dialect_put_format(c, "--grammar=%s", value);
    dialect_put_format(c, "--grammar-rule=%s", dialect_value(c, "--grammar-rule"));
    dialect_put_format(c, "--grammar-penalty=%s", dialect_value(c, "--grammar-penalty"));
    return EXIT_OK;
}

/* Whether a window may be decoded again, hotter. */
static int falls_back(const struct dialect_call *c)
{
    const double step = strtod(dialect_value(c, "--temperature-inc"), NULL), t = strtod(dialect_value(c, "--temperature"), NULL);
    return step > 0 && t + step < 1 + 1e-6 && !dialect_is_given(c, "--no-fallback");
}

static int put_increment(struct dialect_call *c, const char *value)
{
    dialect_put_format(c, "--temperature-increment-on-fallback=%s", falls_back(c) ? value : "0");
    return EXIT_OK;
}

static int put_best_of(struct dialect_call *c, const char *value)
{
    const int draws = strtod(dialect_value(c, "--temperature"), NULL) > 0 || falls_back(c);
    if (draws && strtol(value, NULL, 10) > 1) dialect_put_format(c, "--best-of=%s", value);
    return EXIT_OK;
}

static int put_entropy(struct dialect_call *c, const char *value)
{
    if (falls_back(c)) dialect_put_format(c, "--entropy-threshold=%s", value);
    return EXIT_OK;
}

/* It does what its name says where it is given; an empty text is none. */
static int put_text(struct dialect_call *c, const char *name, const char *value)
{
    if (*value) dialect_put_format(c, "%s=%s", name, value);
    return EXIT_OK;
}

static int put_prompt(struct dialect_call *c, const char *value) { return put_text(c, "--initial-prompt", value); }
static int put_regex(struct dialect_call *c, const char *value) { return put_text(c, "--suppress-regex", value); }

static int put_language(struct dialect_call *c, const char *value)
{
    return put_text(c, "--language", c->given & WCLI_DETECT ? "auto" : value);
}

static int put_carry(struct dialect_call *c, const char *value)
{
    (void)value;
    const char *prompt = dialect_value(c, "--prompt");
    if (prompt && *prompt) dialect_put(c, "--carry-initial-prompt");
    return EXIT_OK;
}

/* Nothing comes of it there unless -nfa is given, too, but what is no model is told. */
static int put_dtw(struct dialect_call *c, const char *value)
{
    static const char *const models[] = { "tiny", "tiny.en", "base", "base.en", "small", "small.en", "medium", "medium.en",
                                          "large.v1", "large.v2", "large.v3", "large.v3.turbo" };
    size_t i = 0;
    while (i < sizeof models / sizeof *models && strcmp(models[i], value) != 0) i++;
    if (!*value) return EXIT_OK;
    if (i == sizeof models / sizeof *models) {
        message("-dtw: there is no model \"%s\"; base.en, large.v3, ... are some", value);
        return EXIT_MODEL;
    }
    const int counts = dialect_is_given(c, "--no-flash-attn");
    message("-dtw %s; steno transcribe --word-timestamps finds times of words so", counts ? "is not served" : "does nothing without -nfa");
    return counts ? c->dialect->mistake : EXIT_OK;
}

/* A graphics processor is asked for by its number, and by the word of OpenVINO. */
static int tell_device(const struct dialect_call *c, const char *option, const char *value)
{
    if (*value && strcmp(value, "CPU") != 0 && !dialect_is_given(c, "--no-gpu"))
        message("%s %s: this version has no kernels for graphics processors; computing on the CPU", option, value);
    return EXIT_OK;
}

static int put_device(struct dialect_call *c, const char *value)
{
    return tell_device(c, "-dev", value);
}

static int put_encoder_device(struct dialect_call *c, const char *value)
{
    return tell_device(c, "-oved", value);
}

#define FLAG(a, n, ...) { .name = "--" n, .alias = "-" a, __VA_ARGS__ }
#define VALUE(a, n, kind, d, ...) { .name = "--" n, .alias = "-" a, .takes = DIALECT_##kind, .dflt = d, __VA_ARGS__ }
#define NOTHING "nothing: it is about graphics processors, and this version computes on the CPU"
#define VAD(a, n, kind, d, words) VALUE(a, n, kind, d, .to = words, .needs = WCLI_VAD) /* nothing comes of it without --vad */

/* clang-format off */
static const struct dialect_option options[] = {
    { .to = "-q --decoding whisper.cpp --gelu tanh --sample-length 220 --guards off --compression-ratio-threshold none "
            "--no-suppress-non-speech" },
    FLAG("h", "help", .sets = WCLI_HELP, .help = "print this list"),
    { .name = "--version", .sets = WCLI_VERSION, .help = "print the version" },
    VALUE("t", "threads", INT, NULL, .to = "--threads %"),
    VALUE("p", "processors", INT, "1", .help = "nothing: the text is always that of one, and all processors work on it"),
    VALUE("ot", "offset-t", INT, "0", .to = "--offset-ms %"),
    VALUE("on", "offset-n", INT, "0", .help = "added to the numbers of subtitles"),
    VALUE("d", "duration", INT, "0", .to = "--duration-ms %"),
    VALUE("mc", "max-context", INT, "-1", .to = "--max-context %"),
    VALUE("ml", "max-len", INT, "0", .help = "segments are cut into pieces of so many characters"),
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
    VALUE("of", "output-file", TEXT, NULL, .lists = DIALECT_OUTPUT, .help = "NAME of the first, second, ... input; - is standard output"),
    FLAG("np", "no-prints", .sets = WCLI_QUIET, .help = "nothing on standard error but what is wrong"),
    FLAG("ps", "print-special", .sets = WCLI_SPECIAL, .help = "special tokens in texts, in files, too"),
    FLAG("pc", "print-colors", .sets = WCLI_COLORS, .help = "tokens coloured by their probability, wherever standard output goes"),
    { .name = "--print-confidence", .sets = WCLI_CONFIDENCE, .help = "the same in styles" },
    FLAG("pp", "print-progress", .to = "--progress lines"),
    FLAG("nt", "no-timestamps", .to = "--without-timestamps", .sets = WCLI_BARE),
    VALUE("l", "language", TEXT, "en", .put = put_language, .help = "--language X"),
    FLAG("dl", "detect-language", .sets = WCLI_DETECT, .help = "nothing but the language: in NAME.json, and on standard error"),
    { .name = "--prompt", .takes = DIALECT_TEXT, .put = put_prompt, .help = "--initial-prompt X" },
    { .name = "--carry-initial-prompt", .put = put_carry, .help = "--carry-initial-prompt" },
    VALUE("m", "model", TEXT, "models/ggml-base.en.bin", .to = "--model %"),
    VALUE("f", "file", TEXT, NULL, .lists = DIALECT_INPUT, .help = "an input; - is standard input"),
    VALUE("oved", "ov-e-device", TEXT, NULL, .put = put_encoder_device, .help = NOTHING),
    VALUE("dtw", "dtw", TEXT, NULL, .put = put_dtw, .help = "nothing; with -nfa it is refused"),
    FLAG("ls", "log-score", .sets = WCLI_SCORE, .help = "write NAME.score.txt"),
    FLAG("ng", "no-gpu", .help = NOTHING),
    VALUE("dev", "device", INT, NULL, .env = "WHISPER_ARG_DEVICE", .put = put_device, .help = NOTHING),
    FLAG("fa", "flash-attn", .help = NOTHING),
    FLAG("nfa", "no-flash-attn", .help = NOTHING),
    { .name = "--compute", .takes = DIALECT_TEXT, .to = "--compute %", .help = "steno's own: auto, f32, bf16, int16 or int8" },
    FLAG("sns", "suppress-nst", .to = "--suppress-non-speech", .help = "--suppress-non-speech"),
    { .name = "--suppress-regex", .takes = DIALECT_TEXT, .put = put_regex, .help = "--suppress-regex X" },
    { .name = "--grammar", .takes = DIALECT_TEXT, .put = put_grammar, .sets = WCLI_GRAMMAR, .help = "--grammar X, with --grammar-rule" },
    { .name = "--grammar-rule", .takes = DIALECT_TEXT, .sets = WCLI_RULE, .help = "--grammar-rule X, with --grammar" },
    { .name = "--grammar-penalty", .takes = DIALECT_NUM, .dflt = "100", .help = "--grammar-penalty X" },
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

#define NAMED(n) { .name = n, .options = options, .manner = DIALECT_INPUTS | DIALECT_AT_FILE, .mistake = 1, .run = run }

const struct dialect dialects_whisper_cli[] = { NAMED("whisper-cli"), NAMED("whisper-cpp"), NAMED("main"), { .name = NULL } };
