/* steno tests: a small language model of random weights, as a folder. SPDX-License-Identifier: MIT
 *
 * As transformers write it: safetensors, config.json, tokenizer.json. Its tokens are bytes, "ab", and the markers of a chat. */
#ifndef STENO_TESTS_LM_FOLDER_H
#define STENO_TESTS_LM_FOLDER_H
#include "funasr_model.h"
#include "load/byte_alphabet.h"

enum { LM_D = 32, LM_HEADS = 2, LM_KV_HEADS = 1, LM_HEAD = 16, LM_FF = 48, LM_LAYERS = 2, LM_CTX = 640 };
enum { LM_PAIR = 256, LM_END_OF_TEXT, LM_BEGIN, LM_END, LM_THINK, LM_NO_THINK, LM_VOCAB };

static inline void lm_tensor(struct st_writer *w, int layer, const char *name, int rows, int cols, float mean, float scale)
{
    char full[96];
    snprintf(full, sizeof full, "model.layers.%d.%s.weight", layer, name);
    st_tensor(w, full, rows, cols, mean, scale);
}

static inline void lm_weights(const struct folder *d, int vocab)
{
    struct st_writer w = st_begin(11);
    st_tensor(&w, "model.embed_tokens.weight", vocab, LM_D, 0, 1);
    st_tensor(&w, "model.norm.weight", LM_D, 0, 1, 0.2f);
    for (int i = 0; i < LM_LAYERS; i++) {
        lm_tensor(&w, i, "input_layernorm", LM_D, 0, 1, 0.2f);
        lm_tensor(&w, i, "self_attn.q_proj", LM_HEADS * LM_HEAD, LM_D, 0, 0.4f);
        lm_tensor(&w, i, "self_attn.k_proj", LM_KV_HEADS * LM_HEAD, LM_D, 0, 0.4f);
        lm_tensor(&w, i, "self_attn.v_proj", LM_KV_HEADS * LM_HEAD, LM_D, 0, 0.4f);
        lm_tensor(&w, i, "self_attn.o_proj", LM_D, LM_HEADS * LM_HEAD, 0, 0.4f);
        lm_tensor(&w, i, "self_attn.q_norm", LM_HEAD, 0, 1, 0.2f);
        lm_tensor(&w, i, "self_attn.k_norm", LM_HEAD, 0, 1, 0.2f);
        lm_tensor(&w, i, "post_attention_layernorm", LM_D, 0, 1, 0.2f);
        lm_tensor(&w, i, "mlp.gate_proj", LM_FF, LM_D, 0, 0.4f);
        lm_tensor(&w, i, "mlp.up_proj", LM_FF, LM_D, 0, 0.4f);
        lm_tensor(&w, i, "mlp.down_proj", LM_D, LM_FF, 0, 0.4f);
    }
    st_end(&w, d);
}

/* The bytes in the alphabet of byte-level pairs, one pair, and what is added. */
static inline void lm_tokenizer(const struct folder *d)
{
    static const char *const added[] = { "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>" };
    struct buf b = { 0 };
    buf_str(&b, "{\"added_tokens\": [");
    for (int i = 0; i < LM_VOCAB - LM_END_OF_TEXT; i++)
        buf_fmt(&b, "%s{\"id\": %d, \"content\": \"%s\", \"special\": %s}", i ? ", " : "", LM_END_OF_TEXT + i, added[i],
                i < 3 ? "true" : "false");
    buf_str(&b, "], \"post_processor\": {\"single\": [{\"SpecialToken\": {\"id\": \"<|endoftext|>\"}}, {\"Sequence\": {\"id\": \"A\"}}]}"
                ", \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"use_regex\": true}, \"model\": {\"type\": \"BPE\", \"vocab\": {");
    for (uint32_t c = 0; c <= 0x143; c++)
        if (byte_of_letter(c) >= 0) buf_fmt(&b, "\"\\u%04x\": %d, ", (unsigned)c, byte_of_letter(c));
    buf_fmt(&b, "\"ab\": %d}, \"merges\": [\"a b\"]}}", LM_PAIR);
    folder_put(d, "tokenizer.json", b.p, b.len);
    buf_free(&b);
}

/* vocab: entries of the vocabulary, of which those behind LM_VOCAB are no tokens. */
static inline struct folder lm_folder_of(int vocab)
{
    const struct folder d = folder_new();
    struct buf b = { 0 };
    lm_weights(&d, vocab);
    lm_tokenizer(&d);
    buf_fmt(&b, "{\"model_type\": \"qwen3\", \"vocab_size\": %d, \"hidden_size\": %d, \"num_hidden_layers\": %d,"
                " \"num_attention_heads\": %d,"
                " \"num_key_value_heads\": %d, \"head_dim\": %d, \"intermediate_size\": %d, \"max_position_embeddings\": %d,"
                " \"tie_word_embeddings\": true, \"eos_token_id\": %d}\n",
            vocab, LM_D, LM_LAYERS, LM_HEADS, LM_KV_HEADS, LM_HEAD, LM_FF, LM_CTX, LM_END);
    folder_put(&d, "config.json", b.p, b.len);
    folder_text(&d, "tokenizer_config.json", "{\"eos_token\": \"<|im_end|>\", \"chat_template\": \"{{'<|im_start|>' + role}}\"}\n");
    buf_free(&b);
    return d;
}

static inline struct folder lm_folder(void) { return lm_folder_of(LM_VOCAB); }
#endif
