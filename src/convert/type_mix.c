/* steno: types of the tensors of a quantized language model. SPDX-License-Identifier: MIT */
#include "convert/type_mix.h"

#include <string.h>
#include "base/utf8.h"

static const struct type_mix mixes[] = {
    { "f32", 0, DT_F32, 1, 1, 0 }, { "f16", 1, DT_F16, 1, 1, 0 }, { "bf16", 32, DT_BF16, 1, 0, 0 }, { "q8_0", 7, DT_Q8_0, 1, 1, 0 },
    { "q5_1", 9, DT_Q5_1, 1, 1, 0 }, { "q5_0", 8, DT_Q5_0, 1, 1, 0 }, { "q4_1", 3, DT_Q4_1, 1, 1, 0 }, { "q4_0", 2, DT_Q4_0, 1, 1, 0 },
    { "q6_k", 18, DT_Q6_K, 0, 1, 0 }, { "q5_k_m", 17, DT_Q5_K, 0, 0, 0 }, { "q5_k_s", 16, DT_Q5_K, 0, 0, 0 },
    { "q4_k_m", 15, DT_Q4_K, 0, 0, 0 }, { "q4_k_s", 14, DT_Q4_K, 0, 0, 0 }, { "iq4_nl", 25, DT_IQ4_NL, 0, 0, 0 },
    { "iq4_xs", 30, DT_IQ4_XS, 0, 0, 0 }, { "q3_k_l", 13, DT_Q3_K, 0, 0, 0 }, { "q3_k_m", 12, DT_Q3_K, 0, 0, 0 },
    { "q3_k_s", 11, DT_Q3_K, 0, 0, 0 }, { "q2_k", 10, DT_Q2_K, 0, 1, 0 }, { "q5_k", 17, DT_Q5_K, 0, 1, 1 },
    { "q4_k", 15, DT_Q4_K, 0, 1, 1 }, { "q3_k", 12, DT_Q3_K, 0, 1, 1 },
};
enum { FILE_Q2_K = 10, FILE_Q3_K_S, FILE_Q3_K_M, FILE_Q3_K_L, FILE_Q4_K_S, FILE_Q4_K_M, FILE_Q5_K_S, FILE_Q5_K_M };
#define PLAIN "f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0"
#define MIXED "q6_k, q5_k_m, q5_k_s, q4_k_m, q4_k_s, iq4_nl, iq4_xs, q3_k_l, q3_k_m, q3_k_s and q2_k"
const char type_mix_plain_names[] = PLAIN, type_mix_names[] = PLAIN ", " MIXED;
const char type_mix_block_names[] = PLAIN ", q6_k, q5_k, q4_k, q3_k, q2_k";
const char type_mix_bin_names[] = "f32, f16, q8_0, q5_1, q5_0, q4_1, q4_0, q6_k, q5_k, q4_k, q3_k, q2_k";

int type_mix_is_of_lm(const struct type_mix *m)
{
    return !m->is_single;
}

int type_mix_is_block(const struct type_mix *m)
{
    return m->plain || m->in_bin;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

const struct type_mix *type_mix_find(const char *name)
{
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
        size_t n = 0;
        while (name[n] && lower(name[n]) == mixes[i].name[n]) n++;
        if (!name[n] && !mixes[i].name[n]) return &mixes[i];
    }
    return NULL;
}

int mix_may_round(const struct mix_tensor *t)
{
    return t->rows > 1 && text_ends(t->name, "weight") && !strstr(t->name, "_norm.weight") &&
           strcmp(t->name, "position_embd.weight") != 0 && strcmp(t->name, "token_types.weight") != 0;
}

