/* steno: the tensor list of a sharded model's index. SPDX-License-Identifier: MIT */
#include "load/safetensors.h"

#include <string.h>
#include "base/hash.h"

static uint32_t *slot_of(const struct promises *ps, const char *name)
{
    for (uint32_t h = hash_text(name);; h++) {
        uint32_t *slot = &ps->hash[h & ps->mask];
        if (!*slot || !strcmp(ps->p[*slot - 1].name, name)) return slot;
    }
}

struct promise *promise_find(const struct promises *ps, const char *name)
{
    const uint32_t i = *slot_of(ps, name);
    return i ? &ps->p[i - 1] : NULL;
}

int promises_index(struct promises *ps, const struct file *f, struct arena *a, steno_error *e)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)ps->n) n *= 2;
    ps->hash = arena_array(a, n, sizeof *ps->hash);
    if (!ps->hash) return err_nomem(e, n * sizeof *ps->hash, "the index of a model");
    ps->mask = n - 1;
    for (uint32_t i = 0; i < ps->n; i++) {
        uint32_t *slot = slot_of(ps, ps->p[i].name);
        if (*slot) return err_set(e, STENO_EFORMAT, "%s: weight_map names tensor %.80s twice", f->name, ps->p[i].name);
        *slot = i + 1;
    }
    return STENO_OK;
}
