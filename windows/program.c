/* steno: the start of the program on Windows. SPDX-License-Identifier: MIT
 *
 * Words of the command line become UTF-8. Patterns of names stay: the program expands those of its inputs. */
#include "win.h"
#include <shellapi.h>

static int exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Gives slashes to a word, or to the value of --option=value, if it is a path: it begins as one, it exists, or its folder does. */
static void path_word(char *word)
{
    char *value = word[0] == '-' && strchr(word, '=') ? strchr(word, '=') + 1 : word + (word[0] == '@');
    char *last = strrchr(value, '\\');
    if (!last) return;
    *last = '\0';
    const int is_folder = value[0] && exists(value);
    *last = '\\';
    if (win_is_rooted(value) || is_folder || exists(value)) win_slashes(value);
}

static char **words_of_command(int *n)
{
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), n);
    char **word = wide ? calloc((size_t)*n + 1, sizeof *word) : NULL;
    for (int i = 0; word && i < *n; i++) {
        if (!(word[i] = win_utf8(wide[i]))) return NULL;
        if (i == 0) win_slashes(word[0]);
        else path_word(word[i]);
    }
    LocalFree(wide);
    return word;
}

static UINT code_page; /* of the console, before the program */

static void console_restore(void)
{
    if (code_page) SetConsoleOutputCP(code_page);
}

/* UTF-8 and escape sequences. A program that ends by a signal leaves UTF-8 behind. */
static void console_begin(void)
{
    static const DWORD stream[] = { STD_OUTPUT_HANDLE, STD_ERROR_HANDLE };
    DWORD mode;
    for (int i = 0; i < 2; i++) {
        const HANDLE h = GetStdHandle(stream[i]);
        if (!GetConsoleMode(h, &mode)) continue;
        SetConsoleMode(h, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
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
