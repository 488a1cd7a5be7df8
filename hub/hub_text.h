/* steno-hub: text that grows. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_HUB_TEXT_H
#define STENO_HUB_HUB_TEXT_H
#include "hub_error.h"
#include <stddef.h>

struct hub_text {
    char *p; /* [n], then a NUL; malloc'd; NULL: nothing was added */
    size_t n, cap;
    int failed; /* 1: memory ran out */
};

void hub_text_add(struct hub_text *t, const char *fmt, ...) HUB_FORMAT(2, 3);
void hub_text_json(struct hub_text *t, const char *text); /* appends a string with quotes */
#endif
