/* steno: fuzzing of header fields, addresses and names. SPDX-License-Identifier: MIT
 *
 * Lines of the input are header fields; the whole is an address, a page, a path and a name, too. */
#include "http.h"
#include "hub_name.h"
#include "model_name.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What a page is about is a valid name, revision and path. */
static void check_page(const char *text)
{
    static char hf[] = "https://huggingface.co", ms[] = "http://127.0.0.1:8000/hub";
    const struct hub_env env = { .hub = { [HUB_HF] = { .endpoint = hf }, [HUB_MS] = { .endpoint = ms } } };
    struct hub_spec spec;
    int hub;
    if (hub_page_read(&spec, &hub, &env, text)) return;
    if (hub < 0 || hub >= N_HUBS || hub_id_fault(spec.id)) abort();
    if ((spec.rev[0] && hub_revision_fault(spec.rev)) || (spec.file[0] && hub_path_fault(spec.file))) abort();
}

static void check_texts(const char *text)
{
    char origin[HUB_ORIGIN_SZ], again[HUB_ORIGIN_SZ];
    struct hub_spec spec;
    struct hub_error e;
    if (hub_origin(origin, text) == 0) {
        if (strlen(origin) >= sizeof origin || strchr(origin, '@') || strchr(origin + 8, '/')) abort();
        if (hub_origin(again, origin) || strcmp(origin, again) != 0) abort();
    }
    if (!hub_path_fault(text) && (text[0] == '/' || strstr(text, "//") || strcmp(text, "..") == 0 || strncmp(text, "../", 3) == 0 ||
                                  strstr(text, "/../") || strchr(text, '\\')))
        abort();
    if (hub_spec_read(&spec, text, &e) == HUB_OK && (hub_id_fault(spec.id) || (spec.file[0] && hub_path_fault(spec.file)))) abort();
    check_page(text);
    char *escaped = hub_escape(text, "/");
    if (escaped && strspn(escaped, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%") != strlen(escaped)) abort();
    free(escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct http_fields f;
    http_fields_begin(&f);
    char *text = malloc(n + 1);
    if (!text) return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t k = end ? (size_t)(end - text) + 1 - at : n - at;
        http_fields_push(&f, text + at, k);
        at += k;
    }
    if (f.length < -1 || f.range_begin < -1 || f.range_total < -1 || f.linked_size < -1 || (f.retry_s < 0 && f.retry_s != -1)) abort();
    if (f.range_begin >= 0 && f.range_total >= 0 && f.range_begin >= f.range_total) abort();
    if (strchr(f.etag, '"') || strchr(f.next, '>')) abort();
    check_texts(text);
    free(text);
    return 0;
}
