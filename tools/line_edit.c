/* steno: lines that somebody types. SPDX-License-Identifier: MIT */
#include "line_edit.h"
#include "message.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if STENO_LIBEDIT
#include <editline/readline.h>
#endif

int line_edit_open(struct line_edit *in)
{
    *in = (struct line_edit){ .is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) };
    return EXIT_OK;
}

#if STENO_LIBEDIT
static char *edit(struct line_edit *in, const char *prompt)
{
    free(in->line);
    rl_outstream = stderr; /* answers alone go to standard output */
    in->line = readline(prompt);
    if (in->line && *in->line) add_history(in->line);
    return in->line;
}
#endif

char *line_edit_next(struct line_edit *in, const char *prompt)
{
#if STENO_LIBEDIT
    if (in->is_terminal) return edit(in, prompt);
#endif
    if (in->is_terminal) fputs(prompt, stderr);
    errno = 0;
    ssize_t n = getline(&in->line, &in->cap, stdin);
    if (n < 0) {
        in->error = ferror(stdin) || errno == ENOMEM ? errno : 0;
        return NULL;
    }
    while (n && (in->line[n - 1] == '\n' || in->line[n - 1] == '\r')) in->line[--n] = '\0';
    return in->line;
}

int line_edit_failed(const struct line_edit *in)
{
    if (!in->error) return EXIT_OK;
    message("standard input: %s", strerror(in->error));
    return in->error == ENOMEM ? EXIT_MEMORY : EXIT_INPUT;
}

void line_edit_close(struct line_edit *in)
{
    free(in->line);
}
