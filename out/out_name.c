/* steno: what output files are called. SPDX-License-Identifier: MIT */
#include "out_name.h"
#include <stdlib.h>
#include <string.h>

enum { N_WORDS = 3 };

static const char *const words[N_WORDS] = { "{stem}", "{format}", "{language}" };

/* Which word stands at p, or -1. */
static int word_at(const char *p)
{
    for (int i = 0; i < N_WORDS; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0) return i;
    return -1;
}

char *out_stem(const char *input)
{
    if (strcmp(input, "-") == 0) return strdup("stdin");
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    size_t n = strlen(name);
    if (dot && strspn(name, ".") < (size_t)(dot - name)) n = (size_t)(dot - name);
    return strndup(name, n);
}

char *out_name(const char *template, const char *stem, const char *format, const char *language)
{
    const char *const value[N_WORDS] = { stem, format, language };
    size_t n = 1;
    for (const char *p = template; *p;) {
        const int w = word_at(p);
        n += w < 0 ? 1 : strlen(value[w]);
        p += w < 0 ? 1 : strlen(words[w]);
    }
    char *name = malloc(n), *to = name;
    for (const char *p = template; name && *p;) {
        const int w = word_at(p);
        const size_t k = w < 0 ? 1 : strlen(value[w]);
        memcpy(to, w < 0 ? p : value[w], k);
        to += k;
        p += w < 0 ? 1 : strlen(words[w]);
    }
    if (name) *to = '\0';
    return name;
}

size_t out_template_unknown(const char *template, const char **at)
{
    for (const char *p = template; *p; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (!end || word_at(p) >= 0) continue;
        *at = p;
        return (size_t)(end - p) + 1;
    }
    return 0;
}

const char *out_name_fault(const char *name)
{
    if (!name[0]) return "is empty";
    if (name[0] == '/') return "leaves the output folder";
    for (const char *p = name;; p++) {
        const size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') return "leaves the output folder";
        p += n;
        if (!*p) return n == 0 || (n == 1 && p[-1] == '.') ? "names a folder" : NULL;
    }
}
