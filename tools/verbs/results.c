/* steno: output of results. SPDX-License-Identifier: MIT */
#include "verbs/results.h"
#include "cli/message.h"
#include "input/sound.h"
#include "out_name.h"
#include "text_rules.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int results_stream_text(const struct results *r)
{
    return !r->files.naming.dir && !(r->as && r->as->write) && !r->hold_text && r->files.naming.formats == 1u << WRITER_TXT;
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

/* The first of these templates that gives all inputs different names. The last one always does. */
static const char *template_apart(const struct results *r)
{
    static const char *const tried[] = { "{dir}/{stem}.{format}", "{stem}.{ext}.{format}", "{dir}/{stem}.{ext}.{format}" };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct out_names names;
        struct out_naming naming = r->files.naming;
        naming.template = tried[i];
        const int status = out_names_list(&names, &naming, r->inputs, r->n);
        out_names_free(&names);
        if (status == OUT_NAMES_OK) return tried[i];
    }
    return "{n}-{stem}.{format}";
}

/* Report that two inputs have the same result name, and which option separates all inputs. */
static int two_inputs(const struct results *r, const char *path, const char *first, const char *second)
{
    const char *a = sound_name(first), *b = sound_name(second);
    if (strcmp(first, second) == 0) return message_usage("two inputs would be written as %s: %s is given twice", path, a);
    if (r->as) return message_usage("two inputs would be written as %s: %s and %s; run them one by one", path, a, b);
    return message_usage("two inputs would be written as %s: %s and %s; --output-template \"%s\" keeps them apart", path, a, b,
                         template_apart(r));
}

static int code_of_names(const struct results *r, const struct out_names *names, int status)
{
    const char *name = names->bad;
    switch (status) {
    case OUT_NAMES_OK: return EXIT_OK;
    case OUT_NAMES_FAULT: return message_usage("--output-template: the name \"%s\" %s", name, out_name_fault(name));
    case OUT_NAMES_TWO_FORMATS:
        return message_usage("two formats would be written as %s; put {format} into --output-template", name);
    case OUT_NAMES_TWO_INPUTS: return two_inputs(r, name, r->inputs[names->first], r->inputs[names->second]);
    default: message("out of memory for the names of %d inputs", r->n); return EXIT_MEMORY;
    }
}

static int code_of_files(const struct results *r, int status)
{
    const struct result_files *f = &r->files;
    if (status == RESULT_FILES_OK) return EXIT_OK;
    if (status == RESULT_FILES_REFUSED) return path_guard_code(f->path_guard, f->path_guard->refused.status);
    if (f->reason) message("%s: cannot write: %s", f->path, f->reason);
    else message("out of memory for the name of an output");
    return status == RESULT_FILES_NO_MEMORY ? EXIT_MEMORY : EXIT_OUTPUT;
}

static int check_names(struct results *r)
{
    struct out_names names;
    int code = code_of_names(r, &names, out_names_list(&names, &r->files.naming, r->inputs, r->n));
    if (code == EXIT_OK) code = code_of_files(r, result_files_plan(&r->files, &names));
    out_names_free(&names);
    return code;
}

/* An output folder beside the input requires an input that is a file. */
static int check_beside(const struct results *r)
{
    const char *dir = r->files.naming.dir;
    for (int i = 0; i < r->n && out_folder_is_beside(dir); i++)
        if (!out_input_has_folder(r->inputs[i]))
            return message_usage("--output-dir %s: %s has no folder; give one (./@ is a folder of that name)", dir,
                                 sound_name(r->inputs[i]));
    return EXIT_OK;
}

/* A folder with a file format's ending was probably meant as a file. */
static int check_folder(const struct results *r)
{
    struct stat st;
    const char *dir = r->files.naming.dir, *dot = dir ? strrchr(dir, '.') : NULL;
    if (!dot || dot == dir || r->as || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))) return EXIT_OK;
    for (const struct writer *w = writers; w->name; w++)
        if (strcmp(dot + 1, w->extension) == 0)
            return message_usage("--output-dir %s: it is the name of a folder; \"-f %s -o .\" writes NAME.%s here, "
                                 "\"-f %s > %s\" one file", dir, w->name, w->extension, w->name, dir);
    return EXIT_OK;
}

