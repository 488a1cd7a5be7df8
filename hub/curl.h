/* steno-hub: loads libcurl when it is needed. SPDX-License-Identifier: MIT
 *
 * Linking it would add 8 ms to every start of the program. Its headers provide the types. */
#ifndef STENO_HUB_CURL_H
#define STENO_HUB_CURL_H
#include "hub_error.h"

#if STENO_HUB_CURL
#define CURL_DISABLE_DEPRECATION /* the installed library may be older than the headers */
#include <curl/curl.h>
#undef curl_easy_setopt /* the type checks of its macros work only for calls by name */
#undef curl_easy_getinfo

#define CURL_CALLS(X) \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_setopt) X(curl_easy_perform) X(curl_easy_getinfo) X(curl_easy_cleanup) \
    X(curl_easy_strerror) X(curl_slist_append) X(curl_slist_free_all) X(curl_version_info)

struct curl {
    void *lib;
#define CURL_FIELD(f) __typeof__(f) *f;
    CURL_CALLS(CURL_FIELD)
#undef CURL_FIELD
};

int curl_load(struct curl *c, struct hub_error *e);
#endif
#endif
