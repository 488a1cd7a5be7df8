/* steno: one hash for the files of models. SPDX-License-Identifier: MIT */
#include "batch/model_hash.h"
#include "cli/message.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* @return 0, or -1 with errno set */
static int push_file(struct digest *d, const char *path)
{
    static char bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f) return -1;
    for (size_t k; (k = fread(bytes, 1, sizeof bytes, f)) > 0;) digest_push(d, bytes, k);
    const int bad = ferror(f), why = errno;
    fclose(f);
    errno = why;
    return bad ? -1 : 0;
}

int model_hash(char hex[SHA_HEX_SZ], const steno_model *const *models, size_t n)
{
    struct digest d;
    const char *file;
    digest_begin(&d, SHA_HEX_SZ - 1, 0);
    for (size_t k = 0; k < n; k++)
        for (int i = 0; models[k] && (file = steno_model_file(models[k], i)) != NULL; i++) {
            if (!push_file(&d, file)) continue;
            message_file(file, strerror(errno));
            digest_drop(&d);
            return EXIT_MODEL;
        }
    digest_hex(hex, &d);
    return EXIT_OK;
}
