/* steno: the verb batch: transcription of a manifest's inputs. SPDX-License-Identifier: MIT */
#include "batch/control.h"
#include "batch/isolate.h"
#include "batch/journal_lines.h"
#include "batch/merge.h"
#include "batch/model_hash.h"
#include "batch/shard.h"
#include "batch/worker.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cmd.h"
#include "out_name.h"
#include "verbs/opt_rules.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct opts {
    struct transcribe_opts t; /* must be first: rows of other verbs set it */
    const char *manifest, *output, *shard;
    int resume, retry_failed, ordered, merge, isolate;
    int64_t retries, max_failures, jobs;
    double timeout;
};

#define AT(field) offsetof(struct opts, field)

/* clang-format off */
static const struct arg rows[] = {
    ARG_HEADING("Batch"),
    { .name = "manifest", .letter = 'i', .kind = ARG_TEXT, .at = AT(manifest), .value = "FILE|-",
      .help = "list of inputs: a path or a JSON object per line, with \"audio_filepath\", \"input\" or \"path\", and optionally \"id\", "
              "\"offset\", \"duration\" (seconds), \"language\", \"channel\" and \"initial_prompt\"; - is standard input" },
    { .name = "output", .letter = 'o', .kind = ARG_TEXT, .at = AT(output), .value = "FILE|-",
      .help = "journal and results, one JSON object per line, appended; - is standard output" },
    { .name = "shard", .kind = ARG_TEXT, .at = AT(shard), .value = "I/N|auto/N|auto", .dflt = "0/1",
      .help = "transcribe the I-th of N parts of the manifest, I from 0; auto: I, or both, from the variables of Slurm, Kubernetes or "
              "AWS Batch" },
    { .name = "resume", .kind = ARG_FLAG, .at = AT(resume),
      .help = "continue the journal if it exists: inputs with a result are skipped" },
    { .name = "retry-failed", .kind = ARG_FLAG, .at = AT(retry_failed),
      .help = "with --resume, repeat inputs whose failure may pass (class io, memory or timeout)" },
    { .name = "retries", .kind = ARG_INT, .at = AT(retries), .value = "N", .dflt = "2", .hi = 1000,
      .help = "repeat an input that cannot be read, or whose process was killed, up to N times; after that it has failed" },
    { .name = "timeout", .kind = ARG_S, .at = AT(timeout), .value = "S", .dflt = "0", .hi = 1e9,
      .help = "maximum time of an input, in seconds or as 1:00:00; 0: no limit" },
    { .name = "max-failures", .kind = ARG_INT, .at = AT(max_failures), .value = "N", .dflt = "0", .hi = 1e9,
      .help = "end the run after N failed inputs; 0: no limit" },
    { .name = "ordered", .kind = ARG_FLAG, .at = AT(ordered),
      .help = "write results in the manifest's order; up to 4 times --batch-size times --jobs of them wait in memory (with --merge: "
              "none)" },
    { .name = "merge", .kind = ARG_FLAG, .at = AT(merge),
      .help = "transcribe nothing: join the journals given as operands, one line per input of the manifest; inputs without a result, or "
              "with a failure, are listed, and the exit code is 1" },
    { .name = "isolate", .kind = ARG_FLAG, .at = AT(isolate),
      .help = "transcribe in a process that shares the weights and is replaced when it dies: a file that ends it costs one input" },
    { .name = "jobs", .kind = ARG_INT, .at = AT(jobs), .value = "N", .dflt = "1", .lo = 1, .hi = 256,
      .help = "number of such processes; each has --threads threads (0: its part of the cores) and --batch-size inputs" },
    { .name = "batch-size", .letter = 'b', .kind = ARG_INT, .at = AT(t.batch_size), .value = "N", .dflt = "1", .lo = 1, .hi = 128,
      .help = "number of inputs to transcribe in parallel, 1 to 128; the text does not change" },
    ENGINE_RECOGNISER_ROWS(struct transcribe_opts),
    ALIGNER_ROW(struct transcribe_opts),
    ARG_HEADING("Files"),
    { .name = "output-format", .letter = 'f', .kind = ARG_LIST, .at = AT(t.formats), .value = WRITER_NAMES "|all", .hi = N_WRITERS_ALL,
      .help = "formats of files beside the JSON lines, separated by commas; needs --output-dir" },
    { .name = "output-dir", .kind = ARG_TEXT, .at = AT(t.out_dir), .value = "DIR",
      .help = "write DIR/NAME.FORMAT for each input (made if missing); NAME is that of the input, or its \"id\"; @ is the input's own "
              "folder, @/NAME one in it" },
    { .name = "output-template", .kind = ARG_TEXT, .at = AT(t.out_template), .value = "TEXT",
      .help = "names of files below DIR, made of {stem}, {ext} and {dir} (of the input), {n} (its number in the manifest), {format}, "
              "{language}, {date} and {time} (when the journal was begun) and {model}; without it {stem}.{format}" },
    ARG_HEADING("Input"),
    { .name = "task", .kind = ARG_WORD, .at = AT(t.task), .value = "transcribe|translate", .dflt = ARG_OF_PARAM,
      .help = "write the transcript, or its English translation" },
    TRANSCRIBE_LANGUAGE_ROW(struct transcribe_opts),
    { .name = "channels", .kind = ARG_TEXT, .at = AT(t.channels), .value = "mix|split|N", .dflt = "mix",
      .help = "mix all channels, transcribe each separately (a result for each), or transcribe channel N only, counted from 0" },
    { .name = "audio-track", .kind = ARG_TEXT, .at = AT(t.audio_track), .value = "auto|all|N", .dflt = "auto",
      .help = "track of a file with several: FFmpeg's choice, each one (a result for each), or track N, counted from 1" },
    TRANSCRIBE_DIARIZE_ROWS(struct transcribe_opts),
    DECODE_INPUT_ROWS(struct transcribe_opts),
    VAD_ROWS(struct transcribe_opts),
    PUNCTUATION_ROWS(struct transcribe_opts),
    ARG_HEADING("Result"),
    TRANSCRIBE_LOGPROBS_ROW(struct transcribe_opts),
    SUBTITLE_ROWS(struct transcribe_opts),
    DECODE_ROWS(struct transcribe_opts),
    TRANSCRIBE_VERIFY_ROWS(struct transcribe_opts),
    ENGINE_MACHINE_ROWS(struct transcribe_opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct transcribe_opts),
    { 0 },
};
/* clang-format on */

