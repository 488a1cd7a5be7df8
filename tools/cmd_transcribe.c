/* steno: the verbs transcribe and translate. SPDX-License-Identifier: MIT
 *
 * Everything that can be refused is refused before the first sample is decoded: options, names of outputs, the output folder, the
 * model. Then inputs are taken one after the other; one that fails is told in a line and the others go on. */
#include "cmd.h"
#include "console.h"
#include "engine.h"
#include "progress.h"
#include "results.h"
#include "sha256.h"
#include "signals.h"
#include "subtitle_opts.h"
#include "u8.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    struct subtitle_opts subtitles;
    const char *language, *out_dir, *out_template, *initial_prompt, *prompt_tokens, *suppress_tokens;
    int task, condition, carry, without_timestamps, suppress_blank, guards;
    int progress, print_timings, print_colors, print_confidence, print_special, color;
    unsigned formats;
    int64_t sample_length, seed, offset_ms, duration_ms, offset_n;
    double max_initial_timestamp, temperature, temperature_increment, no_speech_threshold, logprob_threshold;
    double compression_ratio_threshold, entropy_threshold;
    int itn;
};

#define AT(field) offsetof(struct opts, field)

enum { ROWS_OF_TASK = 2 }; /* the rows that `translate` does not have */

static const struct arg rows[] = {
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Task" },
    { "task", 0, ARG_WORD, 0, AT(task), "transcribe|translate", "transcribe", 0, 0, "write what is said, or its English translation" },
    ENGINE_MODEL_ROWS(struct opts),
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Input" },
    { "language", 'l', ARG_TEXT, 0, AT(language), "auto|CODE", "auto", 0, 0,
      "code (en, zh, ...) or English name; auto: from the first 30 s" },
    { "offset-ms", 0, ARG_INT, 0, AT(offset_ms), "MS", "0", 0, 1e12, "where to begin" },
    { "duration-ms", 0, ARG_INT, 0, AT(duration_ms), "MS", "0", 0, 1e12, "how much to transcribe; 0: to the end" },
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Output" },
    { "output-format", 'f', ARG_LIST, 0, AT(formats), WRITER_NAMES "|all", "txt", 0, N_WRITERS_ALL,
      "one or several, separated by commas; all: txt,srt,vtt,tsv,json, the others by name only; jsonl: a line per input, failed ones too; "
      "wts: a script that burns the words into a picture, ass: the subtitles in it; score: probabilities of tokens" },
    { "output-dir", 'o', ARG_TEXT, 0, AT(out_dir), "DIR", NULL, 0, 0,
      "write DIR/NAME.FORMAT for each input (made if missing; score: NAME.score.txt); without it one format goes to standard output" },
    { "output-template", 0, ARG_TEXT, 0, AT(out_template), "TEXT", NULL, 0, 0,
      "names of files below DIR, of {stem}, {format} and {language}; without it {stem}.{format}" },
    { "offset-n", 0, ARG_INT, 0, AT(offset_n), "N", "0", 0, 1e9, "added to the numbers of subtitles (srt)" },
    SUBTITLE_ROWS(struct opts),
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Text" },
    { "initial-prompt", 0, ARG_TEXT, 1, AT(initial_prompt), "TEXT", NULL, 0, 0, "text put before the first window" },
    { "carry-initial-prompt", 0, ARG_PAIR, 0, AT(carry), NULL, "off", 0, 0, "it stands before every window" },
    { "prompt-tokens", 0, ARG_TEXT, 1, AT(prompt_tokens), "IDS", NULL, 0, 0,
      "ids in place of the text of --initial-prompt, separated by commas" },
    { "condition-on-previous-text", 0, ARG_PAIR, 0, AT(condition), NULL, "on", 0, 0, "earlier windows are the prompt of the next" },
    { "without-timestamps", 0, ARG_PAIR, 0, AT(without_timestamps), NULL, "off", 0, 0, "text only, one segment per window" },
    { "max-initial-timestamp", 0, ARG_NUM, 1, AT(max_initial_timestamp), "S|none", "1.0", 0, 30, "latest start of the first segment" },
    { "suppress-tokens", 0, ARG_TEXT, 1, AT(suppress_tokens), "IDS", "-1", 0, 0,
      "ids separated by commas; -1: the non-speech set; \"\": none" },
    { "itn", 0, ARG_PAIR, 0, AT(itn), NULL, "off", 0, 0, "digits and punctuation instead of words (SenseVoice)" },
    { "suppress-blank", 0, ARG_PAIR, 0, AT(suppress_blank), NULL, "on", 0, 0, "no space and no end at the first position" },
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Decoding" },
    { "temperature", 0, ARG_NUM, 0, AT(temperature), "T", "0", 0, 100, "0: the most probable token; above: sampling" },
    { "temperature-increment-on-fallback", 0, ARG_NUM, 1, AT(temperature_increment), "T|none", "0.2", 0, 100,
      "a window that fails is decoded again so much hotter, up to 1; 0: once" },
    { "compression-ratio-threshold", 0, ARG_NUM, 1, AT(compression_ratio_threshold), "R|none", "2.4", 0, 1e9,
      "above it a window's text is too repetitive" },
    { "entropy-threshold", 0, ARG_NUM, 1, AT(entropy_threshold), "H|none", "none", 0, 1e9,
      "below it the last 32 tokens of a window are too repetitive" },
    { "guards", 0, ARG_WORD, 0, AT(guards), "off|flag|retry", "flag", 0, 0,
      "flag: repetition, silence and low confidence are marked in JSON; retry: decode such windows again, write nothing where there is "
      "no sound; off: the reference to the letter" },
    { "seed", 0, ARG_INT, 0, AT(seed), "N", "0", 0, 9e18, "of sampling" },
    { "sample-length", 0, ARG_INT, 0, AT(sample_length), "N", "0", 0, 1e6, "most tokens per window; 0: half the text context" },
    { "no-speech-threshold", 0, ARG_NUM, 1, AT(no_speech_threshold), "P|none", "0.6", 0, 1,
      "a window above it that is not above the next one is silence" },
    { "logprob-threshold", 0, ARG_NUM, 1, AT(logprob_threshold), "L|none", "-1.0", -1e9, 0,
      "below it a window's mean log-probability is too low" },
    ENGINE_MACHINE_ROWS(struct opts),
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Messages" },
    { "progress", 0, ARG_WORD, 0, AT(progress), PROGRESS_NAMES, "auto", 0, 0,
      "auto: a bar on a terminal; json, lines: an object or a line for every five percent" },
    ENGINE_QUIET_ROW(struct opts),
    { "no-prints", 0, ARG_FLAG, 0, AT(engine.quiet), NULL, NULL, 0, 0, "the same as --quiet" },
    { "verbose", 'v', ARG_FLAG, 0, AT(engine.verbose), NULL, NULL, 0, 0,
      "segments with their times, further attempts at a window, language and model on standard error" },
    { "print-colors", 0, ARG_FLAG, 0, AT(print_colors), NULL, NULL, 0, 0,
      "text on a terminal coloured by the probability of each token, red to green" },
    { "print-confidence", 0, ARG_FLAG, 0, AT(print_confidence), NULL, NULL, 0, 0,
      "the same in styles: below 0.33 inverse, below 0.66 underlined, else dim" },
    { "print-special", 0, ARG_FLAG, 0, AT(print_special), NULL, NULL, 0, 0,
      "timestamp and other special tokens in text on standard output and with -v; files stay as they are" },
    { "color", 0, ARG_WORD, 0, AT(color), CONSOLE_COLOR_NAMES, "auto", 0, 0,
      "escape sequences; auto: on a terminal, unless NO_COLOR is set" },
    { "print-timings", 0, ARG_FLAG, 0, AT(print_timings), NULL, NULL, 0, 0, "where the time went, on standard error" },
    { 0 },
};

