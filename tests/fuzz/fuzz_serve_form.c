/* steno: fuzzing of fields and their values. SPDX-License-Identifier: MIT
 *
 * Lines of the input are fields, NAME=VALUE. Each is read as a value of every kind. */
#include "form.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void add_line(struct form *f, const char *line, size_t n)
{
    char name[300];
    struct api_error e = { 0 };
    const char *equals = memchr(line, '=', n);
    const size_t k = equals ? (size_t)(equals - line) : n;
    if (k >= sizeof name) return;
    memcpy(name, line, k);
    name[k] = '\0';
    if (form_add(f, name, equals ? equals + 1 : line, equals ? n - k - 1 : 0, &e) != API_OK && !e.message[0]) abort();
}

static void read_values(struct form *f, const char *name)
{
    struct api_error e[8] = { 0 };
    const char *text = "", **list;
    int flag = 0, word = 0, n;
    double x = 0;
    int64_t whole = 0;
    form_text(f, name, &text, &e[0]);
    form_bool(f, name, &flag, &e[1]);
    form_number(f, name, -1, 1, &x, &e[2]);
    form_int(f, name, -5, INT64_MAX, &whole, &e[3]);
    form_word(f, name, "json|text|verbose_json", &word, &e[4]);
    if ((flag != 0 && flag != 1) || !isfinite(x) || x < -1 || x > 1 || whole < -5 || word < 0 || word > 2) abort();
    if (form_member(f, name, "type", &text, &e[5]) == API_OK && strlen(text) > FORM_VALUE_MAX) abort();
    if (form_list(f, name, &list, &n, &e[6]) == API_OK && (n < 0 || n > FORM_VALUES_MAX)) abort();
    free(list);
    for (int i = 0; i < 8; i++)
        if ((e[i].code != API_OK) != (e[i].message[0] != '\0')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = { "a", "b", "file" };
    static struct form f; /* large */
    char unused[100];
    struct api_error e = { 0 };
    for (size_t at = 0; at < n;) {
        const uint8_t *end = memchr(data + at, '\n', n - at);
        const size_t k = end ? (size_t)(end - data) - at : n - at;
        add_line(&f, (const char *)data + at, k);
        at += k + 1;
    }
    if (form_unused(&f, unused, sizeof unused) < 0 || memchr(unused, '\0', sizeof unused) == NULL) abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) read_values(&f, names[i]);
    form_rename(&f, "a", "c", &e);
    read_values(&f, "c");
    if (f.n > FORM_VALUES_MAX || f.n_names > FORM_FIELDS_MAX || f.bytes > FORM_TEXT_MAX) abort();
    form_free(&f);
    return 0;
}
