/* steno-serve: libwslay, loaded when the first connection is opened. SPDX-License-Identifier: MIT */
#include "ws_lib.h"
#include <dlfcn.h>
#include <string.h>

/* It stays open until the program ends, as other libraries do that are loaded. */
int wslay_load(struct wslay *w)
{
    void *lib = dlopen("libwslay.so.1", RTLD_NOW | RTLD_LOCAL), *p;
    int missing = 0;
    if (!lib) lib = dlopen("libwslay.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!lib) return -1;
#define WSLAY_BIND(f) \
    p = dlsym(lib, #f); \
    if (!p) missing = 1; \
    memcpy(&w->f, &p, sizeof p);
    WSLAY_CALLS(WSLAY_BIND)
#undef WSLAY_BIND
    return missing ? -1 : 0;
}
