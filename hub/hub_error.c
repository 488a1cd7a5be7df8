/* steno-hub: errors as text and status. SPDX-License-Identifier: MIT */
#include "hub_error.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int hub_fail(struct hub_error *e, int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->status = status;
    e->unserved = 0;
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return status;
}

int hub_write_status(int why)
{
    return why == ENOMEM ? HUB_ENOMEM : HUB_EWRITE;
}

int hub_no_memory(struct hub_error *e, const char *what)
{
    return hub_fail(e, HUB_ENOMEM, "out of memory for %s", what);
}

char *hub_format(const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    const int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}
