/* steno: messages and printed values. SPDX-License-Identifier: MIT
 *
 * The only state concerns the two standard streams: whether a bar is on the screen, and whether a failure of standard output was
 * reported. */
#include "cli/message.h"
#include "address.h"
#include "path_guard.h"
#include "sink.h"
#include "text_rules.h"
#include "utf8.h"
#include "write.h"
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int bar_shown; /* the server opens models on several threads */
static int output_reported;

static void message_list(const char *fmt, va_list ap)
{
    char raw[4096], clean[sizeof raw];
    vsnprintf(raw, sizeof raw, fmt, ap);
    address_hide(raw);
    utf8_printable(clean, sizeof clean, raw);
    message_bar(NULL);
    fprintf(stderr, "steno: %s\n", clean);
}

void message(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_list(fmt, ap);
    va_end(ap);
}

int message_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_list(fmt, ap);
    va_end(ap);
    return EXIT_USAGE;
}

void message_file(const char *file, const char *reason)
{
    const size_t n = strlen(file);
    const int begins = strncmp(reason, file, n) == 0 && strchr(": /", reason[n]) && reason[n]; /* '/': a file inside that folder */
    if (!n) message("\"\": %s", reason + (begins ? strspn(reason, ": ") : 0)); /* a name may be empty */
    else if (begins) message("%s", reason);
    else message("%s: %s", file, reason);
}

void message_bar(const char *line)
{
    struct sink to = sink_to_stream(stderr);
    const int was_shown = atomic_exchange(&bar_shown, line != NULL);
    if (line) {
        sink_char(&to, '\r');
        text_put(&to, TEXT_SCREEN, line, strlen(line));
        sink_text(&to, "\033[K");
    } else if (was_shown) {
        sink_text(&to, "\r\033[K");
    }
}

int message_model_error(const char *file, int status, const char *reason)
{
    if (!reason[0]) reason = steno_status_text(status);
    if (file) message_file(file, reason);
    else message("%s", reason);
    return status == STENO_ENOMEM ? EXIT_MEMORY : status == STENO_EARG ? EXIT_USAGE : EXIT_MODEL;
}

static int code_of_write(int why)
{
    return why == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

int message_not_written(const char *path, int why)
{
    message("%s: cannot write: %s", path, why ? strerror(why) : "write error");
    return code_of_write(why);
}

int message_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    const int why = errno;
    if (!output_reported && why == EPIPE) message("standard output: the reader has gone");
    else if (!output_reported) message_not_written("standard output", why);
    output_reported = 1;
    return code_of_write(why);
}

/* ---- files that are both read and written ------------------------------------------------------------------------------------ */

static const char standard_output[] = "standard output"; /* a path in messages */

int path_guard_code(const struct path_guard *l, int status)
{
    const struct path_guard_refusal *r = &l->refused;
    switch (status) {
    case LEDGER_OK: return EXIT_OK;
    case LEDGER_NO_MEMORY: message("out of memory for the names of %zu files", l->n); return EXIT_MEMORY;
    case LEDGER_PLANNED_TWICE:
        return message_usage("%s and %s would be one file; choose another --output-dir or --output-template", r->other, r->path);
    case LEDGER_WRITTEN: return message_usage("%s was written for another input of this run; it stays", r->path);
    default:
        return message_usage("%s is %s and would be overwritten%s", r->path, r->what,
                             strcmp(r->path, standard_output) == 0 ? "" : "; choose another --output-dir");
    }
}

int path_guard_code_stdout(struct path_guard *l)
{
    return path_guard_code(l, path_guard_plan_open(l, STDOUT_FILENO, standard_output));
}

int path_guard_code_read(struct path_guard *l, const char *what, const char *path)
{
    struct path_guard only = { 0 };
    if (l) return path_guard_code(l, path_guard_read(l, what, path));
    int code = path_guard_code_stdout(&only);
    if (code == EXIT_OK) code = path_guard_code(&only, path_guard_read(&only, what, path));
    path_guard_free(&only);
    return code;
}

/* ---- values on C streams ----------------------------------------------------------------------------------------------------- */

void print_json(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    utf8_json(&to, s);
}

void print_json_stripped(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    write_json_stripped(&to, s);
}

void print_json_number(FILE *f, double value)
{
    struct sink to = sink_to_stream(f);
    write_json_number(&to, value);
}

void print_stripped(FILE *f, const char *s)
{
    struct sink to = sink_to_stream(f);
    write_stripped(&to, TEXT_TSV, s);
}

void print_time(FILE *f, int64_t ms)
{
    struct sink to = sink_to_stream(f);
    write_time(&to, ms, 0, '.');
}

void print_name(FILE *f, const char *s, int width)
{
    char clean[1 << 14];
    utf8_printable(clean, sizeof clean, s);
    fprintf(f, "%-*s", width, clean);
}
