/* steno tests: a request with fields, and what became of it. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ASK_REQUEST_H
#define STENO_TESTS_ASK_REQUEST_H
#include "ask.h"
#include "harness.h"

struct request {
    struct form form;
    struct ask ask;
    struct job job;
    struct api_error e;
};

/* Begins a request. Fields are NAME=VALUE, separated by &. */
static inline void request_begin(struct request *r, const char *fields)
{
    *r = (struct request){ 0 };
    while (*fields) {
        char name[64];
        const size_t n = strcspn(fields, "&"), k = strcspn(fields, "=");
        snprintf(name, sizeof name, "%.*s", (int)k, fields);
        assert_int_equal(form_add(&r->form, name, fields + k + 1, n - k - 1, &r->e), API_OK);
        fields += n + (fields[n] == '&');
    }
}

static inline void request_free(struct request *r)
{
    ask_free(&r->ask);
    form_free(&r->form);
}
#endif
