/* steno: names of a Parakeet model's tensors. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"

struct tensor_spelling { const char *other, *nemo; };

static const struct tensor_spelling start[] = {
    { "encoder.subsampling.conv_in.", "encoder.pre_encode.conv.0." },
    { "encoder.subsampling.layers.0.depthwise_conv.", "encoder.pre_encode.conv.2." },
    { "encoder.subsampling.layers.0.pointwise_conv.", "encoder.pre_encode.conv.3." },
    { "encoder.subsampling.layers.1.depthwise_conv.", "encoder.pre_encode.conv.5." },
    { "encoder.subsampling.layers.1.pointwise_conv.", "encoder.pre_encode.conv.6." },
    { "prompt_projector.linear_1.", "prompt_kernel.0." }, { "prompt_projector.linear_2.", "prompt_kernel.2." },
    { "encoder.subsampling.layers.", "encoder.pre_encode.conv." }, { "encoder.subsampling.linear.", "encoder.pre_encode.out." },
    { "ctc_head.", "decoder.decoder_layers.0." }, { "encoder_projector.", "joint.enc." }, { "decoder.decoder_projector.", "joint.pred." },
    { "joint.head.", "joint.joint_net.2." }, { "joint.joint_net.1.", "joint.joint_net.2." },
    { "decoder.embedding.", "decoder.prediction.embed." }, { "decoder.lstm.", "decoder.prediction.dec_rnn.lstm." },
    { "preprocessor.fb", "preprocessor.featurizer.fb" }, { "preprocessor.window", "preprocessor.featurizer.window" },
};

static const struct tensor_spelling part[] = {
    { "self_attn.q_proj.", "self_attn.linear_q." }, { "self_attn.k_proj.", "self_attn.linear_k." },
    { "self_attn.v_proj.", "self_attn.linear_v." }, { "self_attn.o_proj.", "self_attn.linear_out." },
    { "self_attn.relative_k_proj.", "self_attn.linear_pos." }, { "self_attn.bias_u", "self_attn.pos_bias_u" },
    { "self_attn.bias_v", "self_attn.pos_bias_v" }, { "conv.norm.", "conv.batch_norm." },
};

static int nemo_name(const char *name, char *out, size_t n)
{
    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        if (!strncmp(name, start[i].other, strlen(start[i].other)))
            return snprintf(out, n, "%s%s", start[i].nemo, name + strlen(start[i].other)) < (int)n;
    int layer = 0, at = 0;
    char way = 0, kind[8];
    if (sscanf(name, "decoder.prediction.dec_rnn.lstm.%c" "h_l%4d.%7[a-z]%n", &way, &layer, kind, &at) == 3 && !name[at])
        return snprintf(out, n, "decoder.prediction.dec_rnn.lstm.%s_%ch_l%d", kind, way, layer) < (int)n;
    if (sscanf(name, "encoder.layers.%4d.%n", &layer, &at) != 1 || !at) return 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (!strncmp(name + at, part[i].other, strlen(part[i].other)))
            return snprintf(out, n, "encoder.layers.%d.%s%s", layer, part[i].nemo, name + at + strlen(part[i].other)) < (int)n;
    return 0;
}

int parakeet_respell(struct weights *w, steno_error *e)
{
    return weights_rename(w, nemo_name, e);
}
