/* steno: how whisper.cpp's whisper-cli processes its inputs. SPDX-License-Identifier: MIT
 *
 * Prints lines with times as segments arrive, and writes files beside the input, NAME.wav.txt, or where -of asks for. If the sound is
 * split into parts (-p), lines are printed when all parts are done. */
#include "compat/whisper_cli_run.h"
#include "atomic_file.h"
#include "cli/message.h"
#include "compat/whisper_cli_view.h"
#include "compat/whisper_cli_write.h"
#include "input/sound.h"
#include "verbs/transcribe_as.h"
#include "write.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit code of whisper-cli. */
#define ENDS_WITHOUT_INPUT 2
#define ENDS_WITHOUT_DECODING 10

struct run {
    const struct compat_call *call;
    struct path_guard *path_guard;
    struct whisper_cli_result result; /* the options typed, for writing results */
    struct whisper_cli_rules rules;
    struct whisper_cli_console console;
    struct whisper_cli_sound sound;   /* of the current part */
    struct whisper_cli_parts parts;   /* parts that are done, if there are several */
    struct whisper_cli_end *ends;     /* [n_ends] of the current part */
    int n_ends, most_ends;
    int n_brief;                      /* number of parts that were too short to decode */
    int lost; /* 1: out of memory for the sound or the ends */
};

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

/* Index of an input. Inputs are compared as pointers, because they are the words typed. */
static int index_of(const struct compat_call *c, const char *input)
{
    for (int i = 0; i < c->n_inputs; i++)
        if (c->input[i] == input) return i;
    return 0;
}

static const char *base_of(const struct compat_call *c, int i)
{
    return i < c->n_outputs && c->output[i][0] ? c->output[i] : c->input[i];
}

static char *name_of(const struct compat_call *c, int i, const char *extension)
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
    int code = path_guard_code(r->path_guard, path_guard_plan(r->path_guard, name));
    const char *fault = code == EXIT_OK ? atomic_file_fault(name) : NULL;
    if (fault) message("%s: cannot write: %s", name, fault);
    free(name);
    return fault ? EXIT_OUTPUT : code;
}