#define ABOUT \
    "FILE is any sound or video file; - is standard input.\n" \
    "Text goes to standard output, everything else to standard error."

static const struct args transcribe_args = { "transcribe", "[OPTION]... FILE...", "Write down what is said in FILE.\n" ABOUT, rows };
static const struct args translate_args = { "translate", "[OPTION]... FILE...",
                                            "Write an English translation of what is said in FILE.\n" ABOUT, rows + ROWS_OF_TASK };

/* ---- one input --------------------------------------------------------------------------------------------------------------- */

struct job {
    const struct opts *o;
    struct engine engine;
    steno_transcribe_params params;
    int32_t *prompt_ids;
    steno_model_info info;
    struct progress progress;
    struct results results;
    struct write_layout layout;
    struct console console;
    int style_out, style_err; /* whether escape sequences may go there */
    const char *file;
    int stop_code; /* exit code that ends the whole run, or EXIT_OK */
};

static const char *shown_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

static void on_segment(void *user, const steno_segment *seg)
{
    struct job *j = user;
    say_bar(NULL);
    if (j->o->engine.verbose) {
        fputc('[', stderr);
        write_time(stderr, seg->t0_ms, 0, '.');
        fputs(" --> ", stderr);
        write_time(stderr, seg->t1_ms, 0, '.');
        fputs("] ", stderr);
        console_text(stderr, &j->console, j->style_err, seg);
        fputc('\n', stderr);
    }
    if (!results_stream_text(&j->results)) return;
    console_text(stdout, &j->console, j->style_out, seg);
    fputc('\n', stdout);
    if (j->stop_code == EXIT_OK) j->stop_code = say_flush();
}

