/* steno: reader of PyTorch files. SPDX-License-Identifier: MIT */
#include "load/weights.h"
#include <string.h>

int torch_match(const uint8_t *head, size_t n)
{
    return n >= 4 && !memcmp(head, "PK\3\4", 4);
}

int torch_read(struct weights *w, const struct file *f, steno_error *e)
{
    (void)w;
    return err_set(e, STENO_EUNSUPPORTED, "%s: a PyTorch file", f->name);
}