static int plan(void *user, struct path_guard *l)
{
    struct run *r = user;
    const struct compat_call *c = r->call;
    int code = EXIT_OK;
    r->path_guard = l;
    for (int i = 0; i < c->n_inputs && code == EXIT_OK; i++) code = path_guard_code_read(l, "an input", c->input[i]);
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
    const int refused = path_guard_check(r->path_guard, name);
    const int why = !f.failed ? 0 : ferror(file.f) ? errno : ENOMEM; /* the writer ran out of memory, or the stream failed */
    if (refused || f.failed) atomic_file_abort(&file);
    if (refused) return path_guard_code(r->path_guard, refused);
    if (f.failed) return message_not_written(name, why);
    if (atomic_file_commit(&file)) return message_not_written(name, errno);
    if (!(r->result.given & WCLI_QUIET)) message("saved %s", name);
    return path_guard_code(r->path_guard, path_guard_wrote(r->path_guard, name));
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

/* Set speakers of cut segments, because the pieces of one segment can have different speakers. */
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
    result.n_samples = in->parts.n && !in->join.n ? in->parts.samples : in->n_read;
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

static long long number_of(const struct compat_call *c, const char *option)
{
    return strtoll(compat_value(c, option), NULL, 10);
}

/* As whisper-cli does, skip a sound of at most ten frames, measured after -ot and -d. The same holds for a part of it. */
static int is_brief(const struct run *r, const struct job_input *in, const struct transcript *t)
{
    enum { FRAME_MS = 10, FRAME = 160, HALF_A_WINDOW = 200, BRIEF_FRAMES = 10 };
    const struct parts *p = &in->parts;
    const int64_t samples = p->n ? parts_end(p) - parts_start(p) : in->n_read;
    const long long from = p->at ? 0 : number_of(r->call, "--offset-t") / FRAME_MS, asked = number_of(r->call, "--duration") / FRAME_MS;
    const long long frames = asked > 0 ? asked : 1 + (samples - HALF_A_WINDOW) / FRAME - from;
    return !t->n && frames <= BRIEF_FRAMES;
}

static void report_brief(const struct run *r, const struct job_input *in)
{
    if (!r->n_brief || r->result.given & (WCLI_QUIET | WCLI_DETECT)) return;
    if (in->parts.n && r->n_brief < in->parts.n)
        message("%s: %d of %d parts have no text: they have less than 0.12 s each, and whisper.cpp's rules want more", in->file, r->n_brief,
                in->parts.n);
    else message("%s: there is no text: less than 0.12 s are to be decoded, and whisper.cpp's rules need more", in->file);
}

/* Report where the sound was cut, as whisper-cli does. */
static void report_cuts(const struct run *r, const struct job_input *in)
{
    enum { LISTED = 10 };
    const struct parts *p = &in->parts;
    const int64_t offset_ms = number_of(r->call, "--offset-t");
    struct sink_memory text = { 0 };
    struct sink f = sink_to_memory(&text);
    if (p->n < 2 || r->result.given & (WCLI_QUIET | WCLI_DETECT)) return;
    for (int k = 1; k < p->n && k <= LISTED; k++) {
        sink_text(&f, k > 1 ? ", " : "");
        write_time(&f, whisper_cli_part_ms(parts_edge(p->samples, p->offset, p->n, k) - p->offset, offset_ms), 1, '.');
    }
    if (p->n - 1 > LISTED) sink_format(&f, " and %d more times", p->n - 1 - LISTED);
    if (!f.failed)
        message("%s: -p cut the sound into %d parts at %.*s; words near the cuts may be wrong or missing", in->file, p->n, (int)text.n,
                text.p);
    free(text.p);
}

/* Print the lines and write the files of a transcript. */
static int put_all(struct run *r, const struct job_input *in, struct whisper_cli_view *v)
{
    name_speakers(v, in);
    if (r->console.late) whisper_cli_console_all(&r->console, &v->t);
    report_brief(r, in);
    report_cuts(r, in);
    return write_all(r, in, &v->t);
}

static int report_no_memory(const struct job_input *in)
{
    message("out of memory for the text of %s", in->file);
    return EXIT_MEMORY;
}

/* Keep a part. The last part triggers the output of all, and times in joined speech are then mapped back, as in whisper-cli. */
static int put_part(struct run *r, const struct job_input *in, const struct whisper_cli_view *part)
{
    const struct parts *p = &in->parts;
    struct whisper_cli_view all;
    const int64_t moved = p->at ? whisper_cli_part_ms(parts_start(p) - p->offset, number_of(r->call, "--offset-t")) : 0;
    if (whisper_cli_parts_add(&r->parts, part, moved)) return report_no_memory(in);
    if (p->at + 1 < p->n) return EXIT_OK;
    const int bad = whisper_cli_parts_view(&all, &r->parts);
    for (int i = 0; i < all.t.n && in->join.n; i++) join_segment(&in->join, &all.segs[i]);
    const int code = bad ? report_no_memory(in) : put_all(r, in, &all);
    whisper_cli_view_free(&all);
    return code;
}

static int output(void *user, const struct job_input *in, struct transcript *t)
{
    struct run *r = user;
    struct whisper_cli_view view;
    struct whisper_cli_rules rules = r->rules;
    if (r->result.given & WCLI_DETECT && !(r->result.given & WCLI_QUIET) && !in->parts.at)
        message("%s: language %s", in->file, t->language);
    rules.ends = r->ends;
    rules.n_ends = r->n_ends;
    rules.join = in->join.n && !in->parts.n ? &in->join : NULL;
    if (r->lost || (rules.sound && whisper_cli_levels(&r->sound))) {
        message("out of memory for the sound of %s", in->file);
        return EXIT_MEMORY;
    }
    r->n_brief += is_brief(r, in, t);
    const int bad = whisper_cli_view(&view, t, &rules);
    const int code = bad ? report_no_memory(in) : in->parts.n ? put_part(r, in, &view) : put_all(r, in, &view);
    whisper_cli_view_free(&view);
    return code;
}

static int opened(void *user, const steno_model *m)
{
    const struct run *r = user;
    const long long asked = number_of(r->call, "--audio-ctx");
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    if (r->result.given & WCLI_DETECT || asked <= i.n_audio_ctx || !i.n_audio_ctx) return EXIT_OK;
    message("-ac %s: the audio context of this model is %d", compat_value(r->call, "--audio-ctx"), (int)i.n_audio_ctx);
    return ENDS_WITHOUT_DECODING;
}

/* ---- the console ------------------------------------------------------------------------------------------------------------- */

static void begin(void *user, const struct job_input *in)
{
    struct run *r = user;
    const int hidden = strcmp(base_of(r->call, index_of(r->call, in->file)), "-") == 0;
    whisper_cli_sound_free(&r->sound);
    r->n_ends = 0;
    if (in->parts.at) return;
    whisper_cli_parts_free(&r->parts);
    r->n_brief = 0;
    whisper_cli_console_begin(&r->console, r->result.given, in->job->model, hidden);
    if (in->job->parts > 1) r->console.late = 1;
}

static void samples(void *user, const struct job_input *in, const float *pcm, int64_t at, int64_t n)
{
    struct run *r = user;
    (void)in;
    if (r->rules.sound && whisper_cli_keep(&r->sound, at, pcm, n)) r->lost = 1;
}

static void segment(void *user, const steno_session *s, const steno_segment *seg, const int32_t *who)
{
    struct run *r = user;
    if (!r->console.late) whisper_cli_console_segment(&r->console, s, seg, who);
}

/* Keep where the window's tokens end, for the view. */
static void attempt(void *user, const struct job_input *in, const steno_attempt *a)
{
    struct run *r = user;
    (void)in;
    if (!r->rules.special || !a->kept || !a->has_ts || r->lost) return;
    if (r->n_ends == r->most_ends) {
        const int most = 2 * r->most_ends + 16;
        struct whisper_cli_end *more = realloc(r->ends, (size_t)most * sizeof *more);
        if (!more) {
            r->lost = 1;
            return;
        }
        r->ends = more;
        r->most_ends = most;
    }
    r->ends[r->n_ends++] = (struct whisper_cli_end){ a->at_ms, a->at_ms + a->seek_delta_ms, a->n_tokens };
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

/* Report missing files first. If no input is left, there is nothing to run. */
static int check_inputs(const struct compat_call *c)
{
    int n = 0;
    for (int i = 0; i < c->n_inputs; i++) n += strcmp(c->input[i], "-") == 0 || access(c->input[i], F_OK) == 0;
    if (n) return EXIT_OK;
    for (int i = 0; i < c->n_inputs; i++) message_file(sound_name(c->input[i]), strerror(ENOENT));
    message("no input; \"%s --help\" lists the options", c->called);
    return ENDS_WITHOUT_INPUT;
}

/* whisper-cli crashes with 0 or a negative number. The maximum exists because each part needs memory. */
enum { MOST_PARTS = 1024 };

static int check(const struct compat_call *c, const struct whisper_cli_result *r)
{
    const long long parts = number_of(c, "--processors");
    if (parts < 1 || parts > MOST_PARTS)
        return compat_mistake(c, "-p %s: a sound is cut into 1 to %d parts", compat_value(c, "--processors"), MOST_PARTS);
    if ((c->given & WCLI_DIARIZE) && (c->given & WCLI_TURNS))
        return compat_mistake(c, "--diarize and --tinydiarize cannot be had together");
    if ((c->given & WCLI_WTS) && access(r->font, R_OK))
        return compat_mistake(c, "-owts needs a font file, and %s is not one: give one with -fp", r->font);
    return check_inputs(c);
}

/* Karaoke output needs short lines. */
static int32_t max_len_of(const struct compat_call *c)
{
    const long n = strtol(compat_value(c, "--max-len"), NULL, 10);
    return n > 0 ? (int32_t)(n < INT32_MAX ? n : INT32_MAX) : n == 0 && c->given & WCLI_WTS ? 60 : 0;
}

int whisper_cli_run(struct compat_call *c)
{
    if (c->given & WCLI_HELP) {
        compat_help(stdout, c);
        return message_flush();
    }
    if (c->given & WCLI_VERSION) {
        printf("steno %s\n", steno_version());
        return message_flush();
    }
    struct run r = { .call = c };
    r.result = (struct whisper_cli_result){ .given = c->given, .model = compat_value(c, "--model"),
                                            .font = compat_value(c, "--font-path"),
                                            .language = c->given & WCLI_DETECT ? "auto" : compat_value(c, "--language"),
                                            .offset_n = (int32_t)strtol(compat_value(c, "--offset-n"), NULL, 10) };
    r.rules = (struct whisper_cli_rules){ .threshold = strtod(compat_value(c, "--word-thold"), NULL), .max_len = max_len_of(c),
                                          .special = (c->given & WCLI_SPECIAL) != 0, .by_words = compat_is_given(c, "--split-on-word") };
    if (r.rules.max_len || c->given & (WCLI_FULL | WCLI_WTS)) r.rules.sound = &r.sound;
    if (r.rules.max_len) r.result.given |= WCLI_CUT;
    const struct transcribe_as as = { .user = &r, .program = c->compat->name, .own = c->own, .plan = plan, .opened = opened,
                                      .begin = begin, .samples = samples, .attempt = attempt,
                                      .segment = segment, .output = output, .parts = (int)number_of(c, "--processors"), .uncut = 1,
                                      .notes = !(c->given & (WCLI_QUIET | WCLI_DETECT)),
                                      .language_only = (c->given & WCLI_DETECT) != 0 };
    int code = check(c, &r.result);
    if (code == EXIT_OK) code = compat_code(c, transcribe_as(c->n_words, c->word, &as));
    whisper_cli_sound_free(&r.sound);
    whisper_cli_parts_free(&r.parts);
    free(r.ends);
    return code;
}
