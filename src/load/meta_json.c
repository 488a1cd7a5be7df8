/* steno: settings from JSON. SPDX-License-Identifier: MIT */
#include "load/meta.h"

int meta_read_json(struct meta *m, const char *prefix, const struct file *f, steno_error *e)
{
    (void)m, (void)prefix;
    return err_set(e, STENO_EUNSUPPORTED, "%s: JSON", f->name);
}