static void on_attempt(void *user, const steno_attempt *a)
{
    struct job *j = user;
    if (!j->o->engine.verbose || (a->kept && !a->index)) return;
    say("%s: window at %.2f s, attempt %d at temperature %g: mean log-probability %.2f, compression ratio %.2f, entropy %.2f, "
        "no speech %.2f: %s", shown_name(j->file), (double)a->at_ms / 1000, (int)a->index + 1, a->temperature, a->avg_logprob,
        a->compression_ratio, a->entropy, a->no_speech_prob, a->kept ? "kept" : "again");
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct job *j = user;
    progress_update(&j->progress, done_ms, total_ms);
}

static int should_abort(void *user)
{
    const struct job *j = user;
    return j->stop_code != EXIT_OK || signals_pending();
}

/* Options that decide what the text is, for jsonl. */
static void options_json(FILE *f, const void *opts)
{
    args_json(f, rows, opts, "Output|Messages");
}

/* Write what the session holds in every format, or, with a reason, the line that tells the failure in those that have one. */
static int write_results(struct job *j, const char *error)
{
    const unsigned mask = error ? 1u << WRITER_JSONL : ~0u;
    char sha256[SHA256_HEX_SZ];
    struct write_record record = { .input = j->file, .model = j->engine.path, .error = error, .options = options_json, .opts = j->o };
    struct transcript_store store = { 0 };
    struct transcript t = { .text = "", .language = "unknown", .first_timestamp = j->console.first_timestamp, .duration_ms = -1,
                            .index_offset = (int32_t)j->o->offset_n, .task = j->params.task, .word_times = j->params.word_timestamps,
                            .model = j->engine.model, .layout = &j->layout, .record = &record };
    if (!(j->results.formats & mask)) return EXIT_OK;
    if (j->results.formats >> WRITER_JSONL & 1 && sha256_file(sha256, j->file) == 0) record.sha256 = sha256;
    int code = EXIT_OK;
    if (!error && subtitle_opts_take(&t, &store, j->engine.session, &j->o->subtitles)) {
        say("out of memory for %d segments", steno_segment_count(j->engine.session));
        code = EXIT_MEMORY;
    }
    if (code == EXIT_OK) code = results_write(&j->results, j->file, &t, mask);
    transcript_free(&store);
    return code;
}

/* An input gives nothing: tell it, go on with the next unless it is no use. @return 0 */
static int fail(struct job *j, int rc, const char *reason)
{
    if (!reason[0]) reason = steno_status_text(rc);
    say_file(shown_name(j->file), reason);
    const int code = write_results(j, reason);
    if (code != EXIT_OK) j->stop_code = code;
    if (rc == STENO_EARG) j->stop_code = EXIT_USAGE;
    if (rc == STENO_ENOMEM) j->stop_code = EXIT_MEMORY;
    return 0;
}

/* Transcribe the open file. @return 1 when it produced its output, 0 when it failed and was told */
static int run_source(struct job *j, steno_media *m)
{
    steno_source src;
    steno_media_source(m, &src);
    signals_watch(j->engine.session, m);
    const int rc = steno_transcribe_source(j->engine.session, &src, &j->params);
    signals_watch(NULL, NULL);
    progress_end(&j->progress);
    if (j->stop_code != EXIT_OK || signals_pending()) return 0;
    if (rc == STENO_OK) {
        const int64_t damaged = steno_media_damaged_packets(m);
        if (damaged > 0 && !j->o->engine.quiet) say("%s: %lld damaged packets were skipped", shown_name(j->file), (long long)damaged);
        if (j->o->engine.verbose) say("%s: language %s", shown_name(j->file), steno_language(j->engine.session));
        j->stop_code = write_results(j, NULL);
        return j->stop_code == EXIT_OK;
    }
    const char *reason = rc == STENO_ESOURCE ? steno_media_error(m) : "";
    return fail(j, rc, reason[0] ? reason : steno_last_error(j->engine.session));
}

