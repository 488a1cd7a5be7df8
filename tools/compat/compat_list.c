/* steno: list of the dialects. SPDX-License-Identifier: MIT */
#include "compat/compat.h"
#include <stdio.h>
#include <string.h>

static const struct compat *const all[] = { compat_funasr, compat_whisper_cli, compat_whisper };

const struct compat *compat_at(int i)
{
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (const struct compat *d = all[k]; d->name; d++)
            if (i-- == 0) return d;
    return NULL;
}

const struct compat *compat_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct compat *d = all[i]; d->name; d++)
            if (strcmp(d->name, name) == 0) return d;
    return NULL;
}

const struct compat *compat_of_program(const char *called)
{
    char name[64];
    const char *slash = strrchr(called, '/'), *base = slash ? slash + 1 : called;
    const char *dot = strrchr(base, '.');
    const size_t n = dot && strcmp(dot, ".exe") == 0 ? (size_t)(dot - base) : strlen(base);
    if (n >= sizeof name) return NULL;
    memcpy(name, base, n);
    name[n] = '\0';
    return compat_find(name);
}

void compat_names(char *out, size_t n)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct compat *d = all[i]; d->name; d++)
            if (!d->refused && at < n) at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "", d->name);
}
