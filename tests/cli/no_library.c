/* steno tests: a library that is not installed. SPDX-License-Identifier: MIT
 *
 * Preloaded into a program it does not find the library that STENO_NO_LIBRARY names. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int);
    void *p = dlsym(RTLD_NEXT, "dlopen");
    const char *missing = getenv("STENO_NO_LIBRARY");
    memcpy(&real, &p, sizeof p);
    return name && missing && strcmp(name, missing) == 0 ? NULL : real(name, flags);
}
