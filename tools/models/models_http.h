/* steno: connections to hubs, for the verb models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_HTTP_H
#define STENO_TOOLS_MODELS_HTTP_H
#include "models/models_verbs.h"
#include "http.h"

/* @param waiting  called with `user` before a wait for the next attempt; may be NULL */
int models_open_http(struct http **out, const struct models_call *c, int which, void (*waiting)(void *, double, const char *), void *user,
                     struct hub_error *e);
#endif
