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
    char *stem = name ? malloc(n + 1) : NULL;
    if (stem) memcpy(stem, name, n), stem[n] = '\0';
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

/* Bytes of the slash or control character at p; 0: another character. */
static size_t odd_at(const char *p)
{
    const unsigned char first = (unsigned char)p[0], next = (unsigned char)p[first != 0];
    if (first == 0xc2 && next >= 0x80 && next < 0xa0) return 2;
    return first == '/' || first == 0x7f || (first && first < ' ');
}

char *out_part(const char *text)
{
    if (!text[0] || is_dots(text, strlen(text))) return strdup("-");
    char *part = strdup(text), *to = part;
    for (const char *p = part; p && *p;) {
        const size_t odd = p == part && *p == '.' ? 1 : odd_at(p);
        *to++ = odd ? '-' : *p;
        p += odd ? odd : 1;
    }
    if (part) *to = '\0';
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
static const char *value_at(const char **p, size_t *n, const struct out_words *values)
{
    const int w = word_at(*p);
    const char *from = *p;
    *p += w < 0 ? 1 : strlen(words[w].word);
    *n = (size_t)(*p - from);
    if (w < 0) return from;
    const char *value = *(const char *const *)(const void *)((const char *)values + words[w].at);
    if (value) *n = strlen(value);
    return value ? value : from;
}

char *out_name(const char *template, const struct out_words *values)
{
    size_t n = 1, k;
    for (const char *p = template; *p; n += k) value_at(&p, &k, values);
    char *name = malloc(n), *to = name;
    for (const char *p = template; name && *p; to += k) {
        const char *value = value_at(&p, &k, values);
        memcpy(to, value, k);
    }
    if (name) *to = '\0';
    return name;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------------------- */

/* The part that a word without a value is. */
static enum out_part part_of(const char *word, const struct out_words *values)
{
    static const struct { const char *word; enum out_part part; } parts[] = {
        { "{language}", OUT_PART_LANGUAGE }, { "{date}", OUT_PART_DATE }, { "{time}", OUT_PART_TIME },
    };
    const int w = word_at(word);
    if (w < 0 || *(const char *const *)(const void *)((const char *)values + words[w].at)) return OUT_PART_TEXT;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(words[w].word, parts[i].word) == 0) return parts[i].part;
    return OUT_PART_TEXT;
}

static void pattern_add(struct out_pattern *p, const char *text, size_t n, enum out_part part)
{
    memcpy(p->text + p->n, text, n);
    memset(p->kinds + p->n, part, n);
    p->n += n;
}

int out_pattern_make(struct out_pattern *p, const char *template, const struct out_words *values, int is_marked)
{
    size_t n = 1, k;
    const char *at = template ? template : OUT_NAME_DEFAULT;
    for (const char *q = at; *q; n += k + 1) value_at(&q, &k, values);
    *p = (struct out_pattern){ .text = malloc(n), .kinds = malloc(n) };
    if (!p->text || !p->kinds) {
        out_pattern_free(p);
        return -1;
    }
    while (*at) {
        const int is_stem = word_at(at) >= 0 && strcmp(words[word_at(at)].word, "{stem}") == 0;
        const enum out_part part = part_of(at, values);
        const char *value = value_at(&at, &k, values);
        if (part) pattern_add(p, "?", 1, part);
        else pattern_add(p, value, k, OUT_PART_TEXT);
        if (is_stem && is_marked) pattern_add(p, "?", 1, OUT_PART_MARK);
    }
    return 0;
}

void out_pattern_free(struct out_pattern *p)
{
    free(p->text);
    free(p->kinds);
    *p = (struct out_pattern){ 0 };
}

int out_pattern_is_name(const struct out_pattern *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->kinds[i]) return 0;
    return 1;
}

/* Do n bytes have the form of `shape`, where 0 means any digit? */
static int has_shape(const char *text, size_t n, const char *shape)
{
    if (n != strlen(shape)) return 0;
    for (size_t i = 0; i < n; i++)
        if (shape[i] == '0' ? !(text[i] >= '0' && text[i] <= '9') : text[i] != shape[i]) return 0;
    return 1;
}