/* The first eighth of the layers, the last eighth, and every third between. */
static int gets_more(int32_t i, int32_t n)
{
    return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

static int is_iq4(const struct type_mix *m)
{
    return m->base == DT_IQ4_NL || m->base == DT_IQ4_XS;
}

static enum dtype of_few_values(const struct type_mix *m, const struct mix_tensor *t)
{
    switch (m->file) {
    case FILE_Q2_K: return t->heads_share ? DT_Q4_K : DT_Q3_K;
    case FILE_Q3_K_M: return t->layer < 2 ? DT_Q5_K : DT_Q4_K;
    case FILE_Q3_K_L: return DT_Q5_K;
    default: return is_iq4(m) && t->heads_share ? DT_Q5_K : (enum dtype)m->base;
    }
}

static enum dtype of_values(const struct type_mix *m, const struct mix_tensor *t)
{
    const enum dtype type = of_few_values(m, t);
    if ((m->file == FILE_Q4_K_M || m->file == FILE_Q5_K_M) && gets_more(t->layer, t->layers)) return DT_Q6_K;
    if ((m->file == FILE_Q4_K_S && t->layer < 4) || ((type == DT_Q4_K || type == DT_Q3_K) && t->shares_values)) return DT_Q5_K;
    return type;
}

static enum dtype of_output(const struct type_mix *m)
{
    return m->file == FILE_Q2_K ? DT_Q3_K : m->file == FILE_Q3_K_M ? DT_Q4_K : m->file == FILE_Q3_K_L ? DT_Q5_K : (enum dtype)m->base;
}

static enum dtype of_down(const struct type_mix *m, const struct mix_tensor *t)
{
    const int is_early = t->layer < t->layers / 8;
    if ((m->file == FILE_Q4_K_M || m->file == FILE_Q5_K_M) && gets_more(t->layer, t->layers)) return DT_Q6_K;
    if (m->file == FILE_Q4_K_S && is_early) return DT_Q5_K;
    if (m->file == FILE_Q2_K) return DT_Q3_K;
    if (m->file == FILE_Q3_K_M) return t->layer < t->layers / 16 ? DT_Q5_K : DT_Q4_K;
    if (m->file == FILE_Q3_K_L) return DT_Q5_K;
    if (is_iq4(m) && is_early && !t->has_importance) return DT_Q5_K;
    /* few columns matter there, and these matter too much */
    if (is_early && t->has_importance && (m->base == DT_Q4_0 || m->base == DT_Q5_0))
        return m->base == DT_Q4_0 ? DT_Q4_1 : DT_Q5_1;
    return (enum dtype)m->base;
}

static int is_whole(const struct mix_tensor *t, enum dtype type)
{
    return t->k % (uint64_t)dtype_block(type) == 0;
}

/* A type of smaller blocks with at least as many bits. */
static enum dtype fall_back(const struct mix_tensor *t, enum dtype type)
{
    if (is_whole(t, type)) return type;
    static const uint8_t smaller[DT_WRITTEN] = { [DT_Q2_K] = DT_Q4_0, [DT_Q3_K] = DT_Q4_0, [DT_Q4_K] = DT_Q5_0, [DT_Q5_K] = DT_Q5_1,
                                                 [DT_Q6_K] = DT_Q8_0, [DT_IQ4_XS] = DT_IQ4_NL };
    const enum dtype other = smaller[type] ? (enum dtype)smaller[type] : type;
    return is_whole(t, other) ? other : DT_F16;
}

enum dtype mix_type(const struct type_mix *m, const struct mix_tensor *t, enum dtype *requested)
{
    enum dtype type = (enum dtype)m->base;
    *requested = type;
    if (dtype_block(type) == 1) return type;
    if (t->is_pure) return fall_back(t, type);
    if (t->is_head) type = !is_whole(t, type) || type == DT_Q8_0 ? DT_Q8_0 : DT_Q6_K;
    else if (strstr(t->name, "attn_v.weight")) type = of_values(m, t);
    else if (strstr(t->name, "ffn_down")) type = of_down(m, t);
    else if (strstr(t->name, "attn_output.weight")) type = of_output(m);
    *requested = t->is_head && type == DT_Q8_0 ? (enum dtype)m->base : type;
    return fall_back(t, type);
}
