/* steno-serve: the fields of a form or a query, and their values. SPDX-License-Identifier: MIT */
#include "form.h"
#include "sink.h"
#include "utf8.h"
#include "word_near.h"
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 40 }; /* bytes of a value in a message */
#define NO_END 1e15   /* upper ends of ranges from here on are no limits for users */

/* ---- fields -------------------------------------------------------------------------------------------------------------------- */

static int no_memory(struct api_error *e, const char *name)
{
    return api_fail(e, API_internal_error, name, "out of memory for the field %s", name);
}

/* Is `name` the field, or a member of it: field[key]? */
static int is_of(const char *name, const char *field)
{
    const size_t n = strlen(field);
    return strncmp(name, field, n) == 0 && (!name[n] || name[n] == '[');
}

static int has_name(const struct form *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->field[i].name, name) == 0) return 1;
    return 0;
}

static int check_new(const struct form *f, const char *name, const char *value, size_t n, struct api_error *e)
{
    const size_t n_name = strlen(name);
    if (!n_name || n_name > FORM_NAME_MAX || utf8_invalid_at(name) >= 0)
        return api_fail(e, API_bad_request, NULL, "the name of a field is not 1 to %d bytes of UTF-8", FORM_NAME_MAX);
    if (n > FORM_VALUE_MAX)
        return api_fail(e, API_invalid_value, name, "%.100s has more than %d bytes: shorten it", name, FORM_VALUE_MAX);
    if (memchr(value, '\0', n)) return api_fail(e, API_invalid_value, name, "%.100s has a NUL byte: send text", name);
    if (f->n == FORM_VALUES_MAX)
        return api_fail(e, API_bad_request, name, "there are more than %d values of fields", FORM_VALUES_MAX);
    if (f->bytes + n_name + n > FORM_TEXT_MAX)
        return api_fail(e, API_bad_request, name, "the fields have more than %d bytes together", FORM_TEXT_MAX);
    return API_OK;
}

int form_add(struct form *f, const char *name, const char *value, size_t n, struct api_error *e)
{
    const size_t n_name = strlen(name), k = n_name > 2 && strcmp(name + n_name - 2, "[]") == 0 ? n_name - 2 : n_name;
    if (check_new(f, name, value, n, e) != API_OK) return (int)e->code;
    struct form_field *to = &f->field[f->n];
    *to = (struct form_field){ .name = strndup(name, k), .value = malloc(n + 1), .n = n };
    const int is_new = to->name && !has_name(f, to->name);
    if (!to->name || !to->value) no_memory(e, name);
    else if (is_new && f->n_names == FORM_FIELDS_MAX)
        api_fail(e, API_bad_request, name, "there are fields of more than %d names", FORM_FIELDS_MAX);
    else {
        memcpy(to->value, value, n);
        to->value[n] = '\0';
        if (utf8_invalid_at(to->value) >= 0) api_fail(e, API_invalid_value, name, "%.100s is not valid UTF-8", name);
    }
    if (e->code != API_OK) {
        free(to->name);
        free(to->value);
        return (int)e->code;
    }
    f->n++;
    f->n_names += is_new;
    f->bytes += n_name + n;
    return API_OK;
}

void form_free(struct form *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->field[i].name);
        free(f->field[i].value);
    }
    memset(f, 0, sizeof *f);
}

int form_has(const struct form *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (f->field[i].n && is_of(f->field[i].name, name)) return 1;
    return 0;
}

void form_use(struct form *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (is_of(f->field[i].name, name)) f->field[i].used = 1;
}

int form_rename(struct form *f, const char *name, const char *to, struct api_error *e)
{
    const size_t n = strlen(name);
    for (int i = 0; i < f->n; i++) {
        struct form_field *x = &f->field[i];
        if (!is_of(x->name, name)) continue;
        struct sink_memory memory = { 0 };
        struct sink s = sink_to_memory(&memory);
        sink_text(&s, to);
        sink_text(&s, x->name + n);
        if (s.failed || !memory.p) {
            free(memory.p);
            return no_memory(e, name);
        }
        free(x->name);
        x->name = memory.p;
    }
    return API_OK;
}

int form_unused(const struct form *f, char *out, size_t n)
{
    int found = 0;
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < f->n; i++) {
        int is_first = !f->field[i].used;
        for (int k = 0; k < i && is_first; k++) is_first = f->field[k].used || strcmp(f->field[k].name, f->field[i].name) != 0;
        if (!is_first) continue;
        char name[2 * FORM_NAME_MAX];
        utf8_printable(name, sizeof name, f->field[i].name);
        const size_t k = strlen(name), comma = at ? 2 : 0;
        found++;
        if (at + comma + k + 1 > n) continue;
        memcpy(out + at, ", ", comma);
        memcpy(out + at + comma, name, k + 1);
        at += comma + k;
    }
    return found;
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