/* Is it the code of a language, or nothing, as of a model without languages? */
static int is_language(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || text[i] == '-')) return 0;
    return 1;
}

/* Skips a word and the digits after it, if they are there. */
static size_t skip_number(const char *text, size_t n, const char *word)
{
    const size_t k = strlen(word);
    size_t i = k;
    if (n <= k || strncmp(text, word, k) != 0) return 0;
    while (i < n && text[i] >= '0' && text[i] <= '9') i++;
    return i > k ? i : 0;
}

void out_mark_text(char mark[OUT_MARK_SZ], int track, int channel, const char *task)
{
    int n = 0;
    mark[0] = '\0';
    if (track) n += snprintf(mark, OUT_MARK_SZ, ".track%d", track);
    if (channel >= 0) n += snprintf(mark + n, OUT_MARK_SZ - (size_t)n, ".ch%d", channel);
    if (task) snprintf(mark + n, OUT_MARK_SZ - (size_t)n, ".%s", task);
}

size_t out_mark_length(const char *text, int has_track, int has_channel)
{
    const size_t n = strlen(text), track = has_track ? skip_number(text, n, ".track") : 0;
    if (has_track && !track) return 0;
    return track + (has_channel ? skip_number(text + track, n - track, ".ch") : 0);
}

/* Is it a mark such as ".track2.ch1.translation"? */
static int is_mark(const char *text, size_t n)
{
    static const char *const tasks[] = { "", ".transcript", ".translation" };
    size_t at = skip_number(text, n, ".track");
    at += skip_number(text + at, n - at, ".ch");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (n - at == strlen(tasks[i]) && memcmp(text + at, tasks[i], n - at) == 0) return 1;
    return 0;
}

static int is_part(enum out_part part, const char *text, size_t n)
{
    switch (part) {
    case OUT_PART_LANGUAGE: return is_language(text, n);
    case OUT_PART_DATE: return has_shape(text, n, "0000-00-00");
    case OUT_PART_TIME: return has_shape(text, n, "00-00-00");
    case OUT_PART_MARK: return is_mark(text, n);
    default: return 0;
    }
}

/* Known text at both ends of the pattern must be that of the name. */
static int ends_fit(const struct out_pattern *p, size_t from, size_t to, const char *name, size_t n)
{
    size_t i = 0;
    for (; from + i < to && !p->kinds[from + i]; i++)
        if (i >= n || name[i] != p->text[from + i]) return 0;
    if (from + i == to) return i == n;
    for (size_t k = 0; !p->kinds[to - 1 - k]; k++)
        if (k >= n || name[n - 1 - k] != p->text[to - 1 - k]) return 0;
    return 1;
}

int out_pattern_match(const struct out_pattern *p, size_t from, size_t to, const char *name)
{
    enum { PART_MAX = 48 };
    const size_t n = strlen(name);
    char here[OUT_PATTERN_MAX + 1], next[OUT_PATTERN_MAX + 1]; /* 1: the pattern so far may end at this byte of the name */
    if (n > OUT_PATTERN_MAX || !ends_fit(p, from, to, name, n)) return 0;
    memset(here, 0, n + 1);
    here[0] = 1;
    for (size_t i = from; i < to; i++) {
        const enum out_part part = (enum out_part)p->kinds[i];
        memset(next, 0, n + 1);
        for (size_t at = 0; at <= n; at++) {
            if (!here[at]) continue;
            if (!part && at < n && name[at] == p->text[i]) next[at + 1] = 1;
            for (size_t k = 0; part && k <= PART_MAX && at + k <= n; k++)
                if (is_part(part, name + at, k)) next[at + k] = 1;
        }
        memcpy(here, next, n + 1);
    }
    return here[n];
}

/* ---- what templates have ----------------------------------------------------------------------------------------------------- */

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
