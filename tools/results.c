/* steno: where the results of a run go. SPDX-License-Identifier: MIT */
#include "results.h"
#include "atomic_file.h"
#include "out_name.h"
#include "print.h"
#include "message.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *template_of(const struct results *r)
{
    return r->template ? r->template : OUT_NAME_DEFAULT;
}

/* Name of an input without folder and extension, with the mark of the result in hand. */
static char *marked_stem(const struct results *r, const char *input)
{
    char *stem = out_stem(input);
    if (!stem || !r->mark) return stem;
    char *marked = malloc(strlen(stem) + strlen(r->mark) + 1);
    if (marked) strcat(strcpy(marked, stem), r->mark);
    free(stem);
    return marked;
}

static char *name_of(const struct results *r, const char *input, int format, const char *language)
{
    char *stem = marked_stem(r, input);
    char *name = stem ? out_name(template_of(r), stem, writers[format].extension, language) : NULL;
    free(stem);
    return name;
}

int results_stream_text(const struct results *r)
{
    return !r->dir && !r->hold_text && r->formats == 1u << WRITER_TXT;
}

/* ---- checks before work ------------------------------------------------------------------------------------------------------ */

struct planned {
    char *name; /* below the folder */
    int input;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct planned *)a)->name, ((const struct planned *)b)->name);
}

/* An output may be nothing that this run reads or writes otherwise, and something that can be written. */
static int check_path(const struct results *r, const char *path)
{
    const int code = ledger_plan(r->ledger, path);
    const char *fault = code == EXIT_OK ? output_fault(path) : NULL;
    if (!fault) return code;
    message("%s: cannot write: %s", path, fault);
    return EXIT_OUTPUT;
}

/* Two results may not have one name, no name may leave the folder, and no result may replace what is read. */
static int check_planned(const struct results *r, struct planned *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *fault = out_name_fault(p[i].name);
        if (fault) return message_usage("--output-template: the name \"%s\" %s", p[i].name, fault);
    }
    qsort(p, n, sizeof *p, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(p[i - 1].name, p[i].name) != 0) continue;
        if (p[i - 1].input == p[i].input)
            return message_usage("two formats would be written as %s/%s; put {format} into --output-template", r->dir, p[i].name);
        return message_usage("two inputs would be written as %s/%s; give them apart", r->dir, p[i].name);
    }
    int code = EXIT_OK;
    for (size_t i = 0; i < n && code == EXIT_OK; i++) {
        char *path = output_join(r->dir, p[i].name);
        if (!path) code = EXIT_MEMORY;
        else code = check_path(r, path);
        free(path);
    }
    return code;
}

/* Languages are not known yet: their place is kept by the word itself. */
static int check_names(const struct results *r)
{
    struct planned *p = calloc((size_t)r->n * N_WRITERS, sizeof *p);
    size_t n = 0;
    int code = p ? EXIT_OK : EXIT_MEMORY;
    for (int i = 0; i < r->n * N_WRITERS && code == EXIT_OK; i++) {
        if (!(r->formats >> i % N_WRITERS & 1)) continue;
        p[n] = (struct planned){ name_of(r, r->files[i / N_WRITERS], i % N_WRITERS, "{language}"), i / N_WRITERS };
        if (!p[n].name) code = EXIT_MEMORY;
        else n++;
    }
    if (code == EXIT_OK) code = check_planned(r, p, n);
    if (code == EXIT_MEMORY) message("out of memory for the names of %d inputs", r->n);
    while (n > 0) free(p[--n].name);
    free(p);
    return code;
}

int results_check(struct results *r)
{
    const char *word;
    int code = EXIT_OK;
    const size_t n = out_template_unknown(template_of(r), &word);
    if (n) return message_usage("--output-template: %.*s is unknown; it takes {stem}, {format} and {language}", (int)n, word);
    if (r->template && !r->dir) return message_usage("--output-template needs --output-dir");
    if (!r->dir && (r->formats & (r->formats - 1)))
        return message_usage("several output formats need --output-dir; one format can go to standard output");
    for (int i = 0; i < r->n && code == EXIT_OK; i++) code = ledger_read(r->ledger, "an input", r->files[i]);
    if (code != EXIT_OK || !r->dir) return code == EXIT_OK ? ledger_plan_stdout(r->ledger) : code;
    if (r->marked && !strstr(template_of(r), "{stem}"))
        return message_usage("an input has several results here: put {stem} into --output-template");
    code = check_names(r);
    if (code != EXIT_OK) return code;
    if (output_dir_prepare(r->dir)) {
        const int no_memory = errno == ENOMEM;
        message("%s: cannot write there: %s", r->dir, strerror(errno));
        return no_memory ? EXIT_MEMORY : EXIT_OUTPUT;
    }
    return EXIT_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

/* Folders that a template names are first seen here. The output folder itself was swept by results_check. */
static void sweep_folder(struct results *r, const char *path)
{
    const size_t n = (size_t)(strrchr(path, '/') - path);
    if (!r->template || !strchr(r->template, '/') || (r->folder && strncmp(r->folder, path, n) == 0 && !r->folder[n])) return;
    free(r->folder);
    r->folder = strndup(path, n);
    if (r->folder) output_sweep(r->folder);
}

/* The names of files that were written for an input, for one line. */
struct told {
    char text[2048];
    size_t n;
};

static void tell_later(struct told *told, const char *path)
{
    const size_t room = sizeof told->text - told->n;
    const int n = snprintf(told->text + told->n, room, "%s%s", told->n ? ", " : "", path);
    if (n > 0) told->n += (size_t)n < room ? (size_t)n : room - 1;
}

static int write_file(struct results *r, const char *input, const struct transcript *t, int format, struct told *told)
{
    char *name = name_of(r, input, format, t->language);
    char *path = name ? output_join(r->dir, name) : NULL;
    int code = EXIT_MEMORY;
    struct atomic_file out;
    if (!path) message("out of memory for the name of an output");
    else code = ledger_check(r->ledger, path); /* what the language or the channels decide is known only now */
    if (code == EXIT_OK) {
        sweep_folder(r, path);
        int bad = atomic_file_open(&out, path);
        if (!bad) {
            errno = 0;
            struct sink to = print_sink(out.f);
            writers[format].write(&to, t);
            bad = atomic_file_commit(&out);
        }
        if (bad) message("%s: cannot write: %s", path, errno ? strerror(errno) : "write error");
        code = bad ? errno == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT : ledger_wrote(r->ledger, path);
        if (!bad) tell_later(told, path);
    }
    free(name);
    free(path);
    return code;
}

static int write_stdout(const struct results *r, const struct transcript *t, int format)
{
    if (results_stream_text(r)) return message_flush(); /* went out as it came */
    struct sink out = print_sink(stdout), *to = r->out ? r->out : &out;
    writers[format].write(to, t);
    if (!writers[format].ends_line) sink_char(to, '\n');
    return r->out ? EXIT_OK : message_flush();
}

int results_write(struct results *r, const char *input, const struct transcript *t, unsigned mask)
{
    struct told told = { .n = 0 };
    int code = EXIT_OK;
    for (int f = 0; f < N_WRITERS && code == EXIT_OK; f++)
        if (r->formats & mask & 1u << f) code = r->dir ? write_file(r, input, t, f, &told) : write_stdout(r, t, f);
    if (told.n && !r->quiet) message("%s: wrote %s", strcmp(input, "-") == 0 ? "standard input" : input, told.text);
    return code;
}

void results_free(struct results *r)
{
    free(r->folder);
    memset(r, 0, sizeof *r);
}