static int run_file(struct job *j, const char *file)
{
    steno_media *m = NULL;
    steno_error e = { 0 };
    j->file = file;
    progress_begin(&j->progress, j->o->progress, j->o->engine.quiet, file);
    const int rc = steno_media_open(&m, file, signals_stop, NULL, &e);
    if (rc != STENO_OK) {
        if (signals_pending()) return 0;
        return fail(j, rc == STENO_EARG ? STENO_EIO : rc, strncmp(e.text, "-: ", 3) == 0 ? e.text + 3 : e.text);
    }
    signals_defer(1); /* from here on there is something in hand */
    const int ok = run_source(j, m);
    signals_defer(0);
    steno_media_close(m);
    return ok;
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

static int check(const struct opts *o, const struct results *r)
{
    const int64_t bad = o->initial_prompt ? u8_invalid_at(o->initial_prompt) : -1;
    int n_stdin = 0;
    for (int i = 0; i < r->n; i++) n_stdin += strcmp(r->files[i], "-") == 0;
    if (r->n == 0) return say_usage("no input; give a sound file, or - for standard input");
    if (n_stdin > 1) return say_usage("standard input can be read once only");
    if (bad >= 0) return say_usage("--initial-prompt is not valid UTF-8 at byte %lld", (long long)bad);
    if (o->print_colors && o->print_confidence) return say_usage("--print-colors and --print-confidence exclude each other");
    return results_check(r);
}

static void set_console(struct job *j)
{
    const struct opts *o = j->o;
    const int32_t first_timestamp = steno_token_id(j->engine.model, STENO_TOKEN_TIMESTAMP);
    j->console = (struct console){ .model = j->engine.model, .session = j->engine.session, .first_timestamp = first_timestamp,
                                   .colors = o->print_colors, .confidence = o->print_confidence, .special = o->print_special };
    j->style_out = console_color(stdout, o->color);
    j->style_err = console_color(stderr, o->color);
}

/* The ids of --prompt-tokens, checked by the library. */
static int set_prompt_ids(struct job *j)
{
    const char *list = j->o->prompt_tokens;
    if (!list || !*list) return EXIT_OK;
    j->prompt_ids = calloc(strlen(list) + 1, sizeof *j->prompt_ids);
    if (!j->prompt_ids) {
        say("out of memory for the prompt");
        return EXIT_MEMORY;
    }
    for (const char *p = list;; p++) {
        char *end;
        errno = 0;
        const long id = strtol(p, &end, 10);
        if (end == p || errno || id < 0 || id > INT32_MAX || (*end && *end != ','))
            return say_usage("--prompt-tokens: '%s' is not a list of token ids", list);
        j->prompt_ids[j->params.n_prompt_tokens++] = (int32_t)id;
        if (!*end) break;
        p = end;
    }
    j->params.prompt_tokens = j->prompt_ids;
    return EXIT_OK;
}

static int set_params(struct job *j)
{
    const struct opts *o = j->o;
    steno_transcribe_params *p = &j->params;
    steno_transcribe_params_init(p);
    p->task = o->task ? STENO_TRANSLATE : STENO_TRANSCRIBE;
    p->language = o->language;
    p->initial_prompt = o->initial_prompt;
    p->suppress_tokens = o->suppress_tokens;
    p->condition_on_previous_text = o->condition;
    p->without_timestamps = o->without_timestamps;
    p->suppress_blank = o->suppress_blank;
    p->sample_len = (int32_t)o->sample_length;
    p->max_initial_timestamp = isnan(o->max_initial_timestamp) ? 0 : o->max_initial_timestamp;
    p->temperature = o->temperature;
    p->seed = (uint64_t)o->seed;
    p->no_speech_threshold = o->no_speech_threshold;
    p->logprob_threshold = o->logprob_threshold;
    p->offset_ms = o->offset_ms;
    p->duration_ms = o->duration_ms;
    p->temperature_increment_on_fallback = o->temperature_increment;
    p->compression_ratio_threshold = o->compression_ratio_threshold;
    p->entropy_threshold = o->entropy_threshold;
    p->carry_initial_prompt = o->carry;
    p->guards = o->guards;
    p->itn = o->itn;
    subtitle_opts_params(p, &o->subtitles, j->results.formats);
    return set_prompt_ids(j);
}

/* Let the library judge the parameters on no audio at all, so that a mistake costs no decoding. */
static int try_params(struct job *j)
{
    const float none = 0;
    steno_transcribe_params p = j->params;
    if (strcmp(p.language, "auto") == 0) p.language = NULL;
    if (!p.language && j->info.is_multilingual) p.language = steno_model_language(j->engine.model, 0);
    const int rc = steno_transcribe(j->engine.session, &none, 0, &p);
    if (rc == STENO_OK) return EXIT_OK;
    const char *reason = steno_last_error(j->engine.session);
    return say_model_error(NULL, rc, reason);
}

static void print_timings(const struct job *j, int64_t wall_us)
{
    steno_timings t = { .size = sizeof t };
    if (steno_timings_get(j->engine.session, &t) != STENO_OK) return;
    const struct { const char *name; int64_t us, n; } line[] = {
        { "load", t.load_us, 1 }, { "source", t.source_us, t.n_windows }, { "mel", t.mel_us, t.n_windows },
        { "encode", t.encode_us, t.n_encodes }, { "cross", t.cross_us, t.n_encodes }, { "prompt", t.prompt_us, t.n_prompts },
        { "decode", t.decode_us, t.n_steps }, { "wall", wall_us, 1 },
    };
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        say("time %-7s %10.2f ms / %6lld runs", line[i].name, (double)line[i].us / 1000.0, (long long)line[i].n);
}

static int run_files(struct job *j, char **files, int n)
{
    int n_ok = 0;
    for (int i = 0; i < n && j->stop_code == EXIT_OK && !signals_pending(); i++) n_ok += run_file(j, files[i]);
    if (signals_pending()) return EXIT_SIGNAL + signals_pending();
    if (j->stop_code != EXIT_OK) return j->stop_code;
    return n_ok == n ? EXIT_OK : n_ok > 0 ? EXIT_SOME : EXIT_INPUT;
}

static int run(const struct opts *o, char **files, int n)
{
    const int64_t begun = progress_now_us();
    struct job j = { .o = o };
    char *demo = NULL;
    if (n == 0 && o->engine.demo) {
        demo = models_demo_audio();
        if (!demo) return say_usage("no demo recording is installed; give a file: steno --demo FILE");
        files = &demo;
        n = 1;
    }
    j.results = (struct results){ .dir = o->out_dir, .template = o->out_template, .formats = o->formats, .files = files, .n = n };
    j.results.hold_text = subtitle_opts_cut(&o->subtitles);
    int code = subtitle_opts_layout(&j.layout, &j.results.formats, &o->subtitles);
    if (code == EXIT_OK) code = check(o, &j.results);
    if (code == EXIT_OK) code = engine_open(&j.engine, &o->engine, 1);
    if (code != EXIT_OK) {
        free(demo);
        return code;
    }
    j.info.size = sizeof j.info;
    steno_model_info_get(j.engine.model, &j.info);
    if (o->engine.verbose)
        say("model %s: %s %s, weights %s, compute %s on %s, %d threads", j.engine.path ? j.engine.path : "", j.info.family, j.info.name,
            j.info.weight_type, j.info.compute, j.info.cpu_level, steno_team_threads(j.engine.team));
    set_console(&j);
    code = set_params(&j);
    if (code == EXIT_OK) code = try_params(&j);
    j.params.user = &j;
    j.params.on_segment = on_segment;
    j.params.on_attempt = on_attempt;
    j.params.on_progress = on_progress;
    j.params.should_abort = should_abort;
    if (code == EXIT_OK) code = run_files(&j, files, n);
    if (o->print_timings) print_timings(&j, progress_now_us() - begun);
    results_free(&j.results);
    engine_close(&j.engine);
    free(j.prompt_ids);
    free(demo);
    return code;
}

int cmd_transcribe(int argc, char **argv)
{
    struct opts o = { 0 };
    int n;
    const int code = args_parse(&transcribe_args, &o, argc, argv, &n);
    return code == ARGS_RUN ? run(&o, argv, n) : code;
}

int cmd_translate(int argc, char **argv)
{
    struct opts o = { .task = 1 };
    int n;
    const int code = args_parse(&translate_args, &o, argc, argv, &n);
    return code == ARGS_RUN ? run(&o, argv, n) : code;
}
