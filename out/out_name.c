/* steno: names of output files. SPDX-License-Identifier: MIT */
#include "out_name.h"
#include "address.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct out_words, field)
static const struct { const char *word; size_t at; } words[] = {
    { "{stem}", AT(stem) }, { "{ext}", AT(ext) },   { "{format}", AT(format) }, { "{language}", AT(language) }, { "{dir}", AT(dir) },
    { "{n}", AT(number) },  { "{date}", AT(date) }, { "{time}", AT(time) },     { "{model}", AT(model) },
};
enum { N_WORDS = sizeof words / sizeof *words };

/* Index of the word at p, or -1. */
static int word_at(const char *p)
{
    for (int i = 0; *p == '{' && i < N_WORDS; i++)
        if (strncmp(p, words[i].word, strlen(words[i].word)) == 0) return i;
    return -1;
}

/* The last part of an input's name, and its length without the extension. */
static const char *own_name(const char *input, size_t *n)
{
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    *n = dot && strspn(name, ".") < (size_t)(dot - name) ? (size_t)(dot - name) : strlen(name);
    return name;
}

char *out_stem(const char *input)
{
    size_t n;
    if (strcmp(input, "-") == 0) return strdup("stdin");
    char *path = address_path(input);
    const char *name = path ? own_name(path, &n) : NULL;
    char *stem = name ? strndup(name, n) : NULL;
    free(path);
    return stem;
}

const char *out_ext(const char *input)
{
    size_t n;
    const char *name = own_name(input, &n);
    return name + n + (name[n] == '.');
}

/* ---- values of the words ----------------------------------------------------------------------------------------------------- */

/* Start of the names of a path: after "https://". */
static const char *path_of(const char *input)
{
    const char *host = strstr(input, "://");
    return host ? host + 3 : input;
}

static int is_dots(const char *p, size_t n)
{
    return (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.');
}

char *out_dir_of(const char *input)
{
    const char *p = path_of(input), *end = strrchr(p, '/');
    char *dir = malloc(strlen(p) + 2), *to = dir;
    while (dir && end && p < end) {
        const size_t n = strcspn(p, "/");
        if (n && !is_dots(p, n)) {
            if (to > dir) *to++ = '/';
            memcpy(to, p, n);
            to += n;
        }
        p += n + 1;
    }
    if (dir && to == dir) *to++ = '.';
    if (dir) *to = '\0';
    return dir;
}

char *out_part(const char *text)
{
    if (!text[0] || is_dots(text, strlen(text))) return strdup("-");
    char *part = strdup(text);
    for (char *p = part; p && (p = strchr(p, '/'));) *p = '-';
    return part;
}

void out_number_text(char out[OUT_NUMBER_SZ], int index, int n)
{
    const int width = snprintf(NULL, 0, "%d", n);
    snprintf(out, OUT_NUMBER_SZ, "%0*d", width, index + 1);
}

void out_time_text(char date[OUT_TIME_SZ], char time[OUT_TIME_SZ], time_t when)
{
    struct tm at;
    date[0] = time[0] = '\0';
    if (!localtime_r(&when, &at)) return;
    strftime(date, OUT_TIME_SZ, "%Y-%m-%d", &at);
    strftime(time, OUT_TIME_SZ, "%H-%M-%S", &at);
}

int out_folder_is_beside(const char *dir)
{
    return dir[0] == '@' && (!dir[1] || dir[1] == '/');
}

int out_input_has_folder(const char *input)
{
    return strcmp(input, "-") != 0 && path_of(input) == input;
}

char *out_folder(const char *dir, const char *input)
{
    if (!out_folder_is_beside(dir)) return strdup(dir);
    const char *slash = strrchr(input, '/'), *own = slash ? input : ".";
    const size_t n = !slash ? 1 : slash > input ? (size_t)(slash - input) : 1, more = strlen(dir + 1);
    char *folder = malloc(n + more + 1);
    if (!folder) return NULL;
    memcpy(folder, own, n);
    memcpy(folder + n, dir + 1, more + 1);
    return folder;
}

/* ---- templates --------------------------------------------------------------------------------------------------------------- */

/* Value of the text at *p, which is advanced. */
static const char *value_at(const char **p, size_t *n, const struct out_words *said)
{
    const int w = word_at(*p);
    const char *from = *p;
    *p += w < 0 ? 1 : strlen(words[w].word);
    *n = (size_t)(*p - from);
    if (w < 0) return from;
    const char *value = *(const char *const *)(const void *)((const char *)said + words[w].at);
    if (value) *n = strlen(value);
    return value ? value : from;
}

char *out_name(const char *template, const struct out_words *said)
{
    size_t n = 1, k;
    for (const char *p = template; *p; n += k) value_at(&p, &k, said);
    char *name = malloc(n), *to = name;
    for (const char *p = template; name && *p; to += k) {
        const char *value = value_at(&p, &k, said);
        memcpy(to, value, k);
    }
    if (name) *to = '\0';
    return name;
}

int out_template_has(const char *template, const char *word)
{
    return strstr(template ? template : OUT_NAME_DEFAULT, word) != NULL;
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
