/* steno: what people read on standard error. SPDX-License-Identifier: MIT
 *
 * The only state is about the two streams, of which a process has one each: whether a bar is on the screen, and whether the failure of
 * standard output has been told. */
#include "say.h"
#include "utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>

static int bar_shown, output_told;

static void say_list(const char *fmt, va_list ap)
{
    char raw[4096], clean[sizeof raw];
    vsnprintf(raw, sizeof raw, fmt, ap);
    utf8_printable(clean, sizeof clean, raw);
    say_bar(NULL);
    fprintf(stderr, "steno: %s\n", clean);
}

void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_list(fmt, ap);
    va_end(ap);
}

int say_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_list(fmt, ap);
    va_end(ap);
    return EXIT_USAGE;
}

void say_file(const char *file, const char *reason)
{
    const size_t n = strlen(file);
    if (strncmp(reason, file, n) == 0 && (reason[n] == ':' || reason[n] == ' ')) say("%s", reason);
    else say("%s: %s", file, reason);
}

void say_bar(const char *line)
{
    if (line) fprintf(stderr, "\r%s\033[K", line);
    else if (bar_shown) fputs("\r\033[K", stderr);
    bar_shown = line != NULL;
}

int say_model_error(const char *file, int status, const char *reason)
{
    if (!reason[0]) reason = steno_status_text(status);
    if (file) say_file(file, reason);
    else say("%s", reason);
    return status == STENO_ENOMEM ? EXIT_MEMORY : status == STENO_EARG ? EXIT_USAGE : EXIT_MODEL;
}

int say_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    if (!output_told) {
        if (errno == EPIPE) say("standard output: the reader has gone");
        else say("standard output: cannot write: %s", errno ? strerror(errno) : "write error");
    }
    output_told = 1;
    return EXIT_OUTPUT;
}
