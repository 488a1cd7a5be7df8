/* steno-serve: the table of routes. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ROUTES_H
#define STENO_SERVE_ROUTES_H
#include "api.h"

struct route_row {
    enum http_method method;
    const char *path;   /* a path that ends in / stands for all below it */
    int is_open;        /* 1: without a key */
    enum route route;
    api_begin *begin;
};

extern const struct route_row routes[]; /* ends with a NULL path */

/* Chooses the route of a head, after the checks of access. serve: struct serve */
const struct http_handler *routes_begin(void *serve, struct exchange *x, void **request);

/* Logs and counts a request that has no handler: its head was refused before, a route answered it at once, or it became a WebSocket. */
void routes_over(void *serve, const struct exchange *x, int complete);
#endif
