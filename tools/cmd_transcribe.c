/* steno: the verbs transcribe and translate. SPDX-License-Identifier: MIT
 *
 * Everything that can be refused is refused before the first sample is decoded: options, names of outputs, the output folder, the
 * model. Then inputs are taken one after the other; one that fails is told in a line and the others go on. */
#include "cmd.h"
#include "engine.h"
#include "out.h"
#include "progress.h"
#include "signals.h"
#include "u8.h"
#include "write.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct opts {
    struct engine_opts engine;
    const char *language, *out_dir, *initial_prompt, *suppress_tokens;
    int task, condition, without_timestamps, suppress_blank, progress, print_timings;
    unsigned formats;
    int64_t sample_length, seed, offset_ms, duration_ms, offset_n;
    double max_initial_timestamp, temperature, no_speech_threshold, logprob_threshold;
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
    { "output-format", 'f', ARG_LIST, 0, AT(formats), WRITER_NAMES "|all", "txt", 0, 0, "one or several, separated by commas" },
    { "output-dir", 'o', ARG_TEXT, 0, AT(out_dir), "DIR", NULL, 0, 0,
      "write DIR/NAME.FORMAT for each input (made if missing); without it one format goes to standard output" },
    { "offset-n", 0, ARG_INT, 0, AT(offset_n), "N", "0", 0, 1e9, "added to the numbers of subtitles (srt)" },
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Text" },
    { "initial-prompt", 0, ARG_TEXT, 1, AT(initial_prompt), "TEXT", NULL, 0, 0, "text put before the first window" },
    { "condition-on-previous-text", 0, ARG_PAIR, 0, AT(condition), NULL, "on", 0, 0, "earlier windows are the prompt of the next" },
    { "without-timestamps", 0, ARG_PAIR, 0, AT(without_timestamps), NULL, "off", 0, 0, "text only, one segment per window" },
    { "max-initial-timestamp", 0, ARG_NUM, 1, AT(max_initial_timestamp), "S|none", "1.0", 0, 30, "latest start of the first segment" },
    { "suppress-tokens", 0, ARG_TEXT, 1, AT(suppress_tokens), "IDS", "-1", 0, 0,
      "ids separated by commas; -1: the non-speech set; \"\": none" },
    { "suppress-blank", 0, ARG_PAIR, 0, AT(suppress_blank), NULL, "on", 0, 0, "no space and no end at the first position" },
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Decoding" },
    { "temperature", 0, ARG_NUM, 0, AT(temperature), "T", "0", 0, 100, "0: the most probable token; above: sampling" },
    { "seed", 0, ARG_INT, 0, AT(seed), "N", "0", 0, 9e18, "of sampling" },
    { "sample-length", 0, ARG_INT, 0, AT(sample_length), "N", "0", 0, 1e6, "most tokens per window; 0: half the text context" },
    { "no-speech-threshold", 0, ARG_NUM, 1, AT(no_speech_threshold), "P|none", "0.6", 0, 1,
      "a window above it that is not above the next one is silence" },
    { "logprob-threshold", 0, ARG_NUM, 1, AT(logprob_threshold), "L|none", "-1.0", -1e9, 0, "mean log-probability of a window" },
    ENGINE_MACHINE_ROWS(struct opts),
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Messages" },
    { "progress", 0, ARG_WORD, 0, AT(progress), PROGRESS_NAMES, "auto", 0, 0, "auto: a bar on a terminal; json: an object per line" },
    ENGINE_QUIET_ROW(struct opts),
    { "verbose", 'v', ARG_FLAG, 0, AT(engine.verbose), NULL, NULL, 0, 0,
      "segments with their times, language and model on standard error" },
    { "print-timings", 0, ARG_FLAG, 0, AT(print_timings), NULL, NULL, 0, 0, "where the time went, on standard error" },
    { 0 },
};

