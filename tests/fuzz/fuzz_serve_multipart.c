/* steno: fuzzing of forms. SPDX-License-Identifier: MIT
 *
 * The first line is a Content-Type, the rest a body. It is read whole and byte by byte: both must give the same. */
#include "multipart.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct seen { uint64_t sum; size_t n; int depth, n_parts; };

static void sum(struct seen *s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) s->sum = (s->sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    s->n += n;
}

static int on_part(void *user, const struct multipart_part *p)
{
    struct seen *s = user;
    if (s->depth++ || ++s->n_parts > MULTIPART_PARTS_MAX || !p->name[0]) abort();
    if (strpbrk(p->file, "/\\\n\r") || (p->file[0] && !p->has_file)) abort();
    sum(s, p->name, strlen(p->name) + 1);
    sum(s, p->file, strlen(p->file) + 1);
    return 0;
}

static int on_data(void *user, const char *bytes, size_t n)
{
    struct seen *s = user;
    if (s->depth != 1 || !n) abort();
    sum(s, bytes, n);
    return 0;
}

static int on_end(void *user)
{
    struct seen *s = user;
    if (s->depth-- != 1) abort();
    sum(s, "]", 1);
    return 0;
}

/* @return 0: a whole form, -1: not one, -2: the Content-Type is wrong */
static int read_form(struct seen *s, const char *type, const char *body, size_t n, size_t step)
{
    const struct multipart_events ev = { on_part, on_data, on_end, s };
    const char *why = NULL;
    struct multipart *m = multipart_open(type, &ev, &why);
    if (!m && !why) abort();
    if (!m) return -2;
    int rc = 0;
    for (size_t at = 0; !rc && at < n; at += step) rc = multipart_add(m, body + at, step < n - at ? step : n - at);
    if (!rc) rc = multipart_end(m);
    if ((rc != 0) != (multipart_why(m) != NULL)) abort();
    multipart_close(m);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const uint8_t *line = memchr(data, '\n', n);
    const size_t n_type = line ? (size_t)(line - data) : n;
    char *type = malloc(n_type + 1);
    if (!type) return 0;
    memcpy(type, data, n_type);
    type[n_type] = '\0';
    const size_t from = n_type + (line != NULL);
    struct seen whole = { 0 }, bytes = { 0 };
    const int a = read_form(&whole, type, (const char *)data + from, n - from, n - from ? n - from : 1);
    const int b = read_form(&bytes, type, (const char *)data + from, n - from, 1);
    if (a != b || whole.sum != bytes.sum || whole.n != bytes.n || (a == 0 && whole.depth)) abort();
    free(type);
    return 0;
}