/* A value for a message, cut between characters. */
static const char *shown(char out[SHOWN + 4], const char *value)
{
    size_t k = 0, used;
    for (; value[k]; k += used) {
        utf8_decode(value + k, strlen(value + k), &used);
        if (k + used > SHOWN) break;
    }
    memcpy(out, value, k);
    memcpy(out + k, "...", 4);
    if (!value[k]) out[k] = '\0';
    return out;
}

int form_text(struct form *f, const char *name, const char **out, struct api_error *e)
{
    const char *found = NULL;
    for (int i = 0; i < f->n; i++) {
        if (strcmp(f->field[i].name, name) != 0) continue;
        if (found) return api_fail(e, API_duplicate_parameter, name, "%s is given twice: send it once", name);
        found = f->field[i].value;
        f->field[i].used = 1;
    }
    if (found && *found) *out = found;
    return API_OK;
}

int form_bool(struct form *f, const char *name, int *out, struct api_error *e)
{
    static const char *const words[] = { "false", "true", "0", "1", "no", "yes", "off", "on" };
    const char *text = NULL;
    char value[SHOWN + 4];
    if (form_text(f, name, &text, e) != API_OK || !text) return (int)e->code;
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return API_OK;
        }
    return api_fail(e, API_invalid_value, name, "%s: \"%s\" is neither true nor false", name, shown(value, text));
}

int number_read(const char *text, double *out)
{
    char *end;
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text)) return -1;
    const double x = strtod(text, &end);
    if (*end || !isfinite(x)) return -1;
    *out = x;
    return 0;
}

/* `text` as a whole number. @return 0 or -1 */
static int whole_read(const char *text, int64_t *out)
{
    const size_t sign = *text == '-' || *text == '+';
    double x;
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (strspn(text + sign, "0123456789") == strlen(text + sign) && text[sign]) return errno ? -1 : 0;
    if (number_read(text, &x) || x != floor(x) || fabs(x) > 4503599627370496.0) return -1; /* doubles have all up to 2^52 */
    *out = (int64_t)x;
    return 0;
}

static int out_of_range(const char *name, const char *what, double lo, double hi, const char *text, struct api_error *e)
{
    char value[SHOWN + 4], to[NUM_SZ];
    snprintf(to, sizeof to, hi >= NO_END ? " on" : " to %.15g", hi);
    return api_fail(e, API_invalid_value, name, "%s: \"%s\" is not a %s from %.15g%s", name, shown(value, text), what, lo, to);
}

int form_number(struct form *f, const char *name, double lo, double hi, double *out, struct api_error *e)
{
    const char *text = NULL;
    double x;
    if (form_text(f, name, &text, e) != API_OK || !text) return (int)e->code;
    if (number_read(text, &x) || x < lo || x > hi) return out_of_range(name, "number", lo, hi, text, e);
    *out = x;
    return API_OK;
}

int form_int(struct form *f, const char *name, int64_t lo, int64_t hi, int64_t *out, struct api_error *e)
{
    const char *text = NULL;
    int64_t x;
    if (form_text(f, name, &text, e) != API_OK || !text) return (int)e->code;
    if (whole_read(text, &x) || x < lo || x > hi) return out_of_range(name, "whole number", (double)lo, (double)hi, text, e);
    *out = x;
    return API_OK;
}

/* ---- words --------------------------------------------------------------------------------------------------------------------- */

enum { WORD_SZ = 64 };

/* Word i of "a|b|c". @return 0: there is none */
static int word_at(char out[WORD_SZ], const char *words, int i)
{
    for (; i > 0 && *words; i--) {
        words += strcspn(words, "|");
        words += *words == '|';
    }
    const size_t n = strcspn(words, "|");
    if (!n || n >= WORD_SZ) return 0;
    memcpy(out, words, n);
    out[n] = '\0';
    return 1;
}

