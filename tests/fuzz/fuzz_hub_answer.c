/* steno: fuzzing of what hubs answer. SPDX-License-Identifier: MIT
 *
 * The first byte selects the answer, the rest is its text. Names that are taken from it lead into a folder alone. */
#include "json_scan.h"
#include "listing.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* `names`: without sizes and hashes. */
static void check(const struct hub_listing *l, int names)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct hub_file *f = &l->f[i];
        if (hub_path_fault(f->path) || (f->size < 0) != names) abort();
        if (!names && !hub_is_hex(f->hash, 64) && !hub_is_hex(f->hash, 40)) abort();
        if (f->blob[0] && !hub_is_hex(f->blob, 40)) abort();
        if (hub_listing_find(l, f->path) != f) abort(); /* twice */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    enum { MOST = 8 };
    struct hub_listing l = { 0 };
    struct hub_error e = { 0 };
    struct hub_hit hits[MOST];
    char commit[41] = "";
    int found = 0;
    if (!n) return 0;
    char *text = malloc(n);
    if (!text) return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\0';
    switch (data[0] % 6) {
    case 0: hub_listing_hf(&l, text, "a/b", &e); break;
    case 1: hub_listing_ms(&l, text, "a/b", &e); break;
    case 2:
        if (hub_names_hf(&l, commit, text, "a/b", &e) == HUB_OK && !hub_is_commit(commit)) abort();
        break;
    case 3: found = hub_hits_hf(hits, MOST, text, "search", &e); break;
    case 4: found = hub_hits_ms(hits, MOST, text, "search", &e); break;
    default: {
        struct json_path j;
        json_path_begin(&j, text);
        while (json_path_next(&j))
            if (strlen(j.at) != j.n || j.n >= sizeof j.at) abort();
    }
    }
    check(&l, data[0] % 6 == 2);
    if (found > MOST) abort();
    for (int i = 0; i < found; i++)
        if (hub_id_fault(hits[i].id)) abort();
    hub_listing_free(&l);
    free(text);
    return 0;
}
