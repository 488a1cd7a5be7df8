/* steno: patterns that cut text into pieces before tokenization. SPDX-License-Identifier: MIT */
#include "text/pretokenizer.h"

#include <stddef.h>
#include <string.h>

/* Unicode's White_Space written out: pcre2's \s also contains U+180E. */
#define SPACES "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define LAST_SPACES "[" SPACES "]+(?![^" SPACES "])|[" SPACES "]+" /* white space leaves its last character to a following word */

/* Contractions, letters, numbers, the rest, white space. GPT-2's pieces may begin with one space. Newer patterns allow any character that
 * is not a letter before letters, and keep line ends with the preceding marks. */
#define WORDS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define OTHERS "| ?[^" SPACES "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACES "]*[\\r\\n]+|" LAST_SPACES

static const struct { const char *name, *pattern; } known[] = {
    { "gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACES "\\p{L}\\p{N}]+|" LAST_SPACES },
    { "gpt2-digits-1",
      "\\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?[^" SPACES "\\p{L}\\p{N}]+|[" SPACES "]+(?![^" SPACES "\\p{N}])|[" SPACES "]+" },
    { "digits-1", WORDS "\\p{N}" OTHERS },
    { "digits-3", WORDS "\\p{N}{1,3}" OTHERS },
};

const char *pretokenizer_pattern(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].pattern;
    return NULL;
}
