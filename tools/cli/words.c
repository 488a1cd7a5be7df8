/* steno: words of a command line. SPDX-License-Identifier: MIT */
#include "cli/words.h"
#include <string.h>

void shell_word(struct sink *f, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        sink_text(f, word);
        return;
    }
    sink_char(f, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'') sink_text(f, "'\\'");
        sink_char(f, *p);
    }
    sink_char(f, '\'');
}