#define ABOUT \
    "FILE is any sound or video file; - is standard input. Text goes to standard output, everything\n" \
    "else to standard error."

static const struct args transcribe_args = { "transcribe", "[OPTION]... FILE...", "Write down what is said in FILE.\n" ABOUT, rows };
static const struct args translate_args = { "translate", "[OPTION]... FILE...",
                                            "Write an English translation of what is said in FILE.\n" ABOUT, rows + ROWS_OF_TASK };

/* ---- one input --------------------------------------------------------------------------------------------------------------- */

struct job {
    const struct opts *o;
    struct engine engine;
    steno_transcribe_params params;
    steno_model_info info;
    struct progress progress;
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
    const int to_stdout = !j->o->out_dir && j->o->formats == 1u;
    say_bar(NULL);
    if (j->o->engine.verbose) {
        fputc('[', stderr);
        write_time(stderr, seg->t0_ms, 0, '.');
        fputs(" --> ", stderr);
        write_time(stderr, seg->t1_ms, 0, '.');
        fputs("] ", stderr);
        write_stripped(stderr, seg->text);
        fputc('\n', stderr);
    }
    if (!to_stdout) return;
    const struct transcript one = { .segs = seg, .n = 1 };
    write_txt(stdout, &one);
    if (j->stop_code == EXIT_OK) j->stop_code = say_flush();
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

/* Name of the input without folders and without its extension (leading dots are no extension). */
static char *stem_of(const char *file)
{
    if (strcmp(file, "-") == 0) return strdup("stdin");
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    size_t n = strlen(name);
    if (dot && strspn(name, ".") < (size_t)(dot - name)) n = (size_t)(dot - name);
    return strndup(name, n);
}

/* DIR/STEM.FORMAT, malloc'd, or NULL. */
static char *output_path(const struct opts *o, const char *file, int format)
{
    char *stem = stem_of(file), *path = NULL;
    char *name = stem ? malloc(strlen(stem) + strlen(writers[format].name) + 2) : NULL;
    if (name) {
        strcpy(name, stem);
        strcat(strcat(name, "."), writers[format].name);
        path = out_join(o->out_dir, name);
    }
    free(stem);
    free(name);
    return path;
}

static int write_file(const struct job *j, const struct transcript *t, int format)
{
    char *path = output_path(j->o, j->file, format);
    struct out out;
    errno = ENOMEM;
    int bad = !path || out_open(&out, path);
    if (!bad) {
        errno = 0;
        writers[format].write(out.f, t);
        bad = out_commit(&out);
    }
    if (bad) say("%s: cannot write: %s", path ? path : j->o->out_dir, errno ? strerror(errno) : "write error");
    free(path);
    return bad ? EXIT_OUTPUT : EXIT_OK;
}

static int write_stdout(const struct transcript *t, int format)
{
    if (format == 0) return say_flush(); /* text went out as it came */
    writers[format].write(stdout, t);
    if (strcmp(writers[format].name, "json") == 0) fputc('\n', stdout);
    return say_flush();
}

static int write_results(struct job *j)
{
    steno_session *s = j->engine.session;
    const int n = steno_segment_count(s);
    steno_segment *segs = calloc((size_t)n + 1, sizeof *segs);
    int code = EXIT_OK;
    if (!segs) {
        say("out of memory for %d segments", n);
        return EXIT_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        segs[i].size = sizeof segs[i];
        steno_segment_get(s, i, &segs[i]);
    }
    /* ids of timestamps are the last 1501 of every Whisper vocabulary: 0.00 s to 30.00 s */
    const struct transcript t = { segs, n, steno_text(s), steno_language(s), j->info.n_vocab - 1501, (int32_t)j->o->offset_n };
    for (int f = 0; f < N_WRITERS && code == EXIT_OK; f++)
        if (j->o->formats >> f & 1) code = j->o->out_dir ? write_file(j, &t, f) : write_stdout(&t, f);
    free(segs);
    return code;
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
        j->stop_code = write_results(j);
        return j->stop_code == EXIT_OK;
    }
    const char *reason = rc == STENO_ESOURCE ? steno_media_error(m) : "";
    if (!reason[0]) reason = steno_last_error(j->engine.session);
    say_file(shown_name(j->file), reason[0] ? reason : steno_status_text(rc));
    if (rc == STENO_EARG) j->stop_code = EXIT_USAGE;
    if (rc == STENO_ENOMEM) j->stop_code = EXIT_MEMORY;
    return 0;
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
        const char *reason = e.text[0] ? e.text : steno_status_text(rc);
        if (strncmp(reason, "-: ", 3) == 0) reason += 3;
        say_file(shown_name(file), reason);
        if (rc == STENO_ENOMEM) j->stop_code = EXIT_MEMORY;
        return 0;
    }
    signals_defer(1); /* from here on there is something in hand */
    const int ok = run_source(j, m);
    signals_defer(0);
    steno_media_close(m);
    return ok;
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two inputs may not be written under one name, and no output may replace its input. */
static int check_names(const struct opts *o, char **files, int n)
{
    char **stems = calloc((size_t)n, sizeof *stems);
    int code = stems ? EXIT_OK : EXIT_MEMORY;
    for (int i = 0; stems && i < n; i++) {
        stems[i] = stem_of(files[i]);
        if (!stems[i]) code = EXIT_MEMORY;
    }
    if (code == EXIT_OK) qsort(stems, (size_t)n, sizeof *stems, by_name);
    for (int i = 1; i < n && code == EXIT_OK; i++)
        if (strcmp(stems[i - 1], stems[i]) == 0)
            code = say_usage("two inputs would be written as %s/%s.*; give them apart", o->out_dir, stems[i]);
    for (int i = 0; i < n * N_WRITERS && code == EXIT_OK; i++) {
        struct stat in, out;
        if (!(o->formats >> i % N_WRITERS & 1)) continue;
        char *path = output_path(o, files[i / N_WRITERS], i % N_WRITERS);
        if (path && stat(path, &out) == 0 && stat(files[i / N_WRITERS], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            code = say_usage("%s is an input and would be overwritten; choose another --output-dir", path);
        free(path);
    }
    for (int i = 0; stems && i < n; i++) free(stems[i]);
    free(stems);
    if (code == EXIT_MEMORY) say("out of memory for %d names", n);
    return code;
}

static int check(const struct opts *o, char **files, int n)
{
    const int64_t bad = o->initial_prompt ? u8_invalid_at(o->initial_prompt) : -1;
    int n_stdin = 0;
    for (int i = 0; i < n; i++) n_stdin += strcmp(files[i], "-") == 0;
    if (n == 0) return say_usage("no input; give a sound file, or - for standard input");
    if (n_stdin > 1) return say_usage("standard input can be read once only");
    if (bad >= 0) return say_usage("--initial-prompt is not valid UTF-8 at byte %lld", (long long)bad);
    if (!o->out_dir && (o->formats & (o->formats - 1)))
        return say_usage("several output formats need --output-dir; one format can go to standard output");
    if (!o->out_dir) return EXIT_OK;
    const int code = check_names(o, files, n);
    if (code != EXIT_OK) return code;
    if (out_dir_prepare(o->out_dir)) {
        say("%s: cannot write there: %s", o->out_dir, strerror(errno));
        return EXIT_OUTPUT;
    }
    return EXIT_OK;
}

static void set_params(struct job *j)
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
    int code = check(o, files, n);
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
    set_params(&j);
    code = try_params(&j);
    j.params.user = &j;
    j.params.on_segment = on_segment;
    j.params.on_progress = on_progress;
    j.params.should_abort = should_abort;
    if (code == EXIT_OK) code = run_files(&j, files, n);
    if (o->print_timings) print_timings(&j, progress_now_us() - begun);
    engine_close(&j.engine);
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