int word_index(const char *text, const char *words, const char *field, struct api_error *e)
{
    char word[WORD_SZ], nearest[WORD_SZ] = "", low[SHOWN + 4], value[SHOWN + 4], all[256] = "";
    int best = -1, n = 0;
    for (char *p = strcpy(low, shown(value, text)); *p; p++) *p = (char)tolower((unsigned char)*p);
    for (; word_at(word, words, n); n++) {
        if (strcmp(text, word) == 0) return n;
        const int d = strcmp(low, word) == 0 ? 0 : word_near(low, word);
        if (d >= 0 && (best < 0 || d < best)) {
            best = d;
            strcpy(nearest, word);
        }
    }
    for (int i = 0; i < n && word_at(word, words, i); i++) {
        const size_t at = strlen(all);
        snprintf(all + at, sizeof all - at, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", word);
    }
    if (best >= 0) api_fail(e, API_invalid_value, field, "%s: unknown value \"%s\"; did you mean %s?", field, value, nearest);
    else api_fail(e, API_invalid_value, field, "%s: \"%s\" is not %s", field, value, all);
    return -1;
}

int form_word(struct form *f, const char *name, const char *words, int *out, struct api_error *e)
{
    const char *text = NULL;
    if (form_text(f, name, &text, e) != API_OK || !text) return (int)e->code;
    const int i = word_index(text, words, name, e);
    if (i >= 0) *out = i;
    return (int)e->code;
}

/* ---- values that are JSON ------------------------------------------------------------------------------------------------------ */

/* A JSON value as the text of a field; null is empty. @return malloc'd; NULL: out of memory */
static char *json_text(const json_t *v)
{
    if (json_is_null(v)) return strdup("");
    return json_is_string(v) ? strdup(json_string_value(v)) : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Adds a value of the list `name`, or with a key a member of the object `name`. */
static int add_json(struct form *f, const char *name, const char *key, const json_t *v, struct api_error *e)
{
    char member[2 * FORM_NAME_MAX + 3], *text = json_text(v);
    if (!text) return no_memory(e, name);
    const int n = key ? snprintf(member, sizeof member, "%s[%s]", name, key) : 0;
    if (n > FORM_NAME_MAX) api_fail(e, API_invalid_value, name, "%s has a key of more than %d bytes", name, FORM_NAME_MAX);
    else form_add(f, key ? member : name, text, strlen(text), e);
    free(text);
    return (int)e->code;
}

/* The one field of the name, if its value begins with the character. */
static struct form_field *json_field(struct form *f, const char *name, char first)
{
    struct form_field *found = NULL;
    int n = 0;
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->field[i].name, name) == 0) n++, found = &f->field[i];
    return n == 1 && found->value[strspn(found->value, " \t\r\n")] == first ? found : NULL;
}

/* The JSON list in a field becomes one field for each value. A text that is no JSON stays as it is. */
static int expand_list(struct form *f, const char *name, struct api_error *e)
{
    struct form_field *x = json_field(f, name, '[');
    json_t *list = x ? json_loadb(x->value, x->n, 0, NULL) : NULL;
    if (!json_is_array(list)) {
        json_decref(list);
        return API_OK;
    }
    for (size_t i = 0; i < json_array_size(list) && e->code == API_OK; i++) add_json(f, name, NULL, json_array_get(list, i), e);
    x->value[0] = '\0'; /* an empty value counts as none */
    x->n = 0;
    json_decref(list);
    return (int)e->code;
}

int form_list(struct form *f, const char *name, const char ***out, int *n, struct api_error *e)
{
    *out = NULL;
    *n = 0;
    if (!has_name(f, name) || expand_list(f, name, e) != API_OK) return (int)e->code;
    const char **all = calloc((size_t)f->n, sizeof *all);
    if (!all) return no_memory(e, name);
    for (int i = 0; i < f->n; i++) {
        if (strcmp(f->field[i].name, name) != 0) continue;
        f->field[i].used = 1;
        if (f->field[i].n) all[(*n)++] = f->field[i].value;
    }
    if (*n) *out = all;
    else free(all);
    return API_OK;
}

/* The JSON object in a field becomes one field for each member. */
static int expand_object(struct form *f, const char *name, struct api_error *e)
{
    struct form_field *x = json_field(f, name, '{');
    const char *key;
    json_t *v;
    if (!x || x->used) return API_OK;
    json_t *object = json_loadb(x->value, x->n, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(object)) {
        json_decref(object);
        return api_fail(e, API_invalid_value, name, "%s is not a JSON object", name);
    }
    x->used = 1;
    json_object_foreach(object, key, v)
        if (add_json(f, name, key, v, e) != API_OK) break;
    json_decref(object);
    return (int)e->code;
}

int form_member(struct form *f, const char *name, const char *key, const char **out, struct api_error *e)
{
    char member[2 * FORM_NAME_MAX + 3];
    if (expand_object(f, name, e) != API_OK) return (int)e->code;
    snprintf(member, sizeof member, "%s[%s]", name, key);
    return form_text(f, member, out, e);
}
