/* steno: the verbs transcribe and translate. SPDX-License-Identifier: MIT
 *
 * All checks are made before the first sample is decoded: options, names of outputs, the output folder, the models. Then the job (job.h)
 * processes the inputs. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cli/time_text.h"
#include "cmd.h"
#include "input/inputs.h"
#include "input/sound.h"
#include "out_name.h"
#include "verbs/opt_rules.h"
#include "verbs/transcribe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#define AT(field) offsetof(struct transcribe_opts, field)

enum { ROWS_OF_TASK = 3 }; /* rows that `translate` does not have */

/* clang-format off */
static const struct arg rows[] = {
    ARG_HEADING("Task"),
    { .name = "task", .kind = ARG_WORD, .at = AT(task), .value = "transcribe|translate|both", .dflt = ARG_OF_PARAM,
      .help = "write the transcript, its English translation, or both: NAME.transcript.FORMAT and NAME.translation.FORMAT" },
    ALIGNER_ROW(struct transcribe_opts),
    ENGINE_RECOGNISER_ROWS(struct transcribe_opts),
    ENGINE_CTX_ROW(struct transcribe_opts),
    ARG_HEADING("Input"),
    TRANSCRIBE_LANGUAGE_ROW(struct transcribe_opts),
    { .name = "offset-ms", .kind = ARG_MS, .at = AT(offset_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "start of the transcription, in ms; every MS or S may also be 1:30, 1:02:03 or 1:02:03.500" },
    { .name = "duration-ms", .kind = ARG_MS, .at = AT(duration_ms), .value = "MS", .dflt = ARG_OF_PARAM,
      .help = "length of the transcription, in ms; 0: to the end" },
    { .name = "channels", .kind = ARG_TEXT, .at = AT(channels), .value = "mix|split|N", .dflt = "mix",
      .help = "mix all channels; transcribe each one (NAME.ch0.FORMAT, ...); or only channel N, counted from 0" },
    { .name = "audio-track", .kind = ARG_TEXT, .at = AT(audio_track), .value = "auto|all|N", .dflt = "auto",
      .help = "track of a file with several, such as a film in two languages: FFmpeg's choice; each one (NAME.track1.FORMAT, ...); "
              "or track N, counted from 1" },
    { .name = "recursive", .kind = ARG_FLAG, .at = AT(recursive), .help = "also transcribe the files in subfolders of a folder" },
    TRANSCRIBE_DIARIZE_ROWS(struct transcribe_opts),
    DECODE_INPUT_ROWS(struct transcribe_opts),
    VAD_ROWS(struct transcribe_opts),
    PUNCTUATION_ROWS(struct transcribe_opts),
    POST_ROWS(struct transcribe_opts),
    ARG_HEADING("Output"),
    { .name = "strict", .kind = ARG_FLAG, .at = AT(strict),
      .help = "exit with 1 if audio is missing: a truncated file, damaged packets; the rest is transcribed in any case" },
    { .name = "output-format", .letter = 'f', .kind = ARG_LIST, .at = AT(formats), .value = WRITER_NAMES "|all", .dflt = "txt",
      .hi = N_WRITERS_ALL,
      .help = "one format or several, separated by commas; all: txt,srt,vtt,tsv,json. jsonl: one record per line, with sums at the "
              "end; ass: karaoke subtitles; wts: a script that burns them into the video; score: token probabilities; json_full: "
              "also token texts and times; funasr: the list that FunASR's generate() returns, with tags in the text" },
    { .name = "output-dir", .letter = 'o', .kind = ARG_TEXT, .at = AT(out_dir), .value = "DIR",
      .help = "write DIR/NAME.FORMAT for each input (made if missing); @ is the input's own folder, @/NAME one in it; without it "
              "one format goes to standard output" },
    { .name = "resume", .kind = ARG_FLAG, .at = AT(resume),
      .help = "continue an interrupted run with the same options: skip finished inputs, continue the others after their last "
              "window (models of streams start them again); the results do not change" },
    { .name = "output-template", .kind = ARG_TEXT, .at = AT(out_template), .value = "TEXT",
      .help = "names of files below DIR, made of {stem}, {ext} and {dir} (of the input), {n} (its number), {format}, {language}, "
              "{date} and {time} (of the run) and {model}; without it {stem}.{format}" },
    { .name = "offset-n", .kind = ARG_INT, .at = AT(offset_n), .value = "N", .dflt = "0", .hi = 1e9,
      .help = "added to the cue numbers of srt" },
    TRANSCRIBE_LOGPROBS_ROW(struct transcribe_opts),
    { .name = "dump", .kind = ARG_TEXT, .at = AT(dump), .value = "DIR",
      .help = "write intermediate rows of the network for each clip or window as DIR/NAME.KIND.npy (Whisper, SenseVoice, Paraformer, "
              "Fun-ASR-Nano): fbank, features, encoder, logits, cif_alphas, cif_fine_alphas, adaptor; \"steno compare\" compares such "
              "files" },
    SUBTITLE_ROWS(struct transcribe_opts),
    DECODE_ROWS(struct transcribe_opts),
    ENGINE_MACHINE_ROWS(struct transcribe_opts),
    TRANSCRIBE_VERIFY_ROWS(struct transcribe_opts),
    { .name = "batch-size", .letter = 'b', .kind = ARG_INT, .at = AT(batch_size), .value = "N", .dflt = "1", .lo = 1, .hi = 128,
      .help = "number of windows to decode in parallel, 1 to 128; the text does not change. Windows of one input need "
              "--chunk-length or --vad, or --no-condition-on-previous-text and --without-timestamps" },
    ARG_HEADING("Messages"),
    { .name = "progress", .kind = ARG_WORD, .at = AT(progress), .value = PROGRESS_NAMES, .dflt = "auto",
      .help = "auto: a bar on a terminal; json, lines: an object or a line for every five percent" },
    ENGINE_QUIET_ROW(struct transcribe_opts),
    { .name = "no-prints", .kind = ARG_FLAG, .at = AT(engine.quiet), .help = "same as --quiet" },
    { .name = "verbose", .letter = 'v', .kind = ARG_FLAG, .at = AT(engine.verbose),
      .help = "print segments with times, repeated attempts at a window, language and model on standard error" },
    { .name = "print-colors", .kind = ARG_FLAG, .at = AT(print_colors),
      .help = "colour text on a terminal by the probability of each token, red to green" },
    { .name = "print-confidence", .kind = ARG_FLAG, .at = AT(print_confidence),
      .help = "the same in styles: inverse below 0.33, underlined below 0.66, else dim" },
    { .name = "print-special", .kind = ARG_FLAG, .at = AT(print_special),
      .help = "print timestamps and other special tokens on standard output and with -v; files do not change" },
    { .name = "color", .kind = ARG_WORD, .at = AT(color), .value = CONSOLE_COLOR_NAMES, .dflt = "auto",
      .help = "print escape sequences; auto: on a terminal, unless NO_COLOR is set" },
    { .name = "print-timings", .kind = ARG_FLAG, .at = AT(print_timings),
      .help = "print times of the phases on standard error" },
    { 0 },
};
/* clang-format on */

#define ABOUT \
    "FILE is any audio or video file, a folder of such files, a quoted pattern\n" \
    "(\"*.mp3\"), or @LIST, a file of names; - is standard input.\n" \
    "Text goes to standard output, everything else to standard error."

const struct args transcribe_args = { "transcribe", "[OPTION]... FILE...", "Transcribe speech to text.\n" ABOUT, rows };
const struct args translate_args = { "translate", "[OPTION]... FILE...",
                                     "Translate speech to English text.\n" ABOUT, rows + ROWS_OF_TASK };

/* Options that affect the text, for jsonl. */
static void options_json(struct sink *f, const void *opts)
{
    args_json(f, rows, opts, "Output|Messages");
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

static int check(struct transcription *t, struct transcribe_opts *o)
{
    const struct results *r = t->results;
    int n_stdin = 0, n_files = 0;
    for (int i = 0; i < r->n; i++) {
        n_stdin += strcmp(r->inputs[i], "-") == 0;
        n_files += out_input_has_folder(r->inputs[i]);
    }
    if (r->n == 0) return message_usage("no input; give a sound file, or - for standard input");
    if (n_stdin > 1) return message_usage("standard input can be read once only");
    if (o->resume && !n_files) return message_usage("--resume is for files: standard input and URLs start again each time");
    int code = decode_opts_check(&t->data, &o->decode, o->vad.kind != VAD_OFF && !o->vad.join);
    if (code == EXIT_OK) code = transcription_channels(o);
    if (code == EXIT_OK) code = transcription_track(o);
    if (code == EXIT_OK && o->engine.model) code = path_guard_code_read(t->results->files.path_guard, "the model", o->engine.model);
    if (code == EXIT_OK && o->engine.vocab) code = path_guard_code_read(t->results->files.path_guard, "the vocabulary", o->engine.vocab);
    if (code == EXIT_OK) code = opt_rules_check(o->engine.given, &(struct opt_scene){ o, r->files.naming.formats });
    if (code == EXIT_OK) code = transcription_params(t, NULL);
    if (code != EXIT_OK) return code;
    t->results->hold_text |= o->task == STENO_TRANSCRIBE_AND_TRANSLATE;
    t->results->marked = o->task == STENO_TRANSCRIBE_AND_TRANSLATE || o->channel == JOB_SPLIT || o->track == JOB_ALL_TRACKS;
    t->results->files.naming.mark = !t->results->marked ? NULL : o->track == JOB_ALL_TRACKS ? ".track1" : ".ch0";
    if (o->as && o->as->plan) code = o->as->plan(o->as->user, t->results->files.path_guard);
    return code == EXIT_OK ? results_check(t->results) : code;
}

static void set_console(struct transcription *t)
{
    const struct transcribe_opts *o = t->o;
    const int32_t first_timestamp = steno_token_id(t->engine.model, STENO_TOKEN_TIMESTAMP);
    t->console = (struct console){ .model = t->engine.model, .session = t->engine.session, .first_timestamp = first_timestamp,
                                   .colors = o->print_colors, .confidence = o->print_confidence, .special = o->print_special };
    t->style_out = console_color(stdout, o->color);
    t->style_err = console_color(stderr, o->color);
    t->streams_meet = console_streams_meet();
}

/* Let the library check the parameters, so that an error is found before decoding. */
static int try_params(struct transcription *t)
{
    char reason[OPTION_TEXT_SZ];
    const int rc = job_try(&t->job, t->engine.session);
    const char *reported = option_reason(reason, t->o->engine.given, steno_last_error(t->engine.session));
    return rc == STENO_OK ? EXIT_OK : message_model_error(NULL, rc, reported);
}

static void print_timings(const struct transcription *t, int64_t wall_us)
{
    const steno_timings all = t->job.timings;
    if (!all.size) return; /* no input was started */
    const struct { const char *name; int64_t us, n; } line[] = {
        { "load", all.load_us, 1 }, { "source", all.source_us, all.n_windows }, { "mel", all.mel_us, all.n_windows },
        { "vad", all.vad_us, all.n_vad },
        { "encode", all.encode_us, all.n_encodes }, { "cross", all.cross_us, all.n_encodes }, { "prompt", all.prompt_us, all.n_prompts },
        { "decode", all.decode_us, all.n_steps }, { "verify", all.verify_us, all.n_verified },
        { "draft", all.draft_us, all.n_drafted }, { "wall", wall_us, 1 },
    };
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        message("time %-7s %10.2f ms / %6lld runs", line[i].name, (double)line[i].us / 1000.0, (long long)line[i].n);
    if (t->engine.draft || all.n_drafted)
        message("drafted %lld tokens, %lld of them accepted", (long long)all.n_drafted, (long long)all.n_accepted);
}

/* Options that affect the results, for the resume key. @return malloc'd text, or NULL if out of memory */
static char *options_text(const struct transcription *t)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    const struct transcribe_opts *o = t->o;
    args_json(&f, rows, o, "Output|Messages|Machine"); /* the text does not depend on the number of threads or the batch size */
    sink_format(&f, " formats %x task %d track %d channel %d vad %d verify %d %.17g batch %d", o->formats, o->task, o->track, o->channel,
                (int)o->vad.kind, o->engine.verify, o->verify_margin, o->batch_size > 1);
    sink_format(&f, " offset %lld logprobs %d dump %s texts %016llx", (long long)o->offset_n, o->token_logprobs, o->dump ? o->dump : "",
                (unsigned long long)decode_data_hash(&t->data));
    if (!f.failed) return memory.p;
    free(memory.p);
    return NULL;
}

/* Run the remaining inputs, with their journals. */
static int run_inputs(struct transcription *t, char **files, int n)
{
    const struct transcribe_opts *o = t->o;
    const steno_model *const models[] = { t->engine.model, t->vad.model, t->aligner.model, t->punctuation.model, t->post.model };
    char *options = options_text(t), **left = calloc((size_t)n + 1, sizeof *left);
    int *place = calloc((size_t)n + 1, sizeof *place);
    int n_left = n, code = EXIT_MEMORY;
    t->resume = (struct resume){ .dir = o->as ? NULL : o->out_dir, .naming = &t->results->files.naming, .requested = o->resume,
                                 .quiet = o->engine.quiet, .n_inputs = n };
    if (!options || !left || !place) message("out of memory for %d inputs", n);
    else code = resume_begin(&t->resume, (int)o->batch_size, models, sizeof models / sizeof *models, options);
    for (int i = 0; left && place && i < n; i++) left[i] = files[i], place[i] = i;
    if (code == EXIT_OK) code = resume_skip(&t->resume, left, place, &n_left);
    t->place = place;
    t->n_before = n - n_left;
    if (code == EXIT_OK) code = transcription_begin(t);
    if (code == EXIT_OK && n_left)
        code = o->batch_size > 1 ? transcription_run_batch(t, left, n_left) : transcription_run(t, left, n_left);
    if (code == EXIT_INPUT && n_left < n) code = EXIT_SOME; /* the others were finished in an earlier run */
    resume_end(&t->resume, files, n, signals_pending() || t->job.stop != EXIT_OK || code == EXIT_MEMORY);
    t->place = NULL;
    if (!signals_pending() && t->job.stop == EXIT_OK) {
        const int written = transcription_end(t, n);
        if (code == EXIT_OK) code = written;
    }
    free(options);
    free(left);
    free(place);
    return code;
}

/* Run the job; everything is open. */
static int run_job(struct transcription *t, char **files, int n)
{
    const struct transcribe_opts *o = t->o;
    struct progress_bar bar;
    t->bar = &bar;
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(t->engine.model, &info);
    if (o->engine.verbose)
        message("model %s: %s %s, weights %s, compute %s on %s, %d threads", t->engine.path ? t->engine.path : "", info.family,
                info.name, info.weight_type, info.compute, info.cpu_level, steno_team_threads(t->engine.team));
    set_console(t);
    t->options = options_json;
    int code = transcription_params(t, t->engine.model);
    transcription_job(t);
    if (code == EXIT_OK) code = try_params(t);
    t->dump.inputs = files;
    t->dump.n_inputs = n;
    if (code == EXIT_OK) code = dump_open(&t->dump);
    if (code != EXIT_OK) return code;
    progress_bar_begin(&bar, o->progress, o->engine.quiet, n);
    return run_inputs(t, files, n);
}

static int run_files(struct transcribe_opts *o, char **files, int n)
{
    const int64_t begun = progress_now_us();
    char date[OUT_TIME_SZ], time_of_day[OUT_TIME_SZ];
    struct path_guard path_guard = { 0 };
    struct results results = { .files = { .naming = { .dir = o->out_dir, .template = o->out_template, .formats = o->formats,
                                                      .date = date, .time = time_of_day, .n_inputs = n },
                                          .path_guard = &path_guard },
                               .inputs = files, .n = n, .quiet = o->engine.quiet, .as = o->as };
    struct transcription t = { .o = o, .results = &results, .dump = { .dir = o->dump } };
    char *demo = NULL, *model = NULL;
    out_time_text(date, time_of_day, time(NULL));
    if (n == 0 && o->engine.demo) {
        demo = models_demo_audio();
        if (!demo) return message_usage("--demo: no recording is installed here; give a file, and a model with -m, such as -m base");
        results.inputs = files = &demo;
        results.n = results.files.naming.n_inputs = n = 1;
    }
    const int shows_tokens = o->print_colors || o->print_confidence || o->print_special; /* these need uncut segments, printed on arrival */
    results.hold_text = subtitle_opts_cut(&o->subtitles) || o->batch_size > 1 || (o->diarize && !shows_tokens);
    o->engine.path_guard = o->decode.path_guard = o->subtitles.path_guard = &path_guard;
    o->subtitles.given = o->engine.given;
    o->engine.measured = !o->as;
    o->engine.cmvn_apart = o->vad.kind != VAD_OFF;
    o->decode.drafted = o->engine.draft != NULL;
    o->decode.bare = o->as != NULL;
    int code = subtitle_opts_layout(&t.layout, &results.files.naming.formats, &o->subtitles);
    if (code == EXIT_OK) code = check(&t, o);
    if (code == EXIT_OK && !o->engine.quiet && !o->as) time_units_report(o->engine.given);
    if (code == EXIT_OK)
        code = sound_report_missing(engine_open(&t.engine, &o->engine, decode_opts_lanes(&o->decode)), files, o->as ? 0 : n);
    if (code == EXIT_OK && o->as && o->as->opened) code = o->as->opened(o->as->user, t.engine.model);
    if (code == EXIT_OK) code = decode_opts_check_drafts(&o->decode, o->engine.given, t.engine.model);
    if (code == EXIT_OK) decode_opts_settle(&o->decode, t.engine.model);
    if (code == EXIT_OK) code = vad_open(&t.vad, &o->vad, &t.engine, &o->engine, !(o->as && o->as->as_file_asks));
    const enum punctuation_find may = shows_tokens ? PUNCTUATION_FOR_NONE : transcription_punctuation(o);
    if (code == EXIT_OK) code = aligner_open(&t.aligner, &o->aligner, o->language, &t.engine, &o->engine);
    if (code == EXIT_OK) code = punctuation_open(&t.punctuation, &o->punctuation, &t.engine, &o->engine, may);
    if (code == EXIT_OK) code = post_open(&t.post, &o->post, &t.engine, &o->engine);
    results.hold_text |= t.aligner.session || t.punctuation.session || t.post.model;
    if (code == EXIT_OK) code = engine_name(&model, &t.engine, &o->engine);
    results.files.naming.model = model;
    if (code == EXIT_OK) code = run_job(&t, files, n);
    if (o->print_timings) print_timings(&t, progress_now_us() - begun);
    dump_free(&t.dump);
    results_free(&results);
    path_guard_free(&path_guard);
    post_close(&t.post);
    punctuation_close(&t.punctuation);
    aligner_close(&t.aligner);
    vad_close(&t.vad);
    engine_close(&t.engine);
    decode_data_free(&t.data);
    free(demo);
    free(model);
    return code;
}

/* Only steno's own operands may be folders, lists and patterns; another program's operand is a file. */
static int run(struct transcribe_opts *o, char **operands, int n)
{
    struct inputs in;
    if (o->as) return run_files(o, operands, n);
    int code = inputs_expand(&in, operands, n, o->recursive);
    if (code == EXIT_OK) code = run_files(o, in.file, in.n);
    inputs_free(&in);
    return code;
}

int cmd_transcribe(int argc, char **argv)
{
    return transcribe_as(argc, argv, NULL);
}

int cmd_translate(int argc, char **argv)
{
    struct args_given given;
    struct transcribe_opts o = { .decode = DECODE_OPTS_UNSET, .task = STENO_TRANSLATE, .engine.given = &given };
    int n;
    const int code = args_parse(&translate_args, &o, &given, argc, argv, &n);
    return code == ARGS_RUN ? run(&o, argv, n) : code;
}

int transcribe_as(int argc, char **argv, const struct transcribe_as *as)
{
    struct args_given given;
    struct transcribe_opts o = { .decode = DECODE_OPTS_UNSET, .engine.given = &given, .as = as };
    int n;
    const int code = args_parse(&transcribe_args, &o, &given, argc, argv, &n);
    if (as) given.program = as->program, given.own = as->own;
    return code == ARGS_RUN ? run(&o, argv, n) : code;
}
