/* steno-hub: an address as a file. SPDX-License-Identifier: MIT
 *
 * What stands at an http or https address is fetched into a file without a name, so that it can be read more than once and from anywhere.
 * A connection that fails goes on where it ended, where the server says that it is the same content still. */
#ifndef STENO_HUB_URL_FILE_H
#define STENO_HUB_URL_FILE_H
#include "http.h"
#include <stdint.h>

int url_is(const char *name); /* begins with http:// or https:// */

struct url_wish {
    const char *what;    /* the address in messages, without what may be secret */
    const char *folder;  /* for the file, NULL: /tmp */
    int64_t most;        /* bytes */
    struct http_settings http;
    void (*progress)(void *user, const char *what, int64_t n, int64_t total); /* total -1: not known; NULL: nobody wants to know */
    void *user;
};

/* @return a descriptor at the beginning of the file, or -1 */
int url_file(const char *url, const struct url_wish *w, struct hub_error *e);
#endif
