/* steno: messages on standard error. SPDX-License-Identifier: MIT
 *
 * The only state concerns the two standard streams: whether a bar is on the screen, and whether a failure of standard output was
 * reported. */
#include "cli/message.h"
#include "address.h"
#include "text_rules.h"
#include "utf8.h"
#include <errno.h>
#include <stdarg.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>

static int bar_shown, output_told;

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
    if (line) {
        sink_char(&to, '\r');
        text_put(&to, TEXT_SCREEN, line, strlen(line));
        sink_text(&to, "\033[K");
    } else if (bar_shown) {
        sink_text(&to, "\r\033[K");
    }
    bar_shown = line != NULL;
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
    if (!output_told && why == EPIPE) message("standard output: the reader has gone");
    else if (!output_told) message_not_written("standard output", why);
    output_told = 1;
    return code_of_write(why);
}
