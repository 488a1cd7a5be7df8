/* steno tests: a small Conformer of random weights. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_CONFORMER_NET_H
#define STENO_TESTS_CONFORMER_NET_H
#include "executor/net.h"
#include "plan/conformer.h"

enum { D = 32, HEADS = 2, WIDE = 48, TAPS = 5, MELS = 13, CHANNELS = 8, STACK = 8, MAX_ROWS = 200, IN = MELS * STACK + 1 };
enum { COLUMNS = 2, COLUMNS_CAUSAL = 3 };
static uint32_t behind, ahead;
static uint32_t layers = 1; /* at most 2 */
static size_t kept_most; /* bytes of products of distances that executors keep */
static int streams; /* the network is causal, with a layer norm after the filters, and works on streams in chunks of `ahead` + 1 rows */
enum { IMAGE, ROWS, KEYS };
enum { COLUMNS_SHAPE = 10 /* number of the matrix after the stem */ };

#define LAYER(i) "encoder.layers." #i "."
#define NORM(i, name) { LAYER(i) name ".weight", { D } }, { LAYER(i) name ".bias", { D } }
#define FF(i, name) { LAYER(i) name ".linear1.weight", { WIDE, D } }, { LAYER(i) name ".linear1.bias", { WIDE } }, \
                    { LAYER(i) name ".linear2.weight", { D, WIDE } }, { LAYER(i) name ".linear2.bias", { D } }
#define SHAPES(i) \
    NORM(i, "norm_feed_forward1"), FF(i, "feed_forward1"), NORM(i, "norm_self_att"), \
    { LAYER(i) "self_attn.linear_q.weight", { D, D } }, { LAYER(i) "self_attn.linear_q.bias", { D } }, \
    { LAYER(i) "self_attn.linear_k.weight", { D, D } }, { LAYER(i) "self_attn.linear_k.bias", { D } }, \
    { LAYER(i) "self_attn.linear_v.weight", { D, D } }, { LAYER(i) "self_attn.linear_v.bias", { D } }, \
    { LAYER(i) "self_attn.linear_out.weight", { D, D } }, { LAYER(i) "self_attn.linear_out.bias", { D } }, \
    { LAYER(i) "self_attn.linear_pos.weight", { D, D } }, \
    { LAYER(i) "self_attn.pos_bias_u", { HEADS, D / HEADS } }, { LAYER(i) "self_attn.pos_bias_v", { HEADS, D / HEADS } }, \
    NORM(i, "norm_conv"), { LAYER(i) "conv.pointwise_conv1.weight", { 2 * D, D, 1 } }, \
    { LAYER(i) "conv.pointwise_conv1.bias", { 2 * D } }, \
    { LAYER(i) "conv.depthwise_conv.weight", { D, 1, TAPS } }, { LAYER(i) "conv.depthwise_conv.bias", { D } }, \
    { LAYER(i) "conv.batch_norm.weight", { D } }, { LAYER(i) "conv.batch_norm.bias", { D } }, \
    { LAYER(i) "conv.batch_norm.running_mean", { D } }, { LAYER(i) "conv.batch_norm.running_var", { D } }, \
    { LAYER(i) "conv.pointwise_conv2.weight", { D, D, 1 } }, { LAYER(i) "conv.pointwise_conv2.bias", { D } }, \
    NORM(i, "norm_feed_forward2"), FF(i, "feed_forward2"), NORM(i, "norm_out")
static struct net_shape shapes[] = {
    { "encoder.pre_encode.conv.0.weight", { CHANNELS, 1, 3, 3 } }, { "encoder.pre_encode.conv.0.bias", { CHANNELS } },
    { "encoder.pre_encode.conv.2.weight", { CHANNELS, 1, 3, 3 } }, { "encoder.pre_encode.conv.2.bias", { CHANNELS } },
    { "encoder.pre_encode.conv.3.weight", { CHANNELS, CHANNELS, 1, 1 } }, { "encoder.pre_encode.conv.3.bias", { CHANNELS } },
    { "encoder.pre_encode.conv.5.weight", { CHANNELS, 1, 3, 3 } }, { "encoder.pre_encode.conv.5.bias", { CHANNELS } },
    { "encoder.pre_encode.conv.6.weight", { CHANNELS, CHANNELS, 1, 1 } }, { "encoder.pre_encode.conv.6.bias", { CHANNELS } },
    { "encoder.pre_encode.out.weight", { D, CHANNELS * COLUMNS } }, { "encoder.pre_encode.out.bias", { D } },
    SHAPES(0), SHAPES(1),
};

static void fill(struct build *b)
{
    struct conformer c = { .d = D, .heads = HEADS, .d_ff = WIDE, .taps = TAPS, .layers = layers, .n_mels = MELS, .channels = CHANNELS,
                                 .stack = STACK, .behind = behind, .ahead = ahead, .has_biases = 1, .input_scale = 2.5f, .eps = 1e-5f,
                                 .kept_most = kept_most };
    if (streams) c.is_causal = c.has_layer_norm = 1, c.image = IMAGE + 1, c.filter_rows = ROWS + 1, c.keys = KEYS + 1;
    b->plan.output = conformer_build(b, &c, "encoder");
}

/* Variances are squares: the net's tensors hold numbers of both signs. */
static void fill_positive(struct build *b)
{
    static const char *const name[] = { LAYER(0) "conv.batch_norm.running_var", LAYER(1) "conv.batch_norm.running_var" };
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        struct tensor *t = weights_find(b->p.weights, name[k]);
        assert_non_null(t);
        float *v = (float *)(uintptr_t)(const void *)((const uint8_t *)t->file->mem + t->offset);
        for (int i = 0; i < D; i++) v[i] = v[i] * v[i];
    }
    fill(b);
}

static struct net_desc const desc = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill_positive,
                                      .max_rows = MAX_ROWS, .scale = 0.4f };
#endif
