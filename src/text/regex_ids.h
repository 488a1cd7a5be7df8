/* steno: ids selected by a pattern. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_REGEX_IDS_H
#define STENO_TEXT_REGEX_IDS_H
#include "text/vocab.h"

enum { ID_NAME_SIZE = 32 };

/* Ids that match by a name, not by their bytes: first, ..., end - 1. */
struct id_names {
    int (*write)(const void *of, int32_t id, char name[ID_NAME_SIZE]); /* @return length */
    const void *of;
    int32_t first, end;
};

/* For each id below n whose whole text matches the Perl-compatible pattern, and for each id of names (may be NULL) whose name matches, set
 * its bit in both masks (bit i % 32 of word i / 32). Bytes that are not UTF-8 never match. STENO_EARG: the pattern cannot be compiled, or
 * takes too long to match; STENO_ENOMEM */
int regex_ids(const struct vocab *v, int32_t n, const struct id_names *names, const char *pattern, uint32_t *mask, uint32_t *mask2,
              steno_error *e);
#endif
