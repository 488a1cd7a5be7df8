/* steno-hub: loads libcurl when it is needed. SPDX-License-Identifier: MIT */
#include "curl.h"

#if STENO_HUB_CURL
#include <dlfcn.h>
#include <string.h>

/* Any TLS variant of the library works. It stays open until the program ends, because the libraries below it do not unload cleanly. */
int curl_load(struct curl *c, struct hub_error *e)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4" };
    const char *missing = NULL;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < sizeof names / sizeof *names && !c->lib; i++) c->lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->lib) {
        return hub_fail(e, HUB_ENET,
                        "libcurl is not installed, and downloads need it: install it (Debian, Ubuntu: libcurl4; Fedora: libcurl), or "
                        "download the files by other means");
    }
    void *p;
#define CURL_BIND(f) \
    p = dlsym(c->lib, #f); \
    if (!p) missing = #f; \
    memcpy(&c->f, &p, sizeof p);
    CURL_CALLS(CURL_BIND)
#undef CURL_BIND
    if (missing) return hub_fail(e, HUB_ENET, "the installed libcurl lacks %s: install 7.64 or newer", missing);
    if (c->curl_global_init(CURL_GLOBAL_DEFAULT)) return hub_fail(e, HUB_ENET, "libcurl cannot be initialised");
    return HUB_OK;
}
#else
typedef int curl_is_left_out; /* a translation unit must contain a declaration */
#endif