const struct args batch_args = { "batch", "[OPTION]... -i MANIFEST -o FILE\n"
                                          "       steno batch --merge -i MANIFEST [--ordered] [-o FILE] JOURNAL...",
                                 "Transcribe many files: a manifest, or a part of it on each machine.\n"
                                 "Any process may be killed: --resume continues where it ended, and each input\n"
                                 "has one result.", rows };

/* Options that affect the results. */
static void options_json(struct sink *f, const void *opts)
{
    args_json(f, rows, opts, "Batch|Model|Messages|Machine");
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

struct run {
    struct opts o;
    char date[OUT_TIME_SZ], time[OUT_TIME_SZ], *model_name; /* in names of files */
    struct args_given given;
    struct path_guard path_guard;
    struct batch_control control;
    struct batch_worker worker;
};

static int check_given(const struct opts *o)
{
    if (!o->manifest) return message_usage("no manifest; -i gives the list of inputs");
    if (!o->output) return message_usage("no output; -o gives the file of results");
    if (o->jobs > 1 && !o->isolate) return message_usage("--jobs needs --isolate");
    if (o->retry_failed && !o->resume) return message_usage("--retry-failed needs --resume");
    return EXIT_OK;
}

static int check_files(struct run *r)
{
    r->worker.files.has_tracks = r->o.t.track == JOB_ALL_TRACKS;
    r->worker.files.is_split = r->o.t.channel == JOB_SPLIT;
    int code = batch_files_open(&r->worker.files);
    if (code == EXIT_OK) code = batch_files_keep(&r->worker.files, r->o.manifest);
    return code == EXIT_OK ? batch_files_keep(&r->worker.files, r->o.output) : code;
}

static int check(struct run *r)
{
    struct opts *o = &r->o;
    struct transcription *t = &r->worker.t;
    const unsigned formats = 1u << WRITER_JSONL | o->t.formats;
    int code = check_given(o);
    if (code == EXIT_OK) code = subtitle_opts_layout(&t->layout, &r->worker.files.files.naming.formats, &o->t.subtitles);
    if (code == EXIT_OK) code = shard_read(&r->control.shard, &r->control.n_shards, o->shard);
    if (code == EXIT_OK) code = decode_opts_check(&t->data, &o->t.decode, o->t.vad.kind != VAD_OFF && !o->t.vad.join);
    if (code == EXIT_OK) code = transcription_channels(&o->t);
    if (code == EXIT_OK) code = transcription_track(&o->t);
    struct args_given given = r->given;
    option_forget(&given, "resume"); /* here it is another option */
    if (code == EXIT_OK) code = opt_rules_check(&given, &(struct opt_scene){ &o->t, formats });
    if (code == EXIT_OK) code = transcription_params(t, NULL);
    if (code == EXIT_OK && strcmp(o->manifest, "-")) code = path_guard_code_read(&r->path_guard, "the manifest", o->manifest);
    if (code == EXIT_OK && strcmp(o->output, "-"))
        code = path_guard_code(&r->path_guard, path_guard_plan(&r->path_guard, o->output));
    return code == EXIT_OK ? check_files(r) : code;
}

/* ---- names of files ---------------------------------------------------------------------------------------------------------- */

enum { FIRST_LINE_READ = -1 };

static int first_line(void *user, const struct text_lines *l, char *line, int64_t at)
{
    struct batch_header h;
    char *begun = user;
    (void)l, (void)at;
    if (batch_header_read(&h, line) && strspn(h.begun, "0123456789-T:") == strlen("2026-03-01T14:05:59"))
        memcpy(begun, h.begun, sizeof h.begun);
    return FIRST_LINE_READ;
}

/* Set the time in names: that of the journal that is continued, or now. */
static int name_time(struct run *r)
{
    struct batch_header *h = &r->control.header;
    const struct journal_lines each = { first_line, h->begun };
    out_time_text(r->date, r->time, time(NULL));
    for (char *p = r->time; (p = strchr(p, '-')) != NULL;) *p = ':';
    snprintf(h->begun, sizeof h->begun, "%.10sT%.8s", r->date, r->time);
    if (r->o.resume && batch_files_are_dated(&r->worker.files) && access(r->o.output, F_OK) == 0) {
        const int code = journal_lines_walk(r->o.output, &each, NULL);
        if (code != EXIT_OK && code != FIRST_LINE_READ) return code;
    }
    snprintf(r->date, sizeof r->date, "%.10s", h->begun);
    snprintf(r->time, sizeof r->time, "%.8s", h->begun + 11);
    for (char *p = r->time; (p = strchr(p, ':')) != NULL;) *p = '-';
    r->worker.files.files.naming.date = r->date;
    r->worker.files.files.naming.time = r->time;
    return EXIT_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* SHA-256 of the options that affect the results. */
static int hash_options(char hex[SHA_HEX_SZ], const struct opts *o, const struct decode_data *data, const char *model_name)
{
    const struct engine_opts *e = &o->t.engine;
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    struct sha s;
    options_json(&f, o);
    if (model_name) sink_format(&f, " name %s", model_name);
    sink_format(&f, " compute %d cpu %s verify %d", e->compute, e->cpu ? e->cpu : "", e->verify);
    sink_format(&f, " heads %s cmvn %d gelu %d decoder %d texts %016llx", e->heads ? e->heads : "", e->cmvn, e->gelu, e->decoder_type,
                (unsigned long long)decode_data_hash(data));
    sha_init(&s, SHA_256);
    if (!f.failed) sha_push(&s, memory.p, memory.n);
    sha_hex(hex, &s);
    free(memory.p);
    if (!f.failed) return EXIT_OK;
    message("out of memory for the options");
    return EXIT_MEMORY;
}

static int fill_header(struct run *r)
{
    struct batch_control *c = &r->control;
    const struct transcription *t = &r->worker.t;
    const steno_model *const models[] = { t->engine.model, t->vad.model, t->punctuation.model, t->aligner.model };
    snprintf(c->header.engine, sizeof c->header.engine, "%s", steno_version());
    snprintf(c->header.shard, sizeof c->header.shard, "%d/%d", c->shard, c->n_shards);
    const int code = hash_options(c->header.options_sha256, &r->o, &t->data, r->model_name);
    return code == EXIT_OK ? model_hash(c->header.model_sha256, models, sizeof models / sizeof *models) : code;
}

static void fill_control(struct run *r)
{
    struct batch_control *c = &r->control;
    const struct opts *o = &r->o;
    c->manifest = o->manifest;
    c->retries = (int)o->retries;
    c->retry_failed = o->retry_failed;
    c->ordered = o->ordered;
    c->quiet = o->t.engine.quiet;
    c->max_failures = o->max_failures;
    c->n_held = 4 * (int)(o->t.batch_size * o->jobs);
    c->begun_us = progress_now_us();
    c->journal.fd = -1;
    c->files = &r->worker.files;
}

static enum job_next next(void *user, int n_busy, struct batch_work **w) { return batch_control_next(user, n_busy, w); }
static int begun(void *user, struct batch_work *w) { return batch_control_begun(user, w); }
static int done(void *user, struct batch_work *w, const struct batch_done *d) { return batch_control_done(user, w, d); }
static int stopped(void *user, struct batch_work *w) { return batch_control_stopped(user, w); }
static void tick(void *user) { batch_control_tick(user); }

static int open_models(struct run *r)
{
    struct batch_worker *b = &r->worker;
    int code = engine_open(&b->t.engine, &r->o.t.engine, 0);
    if (code == EXIT_OK) code = decode_opts_check_drafts(&r->o.t.decode, &r->given, b->t.engine.model);
    if (code == EXIT_OK) decode_opts_settle(&r->o.t.decode, b->t.engine.model);
    if (code == EXIT_OK) code = batch_worker_open(b, &r->o.t);
    if (code == EXIT_OK && batch_files_name_model(&b->files)) code = engine_name(&r->model_name, &b->t.engine, &r->o.t.engine);
    b->files.files.naming.model = r->model_name;
    b->model_path = r->control.source.model = b->t.engine.path;
    r->control.source.options = options_json;
    r->control.source.opts = &r->o;
    return code;
}

static int work_here(struct run *r)
{
    const struct batch_source source = { next, begun, done, stopped, tick, &r->control };
    r->worker.source = &source;
    const int code = batch_worker_run(&r->worker);
    r->worker.source = NULL;
    return code;
}

/* The whole life of a worker process, whose model is open. */
static int work_isolated(void *user, struct pipe_worker *p)
{
    struct run *r = user;
    const struct batch_source source = pipe_worker_source(p);
    r->worker.source = &source;
    int code = batch_worker_open(&r->worker, &r->o.t);
    if (code == EXIT_OK) code = batch_worker_run(&r->worker);
    return code;
}

/* The threads of this process end, because a fork would not have them. */
static int work_in_others(struct run *r)
{
    struct transcription *t = &r->worker.t;
    const int64_t part = steno_team_threads(t->engine.team) / r->o.jobs;
    const struct batch_isolate b = { .control = &r->control, .n_workers = (int)r->o.jobs, .n_slots = r->worker.n_slots,
                                     .timeout_s = r->o.timeout, .worker = work_isolated, .user = r };
    if (!r->o.t.engine.threads) r->o.t.engine.threads = part > 0 ? part : 1;
    punctuation_close(&t->punctuation);
    aligner_close(&t->aligner);
    vad_close(&t->vad);
    steno_team_close(t->engine.team);
    t->engine.team = NULL;
    return batch_isolate(&b);
}

static int run(struct run *r)
{
    struct batch_control *c = &r->control;
    r->worker.t.o = &r->o.t;
    r->worker.t.results = &r->worker.results;
    r->worker.results.files = (struct result_files){ .naming.formats = 1u << WRITER_JSONL | r->o.t.formats, .path_guard = &r->path_guard };
    r->worker.files.files = (struct result_files){ .naming = { .dir = r->o.t.out_dir, .template = r->o.t.out_template,
                                                               .formats = r->o.t.formats }, .path_guard = &r->path_guard };
    r->o.t.engine.given = r->o.t.subtitles.given = &r->given;
    r->o.t.engine.path_guard = r->o.t.decode.path_guard = &r->path_guard;
    r->o.t.engine.cmvn_apart = r->o.t.vad.kind != VAD_OFF;
    r->o.t.decode.drafted = r->o.t.engine.draft != NULL;
    fill_control(r);
    r->worker.timeout_s = r->o.timeout;
    r->worker.n_slots = (int)r->o.t.batch_size;
    int code = check(r);
    const int is_named = batch_files_name_model(&r->worker.files);
    if (code == EXIT_OK) code = name_time(r);
    if (code == EXIT_OK && is_named) code = open_models(r);
    if (code == EXIT_OK) code = batch_control_check(c);
    if (code == EXIT_OK) code = batch_control_open(c, r->o.output, r->o.resume);
    if (code == EXIT_OK && !is_named) code = open_models(r);
    if (code == EXIT_OK) code = fill_header(r);
    if (code == EXIT_OK) code = batch_control_begin(c);
    if (code == EXIT_OK) code = r->o.isolate ? work_in_others(r) : work_here(r);
    if (code == EXIT_OK) code = batch_control_end(c);
    batch_control_free(c);
    batch_worker_close(&r->worker);
    free(r->model_name);
    path_guard_free(&r->path_guard);
    return code;
}

/* ---- joining ----------------------------------------------------------------------------------------------------------------- */

static int check_merge(const struct run *r, int n)
{
    static const char *const used[] = { "merge", "manifest", "output", "ordered" };
    char name[OPTION_TEXT_SZ];
    for (const struct arg *row = rows; row->kind != ARG_END; row++) {
        int is_used = row->kind == ARG_GROUP;
        for (size_t i = 0; i < sizeof used / sizeof *used && !is_used; i++) is_used = strcmp(used[i], row->name) == 0;
        if (!is_used && option_was_given(&r->given, row->name))
            return message_usage("%s has no effect with --merge: leave one of them out", option_name(name, &r->given, row->name));
    }
    if (!r->o.manifest || !strcmp(r->o.manifest, "-")) return message_usage("--merge needs the manifest's file: -i MANIFEST");
    return n ? EXIT_OK : message_usage("--merge needs journals: steno batch --merge -i MANIFEST JOURNAL...");
}

static int merge(struct run *r, char **journals, int n)
{
    const char *output = r->o.output ? r->o.output : "-";
    const struct batch_merge m = { r->o.manifest, output, journals, n, r->o.ordered };
    int code = check_merge(r, n);
    if (code == EXIT_OK) code = path_guard_code_read(&r->path_guard, "the manifest", m.manifest);
    for (int i = 0; i < n && code == EXIT_OK; i++) code = path_guard_code_read(&r->path_guard, "a journal", journals[i]);
    if (code == EXIT_OK)
        code = strcmp(output, "-") ? path_guard_code(&r->path_guard, path_guard_plan(&r->path_guard, output)) :
                                     path_guard_code_stdout(&r->path_guard);
    if (code == EXIT_OK) code = batch_merge(&m);
    path_guard_free(&r->path_guard);
    return code;
}

int cmd_batch(int argc, char **argv)
{
    struct run *r = calloc(1, sizeof *r);
    int n = 0, code = EXIT_MEMORY;
    if (!r) return message("out of memory"), EXIT_MEMORY;
    r->o.t.decode = (struct decode_opts)DECODE_OPTS_UNSET;
    code = args_parse(&batch_args, &r->o, &r->given, argc, argv, &n);
    if (code == ARGS_RUN && r->o.merge) code = merge(r, argv, n);
    else if (code == ARGS_RUN && n) code = message_usage("%s: unexpected; -i gives the manifest, --merge joins journals", argv[0]);
    if (code == ARGS_RUN) code = run(r);
    free(r);
    return code;
}
