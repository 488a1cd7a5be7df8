/* steno-hub: the table of named models. SPDX-License-Identifier: MIT */
#include "known.h"
#include "hub_env.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME, ALIASES, HUB, REPO, COMMIT, FILE_, SIZE, SHA256, FAMILY, LANGUAGES, LICENCE, MEMORY, N_COLUMNS };

int hub_known_row(struct hub_known *k, size_t i)
{
    char *column[N_COLUMNS];
    memset(k, 0, sizeof *k);
    if (!hub_known_lines[i] || strlen(hub_known_lines[i]) >= sizeof k->text) return 0;
    memcpy(k->text, hub_known_lines[i], strlen(hub_known_lines[i]) + 1);
    char *at = k->text;
    for (int c = 0; c < N_COLUMNS; c++) {
        column[c] = at;
        at += strcspn(at, "\t");
        if (*at) *at++ = '\0';
        if (strcmp(column[c], "-") == 0) column[c][0] = '\0';
    }
    k->row = i;
    k->name = column[NAME], k->aliases = column[ALIASES], k->repo = column[REPO], k->commit = column[COMMIT], k->file = column[FILE_];
    k->family = column[FAMILY], k->languages = column[LANGUAGES], k->licence = column[LICENCE], k->sha256 = column[SHA256];
    k->hub = strcmp(column[HUB], "ms") == 0 ? HUB_MS : HUB_HF;
    const int is_about = column[SIZE][0] == '~';
    k->size = column[SIZE][0] && !is_about ? strtoll(column[SIZE], NULL, 10) : -1;
    k->about_mb = is_about ? (int)strtol(column[SIZE] + 1, NULL, 10) : 0;
    k->memory_mb = (int)strtol(column[MEMORY], NULL, 10);
    return 1;
}

int hub_known_is_first(const struct hub_known *k)
{
    return k->family[0] != '\0';
}

static int is_alias(const char *aliases, const char *name)
{
    for (const char *p = aliases; *p;) {
        const size_t n = strcspn(p, ",");
        if (n == strlen(name) && strncasecmp(p, name, n) == 0) return 1;
        p += n + (p[n] == ',');
    }
    return 0;
}

int hub_known_find(struct hub_known *k, const char *name)
{
    for (size_t i = 0; hub_known_row(k, i); i++)
        if (hub_known_is_first(k) && (strcasecmp(k->name, name) == 0 || is_alias(k->aliases, name))) return 1;
    return 0;
}

int hub_known_file(struct hub_known *k, const char *file)
{
    for (size_t i = 0; hub_known_row(k, i); i++)
        if (hub_known_is_first(k) && strcmp(k->file, file) == 0 && strncmp(file, "ggml-", 5) == 0) return 1;
    return 0;
}

int hub_known_digest(char hash[HUB_HASH_SZ], int64_t *size, const char *file)
{
    struct hub_known k;
    const size_t n = strlen(file);
    for (size_t i = 0; hub_openai_lines[i]; i++) {
        const char *line = hub_openai_lines[i];
        if (strncmp(line, file, n) != 0 || line[n] != '\t' || !hub_is_hex(line + n + 1, 64)) continue;
        memcpy(hash, line + n + 1, HUB_HASH_SZ);
        *size = -1;
        return 1;
    }
    if (!hub_known_file(&k, file) || !hub_is_hex(k.sha256, 64)) return 0;
    memcpy(hash, k.sha256, HUB_HASH_SZ);
    *size = k.size;
    return 1;
}

int hub_known_files(struct hub_listing *l, const struct hub_known *k, struct hub_error *e)
{
    struct hub_known row;
    *l = (struct hub_listing){ 0 };
    for (size_t i = k->row; hub_known_row(&row, i) && strcmp(row.name, k->name) == 0; i++) {
        if (!row.file[0] || row.size < 0 || !hub_is_hex(row.sha256, 64)) {
            hub_listing_free(l);
            return 0;
        }
        if (hub_listing_add(l, row.file, row.size, row.sha256, e)) return hub_listing_free(l), -1;
    }
    return 1;
}
