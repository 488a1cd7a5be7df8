/* steno-hub: downloads a URL to a temporary file. SPDX-License-Identifier: MIT
 *
 * An http or https URL is fetched into an unnamed file, so that it can be read repeatedly and at any position. A failed connection is
 * resumed if the server confirms that the content is the same. */
#ifndef STENO_HUB_URL_FILE_H
#define STENO_HUB_URL_FILE_H
#include "http.h"
#include <stdint.h>

int url_is(const char *name); /* begins with http:// or https:// */

struct url_wish {
    const char *what;    /* the URL in messages, without possible secrets */
    const char *folder;  /* for the file; NULL: /tmp */
    int64_t most;        /* maximum bytes */
    struct http_settings http;
    void (*progress)(void *user, const char *what, int64_t n, int64_t total); /* total -1: not known; may be NULL */
    void *user;
};

/* @return a descriptor at the beginning of the file, or -1 */
int url_file(const char *url, const struct url_wish *w, struct hub_error *e);
#endif
