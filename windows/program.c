/* steno: the start of the program on Windows. SPDX-License-Identifier: MIT
 *
 * Words of the command line become UTF-8. Otherwise they stay: the program expands patterns, and knows which words are paths. */
#include "win.h"
#include <shellapi.h>

static char **words_of_command(int *n)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), n);
    char **word = wide ? calloc((size_t)*n + 1, sizeof *word) : NULL;
    for (int i = 0; word && i < *n; i++) {
        if (!(word[i] = win_utf8(wide[i]))) return NULL;
    }
    if (word && word[0]) win_slashes(word[0]);
    LocalFree(wide);
    return word;
}

/* of the console, before the program */
static const DWORD stream[] = { STD_OUTPUT_HANDLE, STD_ERROR_HANDLE };
static DWORD mode_before[2];
static int has_mode[2];
static UINT code_page;

static void console_restore(void)
{
    for (int i = 0; i < 2; i++)
        if (has_mode[i]) SetConsoleMode(GetStdHandle(stream[i]), mode_before[i]);
    if (code_page) SetConsoleOutputCP(code_page);
}

/* UTF-8 and escape sequences. A program that ends by a signal leaves UTF-8 behind. */
static void console_begin(void)
{
    for (int i = 0; i < 2; i++) {
        const HANDLE h = GetStdHandle(stream[i]);
        has_mode[i] = GetConsoleMode(h, &mode_before[i]) != 0;
        if (!has_mode[i]) continue;
        SetConsoleMode(h, mode_before[i] | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        if (!code_page) code_page = GetConsoleOutputCP();
        SetConsoleOutputCP(CP_UTF8);
    }
    atexit(console_restore);
}

#undef main
int main(void)
{
    int n = 0;
    for (int fd = 0; fd < 3; fd++) _setmode(fd, _O_BINARY);
    console_begin();
    char **word = words_of_command(&n);
    if (word) return steno_main(n, word);
    fputs("steno: out of memory for the command line\n", stderr);
    return 5;
}