int results_check(struct results *r)
{
    const struct result_files *f = &r->files;
    const char *word;
    int code = EXIT_OK;
    const size_t n = f->naming.template ? out_template_unknown(f->naming.template, &word) : 0;
    if (n) return message_usage("--output-template: %.*s is unknown; it takes " OUT_PLACEHOLDERS, (int)n, word);
    if (f->naming.template && !f->naming.dir) return message_usage("--output-template needs --output-dir");
    if (!f->naming.dir && (f->naming.formats & (f->naming.formats - 1)))
        return message_usage("several output formats need --output-dir; one format can go to standard output");
    for (int i = 0; i < r->n && code == EXIT_OK; i++) code = path_guard_code_read(f->path_guard, "an input", r->inputs[i]);
    if (code != EXIT_OK || !f->naming.dir) return code == EXIT_OK ? path_guard_code_stdout(f->path_guard) : code;
    if (r->marked && !out_template_has(f->naming.template, "{stem}"))
        return message_usage("an input has several results here: put {stem} into --output-template");
    code = check_folder(r);
    if (code == EXIT_OK) code = check_beside(r);
    if (code == EXIT_OK) code = check_names(r);
    if (code != EXIT_OK) return code;
    const int status = result_files_prepare(&r->files, r->inputs, r->n);
    if (status == RESULT_FILES_OK) return EXIT_OK;
    if (f->path) message("%s: cannot write there: %s", f->path, f->reason);
    else message("out of memory for the name of a folder");
    return status == RESULT_FILES_NO_MEMORY ? EXIT_MEMORY : EXIT_OUTPUT;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

/* Names of the files written for an input, printed on one line. */
struct reported {
    char text[2048];
    size_t n;
};

static void report_later(struct reported *reported, const char *path)
{
    const size_t room = sizeof reported->text - reported->n;
    const int n = snprintf(reported->text + reported->n, room, "%s%s", reported->n ? ", " : "", path);
    if (n > 0) reported->n += (size_t)n < room ? (size_t)n : room - 1;
}

static int is_full(int why)
{
    return why == ENOSPC || why == EDQUOT;
}

static int write_file(struct results *r, const char *input, const struct transcript *t, int format, struct reported *reported)
{
    int status = result_files_write(&r->files, input, t, format);
    while (status == RESULT_FILES_FAILED && is_full(r->files.why) && r->make_room && r->make_room(r->user))
        status = result_files_write(&r->files, input, t, format);
    if (status == RESULT_FILES_OK) report_later(reported, r->files.path);
    if (status == RESULT_FILES_OK && r->wrote) r->wrote(r->user, r->files.path, format, &r->files.bytes);
    return code_of_files(r, status);
}

void results_head(struct results *r, struct sink *to, const char *input, int index)
{
    const int is_text = !r->files.naming.dir && !r->as && r->files.naming.formats == 1u << WRITER_TXT;
    if (!is_text || r->quiet || r->n < 2 || r->headed == input) return;
    const char *name = sound_name(input);
    r->headed = input;
    sink_text(to, index ? "\n==> " : "==> ");
    text_put(to, TEXT_LINE, name, strlen(name));
    sink_text(to, " <==\n");
}

static int write_stdout(struct results *r, const char *input, const struct transcript *t, int format)
{
    struct sink out = sink_to_stream(stdout), *to = r->out ? r->out : &out;
    results_head(r, to, input, r->files.naming.index);
    if (results_stream_text(r)) return message_flush(); /* already printed on arrival */
    if (r->as && r->as->write) r->as->write(to, t, r->as->given);
    else writers[format].write(to, t);
    if (!writers[format].ends_line) sink_char(to, '\n');
    if (!r->out && out.failed && !ferror(stdout)) {
        message("out of memory for a result");
        return EXIT_MEMORY;
    }
    return r->out ? EXIT_OK : message_flush();
}

int results_write(struct results *r, const char *input, const struct transcript *t, unsigned mask)
{
    struct reported reported = { .n = 0 };
    int code = EXIT_OK;
    for (int f = 0; f < N_WRITERS; f++) {
        if (!(r->files.naming.formats & mask & 1u << f)) continue;
        const int one = r->files.naming.dir ? write_file(r, input, t, f, &reported) : write_stdout(r, input, t, f);
        if (code == EXIT_OK) code = one;
    }
    if (reported.n && !r->quiet) message("%s: wrote %s", sound_name(input), reported.text);
    return code;
}

void results_free(struct results *r)
{
    result_files_free(&r->files);
    memset(r, 0, sizeof *r);
}

/* ---- subtitles of verbs that print lines by default -------------------------------------------------------------------------- */

int cue_results_open(struct cue_results *c, const struct cue_results_opts *o, char *input, int json, int quiet)
{
    static const int formats[] = { 0, WRITER_SRT, WRITER_VTT, WRITER_ASS };
    *c = (struct cue_results){ .input = input, .on = o->format > 0 };
    if (!c->on && o->dir) return message_usage("--output-dir is for the output formats srt, vtt and ass");
    if (!c->on) return EXIT_OK;
    if (json) return message_usage("--json and --output-format exclude each other");
    c->results = (struct results){ .files = { .naming = { .dir = o->dir, .formats = 1u << formats[o->format], .n_inputs = 1 },
                                              .path_guard = &c->path_guard },
                                   .inputs = &c->input, .n = 1, .quiet = quiet };
    return results_check(&c->results);
}

int cue_results_write(struct cue_results *c, const struct transcript *t)
{
    return results_write(&c->results, c->input, t, ~0u);
}

void cue_results_close(struct cue_results *c)
{
    results_free(&c->results);
    path_guard_free(&c->path_guard);
}
