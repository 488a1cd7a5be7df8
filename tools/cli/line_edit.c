/* steno: line input from a terminal. SPDX-License-Identifier: MIT */
#include "cli/line_edit.h"
#include "cli/message.h"
#include "cli/signals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if STENO_LIBEDIT
#include <editline/readline.h>
#include <langinfo.h>
#include <locale.h>
#endif

/* libedit splits text by the locale; here all text is UTF-8. */
static void characters_are_utf8(void)
{
#if STENO_LIBEDIT
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
#endif
}

int line_edit_open(struct line_edit *in)
{
    *in = (struct line_edit){ .is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) };
    characters_are_utf8();
    in->how = text_lines_open(&in->lines, "-", 1, TEXT_LINE_MOST, in->why, sizeof in->why);
    return line_edit_failed(in);
}

#if STENO_LIBEDIT
static char *edit(struct line_edit *in, const char *prompt)
{
    free(in->line);
    rl_outstream = stderr; /* keeps prompts off standard output, which has the answers */
    in->line = readline(prompt);
    if (in->line && *in->line) add_history(in->line);
    return in->line;
}
#endif

static char *plain(struct line_edit *in, const char *prompt)
{
    if (in->is_terminal) fputs(prompt, stderr);
    char *line = NULL;
    in->how = text_lines_next(&in->lines, &line, in->why, sizeof in->why);
    return line;
}

char *line_edit_next(struct line_edit *in, const char *prompt)
{
    signals_open_line(in->is_terminal);
#if STENO_LIBEDIT
    char *line = in->is_terminal ? edit(in, prompt) : plain(in, prompt);
#else
    char *line = plain(in, prompt);
#endif
    signals_open_line(0);
    if (!line && in->is_terminal) fputc('\n', stderr);
    return line;
}

int line_edit_failed(const struct line_edit *in)
{
    if (in->how == TEXT_FILE_READ) return EXIT_OK;
    message("standard input: %s", in->why);
    return in->how == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : EXIT_INPUT;
}

void line_edit_close(struct line_edit *in)
{
    text_lines_close(&in->lines);
    free(in->line);
}
