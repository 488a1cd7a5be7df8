/* steno: one hash for the files of models. SPDX-License-Identifier: MIT */
#include "batch/model_hash.h"
#include "cli/message.h"
#include <errno.h>
#include <string.h>

int model_hash(char hex[SHA_HEX_SZ], const steno_model *const *models, size_t n)
{
    struct digest d;
    const char *file;
    digest_begin(&d, SHA_HEX_SZ - 1, 0);
    for (size_t k = 0; k < n; k++)
        for (int i = 0; models[k] && (file = steno_model_file(models[k], i)) != NULL; i++) {
            if (digest_push_file(&d, file, -1) >= 0) continue;
            message_file(file, strerror(errno));
            digest_drop(&d);
            return EXIT_MODEL;
        }
    digest_hex(hex, &d);
    return EXIT_OK;
}
