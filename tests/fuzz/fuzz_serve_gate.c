/* steno: fuzzing of a request's head. SPDX-License-Identifier: MIT
 *
 * The first line is the target, the second one the version, the others are fields. What the gate lets pass has one meaning. */
#include "http_gate.h"
#include "http_text.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_pair(void *user, const char *name, const char *value)
{
    size_t *most = user;
    if (!*name || strlen(name) + strlen(value) > *most) abort();
}

static void check_target(const char *target)
{
    size_t most = strlen(target);
    char *copy = strdup(target);
    if (!copy) return;
    if (target[0] != '/' || target[1] == '/' || strchr(target, ' ') || percent_decode(copy, 0) != strlen(copy)) abort();
    if (strlen(copy) > most) abort();
    query_each(strchr(target, '?'), check_pair, &most);
    free(copy);
}

static void check_addresses(const char *text)
{
    const struct range local = { { 0, { [10] = 0xff, [11] = 0xff, [12] = 127 } }, 104 };
    struct address a, b;
    struct range r;
    char out[ADDRESS_TEXT];
    if (address_read(&a, text, strlen(text)) == 0) {
        address_write(out, &a);
        if (address_read(&b, out, strlen(out)) || memcmp(a.b, b.b, 16) != 0) abort();
    }
    if (range_read(&r, text) == 0 && (r.n_bits < 0 || r.n_bits > 128 || !range_has(&r, &r.base))) abort();
    forwarded_client(&a, text, &local, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1), *rest = text;
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    const char *target = strsep(&rest, "\n"), *version = rest ? strsep(&rest, "\n") : "HTTP/1.1", *line;
    struct gate g;
    int n_lengths = 0, n_encodings = 0;
    check_addresses(target);
    gate_begin(&g, target, version);
    while (rest && (line = strsep(&rest, "\n"))) {
        const size_t k = strcspn(line, ":");
        const char *value = line + k + (line[k] == ':');
        value += strspn(value, " ");
        n_lengths += k == 14 && strncasecmp(line, "Content-Length", k) == 0;
        n_encodings += k == 17 && strncasecmp(line, "Transfer-Encoding", k) == 0;
        gate_field(&g, line, k, value, strlen(value));
        check_addresses(value);
    }
    if (!gate_end(&g, version)) {
        if (strlen(target) > GATE_TARGET_MAX || g.n_bytes > GATE_HEAD_MAX || g.n_fields > GATE_FIELDS_MAX) abort();
        if (n_lengths + n_encodings > 1 || (n_lengths && g.length < 0) || (n_encodings && strcmp(version, "HTTP/1.1") != 0)) abort();
        check_target(target);
    }
    free(text);
    return 0;
}
