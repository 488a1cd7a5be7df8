/* steno: Fun-ASR-Nano with random weights. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "model/funasr_random.h"
#include "model/lm_random.h"
#include "model/nano.h"

static void add_block(struct funasr_random *w, int32_t i, uint64_t d)
{
    static const char *const part[] = { "self_attn.linear_q", "self_attn.linear_k", "self_attn.linear_v", "self_attn.linear_out" };
    char prefix[NAME_MAX_LEN];
    snprintf(prefix, sizeof prefix, "audio_adaptor.blocks.%d", (int)i);
    random_norm(w, prefix, "norm1", d);
    for (int k = 0; k < 4; k++) random_matrix(w, prefix, part[k], d, d);
    random_norm(w, prefix, "norm2", d);
    random_matrix(w, prefix, "feed_forward.w_1", d / 4, d);
    random_matrix(w, prefix, "feed_forward.w_2", d, d / 4);
}

int nano_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e)
{
    const struct nano_shape s = {
        .enc = { .d = 512, .heads = 4, .d_ff = 2048, .layers = 50, .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6, .width = 560 },
        .more_layers = 20, .adp = { .d_in = 512, .d = 1024, .d_ff = 2048, .layers = 2, .heads = 8, .downsample = 1 },
    };
    const struct random_sanm dims = { 512, 2048, 11 };
    struct funasr_random w;
    funasr_random_begin(&w, r, a, nano_architecture, type, seed, e);
    nano_put_settings(&w.g, &s);
    random_sanm_encoder(&w, &dims, 560, s.enc.layers, s.more_layers);
    random_matrix(&w, "audio_adaptor", "linear1", 2048, 512);
    random_matrix(&w, "audio_adaptor", "linear2", 1024, 2048);
    for (int32_t i = 0; i < s.adp.layers; i++) add_block(&w, i, 1024);
    lm_random_add(&w, lm_shape_find("qwen3-0.6b"));
    return funasr_random_end(&w, f, e);
}
