/* steno: architectures of language models. SPDX-License-Identifier: MIT
 *
 * References: transformers 5.23 (models/llama, qwen3, gemma, gemma3), and llama.cpp's keys and order of rows for GGUF files. */
#include "model/lm.h"

/* A family consists of its row. */
#define LM_FAMILY(id, ...)                                                                                                            \
    static const struct lm_arch arch_##id = { __VA_ARGS__ };                                                                          \
    static int match_##id(const struct weights *w) { return lm_match(w, &arch_##id); }                                                \
    static int describe_##id(steno_model *m, struct weights *w, steno_error *e) { return lm_describe(m, &arch_##id, w, e); }          \
    const struct family family_##id = { .name = #id, .front_end = FRONT_NONE, .task = "lm", .match = match_##id,                      \
                                        .narrow = NARROW_ROWS | NARROW_STEPS,                                                         \
                                        .describe = describe_##id, .spare = lm_spare, .ids_to_bytes = lm_ids_to_bytes }

static const char *const lm_spare[] = { "*rotary_emb.inv_freq", "vision_tower.*", "model.vision_tower.*", "multi_modal_projector.*",
                                        "model.multi_modal_projector.*", "v.*", "mm.*", "lm_head.weight", NULL };

static const char *const llama_types[] = { "llama", "mistral", NULL }, *const qwen3_types[] = { "qwen3", NULL };
static const char *const gemma_types[] = { "gemma", NULL }, *const gemma3_types[] = { "gemma3_text", "gemma3", NULL };

/* LLaMA 2 and 3, and models of that type (Touvron et al. 2023; Dubey et al. 2024), including Mistral's (Jiang et al. 2023), whose first
 * versions have a sliding window in all layers. */
LM_FAMILY(llama, .name = "llama", .types = llama_types, .flags = LM_GGUF_NEIGHBOURS | LM_WINDOWS | LM_ONE_BASE, .eps = 1e-5,
          .rope_base = 1e4, .pattern = INT32_MAX);
/* Yang et al. 2025. */
LM_FAMILY(qwen3, .name = "qwen3", .types = qwen3_types, .flags = LM_QK_NORM, .eps = 1e-6, .rope_base = 1e6);
/* Gemma Team 2024. */
LM_FAMILY(gemma, .name = "gemma", .types = gemma_types, .flags = LM_NORMS_LESS_ONE | LM_SCALED_EMBEDDING | LM_GELU | LM_TIED, .eps = 1e-6,
          .rope_base = 1e4);
/* Gemma Team 2025: five of six layers have a sliding window. */
LM_FAMILY(gemma3, .name = "gemma3", .types = gemma3_types,
          .flags = LM_QK_NORM | LM_POST_NORMS | LM_NORMS_LESS_ONE | LM_SCALED_EMBEDDING | LM_GELU | LM_TIED | LM_WINDOWS, .eps = 1e-6,
          .rope_base = 1e6, .pattern = 6);

const struct lm_arch *const lm_llama = &arch_llama, *const lm_qwen3 = &arch_qwen3, *const lm_gemma = &arch_gemma,
                            *const lm_gemma3 = &arch_gemma3;
