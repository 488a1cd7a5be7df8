/* steno: layer and head counts in GGUF files. SPDX-License-Identifier: MIT
 *
 * Language models of every architecture use the same keys after the architecture's name. A number that would cause a division by zero or
 * exhaust memory is refused here, before any family reads it. The family decides which keys are required. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/gguf.h"

enum { WORD_SZ = 160,
       LAYERS_MAX = 512,
       HEADS_MAX = 65536,
       WIDTH_MAX = 1 << 24 };

struct network {
    const struct weights *w;
    const char *architecture;
    steno_error *e;
};

static void word(char out[WORD_SZ], const struct network *n, const char *tail)
{
    snprintf(out, WORD_SZ, "%.80s.%s", n->architecture, tail);
}

static int number(const struct network *n, const char *tail, int32_t lo, int32_t hi, int32_t *out)
{
    char key[WORD_SZ];
    word(key, n, tail);
    *out = 0;
    return meta_int(&n->w->meta, n->w->name, key, lo, hi, 1, out, n->e);
}

/* One number for all layers, or a list with one number per layer; 0 when the key is absent. A layer without attention may have no heads. */
static int heads_of_layer(const struct network *n, const char *tail, int32_t layer, int32_t *out)
{
    char key[WORD_SZ];
    double x;
    word(key, n, tail);
    const struct meta_list *l = meta_find_list(&n->w->meta, key);
    if (!l) return number(n, tail, 1, HEADS_MAX, out);
    const int rc = meta_list_numbers(l, (uint64_t)layer, 1, &x, n->e);
    if (rc) return rc;
    if (!(x >= 0 && x <= HEADS_MAX))
        return err_set(n->e, STENO_EFORMAT, "%s: %s is %g for layer %d, want 0..%d", n->w->name, key, x, (int)layer, HEADS_MAX);
    *out = (int32_t)x;
    return STENO_OK;
}

static int check_heads(const struct network *n, int32_t layers)
{
    for (int32_t i = 0; i < layers; i++) {
        int32_t heads = 0, kv_heads = 0;
        int rc = heads_of_layer(n, "attention.head_count", i, &heads);
        if (!rc) rc = heads_of_layer(n, "attention.head_count_kv", i, &kv_heads);
        if (!rc && heads && kv_heads && heads % kv_heads)
            rc = err_set(n->e, STENO_EFORMAT, "%s: layer %d: %d heads of queries do not share %d heads of keys and values evenly",
                         n->w->name, (int)i, (int)heads, (int)kv_heads);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int check_rope(const struct network *n, int32_t d_head)
{
    int32_t rope = 0;
    const int rc = number(n, "rope.dimension_count", 1, WIDTH_MAX, &rope);
    if (rc || !rope) return rc;
    if (rope % 2) return err_set(n->e, STENO_EFORMAT, "%s: %s.rope.dimension_count is %d, want an even number", n->w->name, n->architecture,
                                 (int)rope);
    if (d_head && rope > d_head)
        return err_set(n->e, STENO_EFORMAT, "%s: %s.rope.dimension_count is %d, but a head has %d", n->w->name, n->architecture, (int)rope,
                       (int)d_head);
    return STENO_OK;
}

static int check_epsilons(const struct network *n)
{
    static const char *const tail[] = { "attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon" };
    for (int i = 0; i < 2; i++) {
        char key[WORD_SZ];
        double x;
        word(key, n, tail[i]);
        const int rc = meta_num(&n->w->meta, n->w->name, key, 1e-30, 1, 1, &x, n->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int gguf_check_network(const struct weights *w, const char *architecture, steno_error *e)
{
    const struct network n = { w, architecture, e };
    int32_t layers, width, heads, d_key, d_value;
    if (!n.architecture) return err_set(e, STENO_EFORMAT, "%s: general.architecture is missing, or no text", w->name);
    int rc = number(&n, "block_count", 1, LAYERS_MAX, &layers);
    if (!rc) rc = number(&n, "embedding_length", 1, WIDTH_MAX, &width);
    if (!rc) rc = number(&n, "attention.key_length", 1, WIDTH_MAX, &d_key);
    if (!rc) rc = number(&n, "attention.value_length", 1, WIDTH_MAX, &d_value);
    if (!rc) rc = check_heads(&n, layers);
    if (!rc) rc = heads_of_layer(&n, "attention.head_count", 0, &heads);
    if (!rc) rc = check_rope(&n, d_key ? d_key : heads ? width / heads
                                                       : 0);
    return rc ? rc : check_epsilons(&n);
}
