/* steno tests: a Whisper model in transformers' form. SPDX-License-Identifier: MIT
 *
 * Writes the content of a whisper.cpp file as a folder of config.json, vocab.json and safetensors. Names, alphabet and layout are
 * implemented a second time here, for the writer's side, so that the test does not depend on the library's tables. */
#ifndef STENO_TESTS_SPELL_H
#define STENO_TESTS_SPELL_H
#include "base/buf.h"
#include "folder.h"
#include "stored_dims.h"

enum { AS_STORED = -1 };

static inline void spell_replace(char *name, size_t size, const char *from, const char *to)
{
    char *at = strstr(name, from), rest[160];
    if (!at) return;
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    snprintf(at, size - (size_t)(at - name), "%s%s", to, rest);
}

/* Convert openai/whisper's name of a tensor to transformers' name. */
static inline void spell_name(char *out, size_t size, const char *name)
{
    static const char *const pair[][2] = {
        { ".blocks.", ".layers." }, { ".cross_attn_ln.", ".encoder_attn_layer_norm." }, { ".attn_ln.", ".self_attn_layer_norm." },
        { ".mlp_ln.", ".final_layer_norm." }, { ".mlp.0.", ".fc1." }, { ".mlp.2.", ".fc2." },
        { ".cross_attn.query.", ".encoder_attn.q_proj." }, { ".cross_attn.key.", ".encoder_attn.k_proj." },
        { ".cross_attn.value.", ".encoder_attn.v_proj." }, { ".cross_attn.out.", ".encoder_attn.out_proj." },
        { ".attn.query.", ".self_attn.q_proj." }, { ".attn.key.", ".self_attn.k_proj." }, { ".attn.value.", ".self_attn.v_proj." },
        { ".attn.out.", ".self_attn.out_proj." }, { ".positional_embedding", ".embed_positions.weight" },
        { ".token_embedding.", ".embed_tokens." }, { "encoder.ln_post.", "encoder.layer_norm." }, { "decoder.ln.", "decoder.layer_norm." },
    };
    snprintf(out, size, "model.%s", name);
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) spell_replace(out, size, pair[i][0], pair[i][1]);
}

/* ---- weights ----------------------------------------------------------------------------------------------------------------- */

static inline void spell_tensor(struct buf *data, const struct tensor *t, int type)
{
    steno_error e;
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    if (type == AS_STORED || type == (int)t->type) {
        assert_true(t->size <= n * sizeof *x);
        if (tensor_read_rows(t, 0, t->dim[0], x, &e)) fail_msg("%s", e.text);
        buf_add(data, x, (size_t)t->size);
    } else {
        if (tensor_read_f32(t, x, &e)) fail_msg("%s", e.text);
        for (uint64_t i = 0; i < n; i++) {
            const uint16_t h = type == DT_BF16 ? bf16_from_f32(x[i]) : f16_from_f32(x[i]);
            buf_add(data, type == DT_F32 ? (void *)&x[i] : (void *)&h, type == DT_F32 ? 4 : 2);
        }
    }
    free(x);
}

static inline const char *spell_shard(char name[64], int shard, int shards)
{
    if (shards == 1) snprintf(name, 64, "model.safetensors");
    else snprintf(name, 64, "model-%05d-of-%05d.safetensors", shard + 1, shards);
    return name;
}

/* Tensors are distributed over the shards in rotation, and their entries are added to `index`. tied: the embedding is also stored as the
 * output matrix. */
static inline void spell_file(const struct folder *d, const struct weights *w, int type, int shard, int shards, int tied, struct buf *index)
{
    struct buf head = { 0 }, data = { 0 }, file = { 0 };
    char to[64], name[160];
    spell_shard(to, shard, shards);
    buf_str(&head, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (uint32_t i = (uint32_t)shard; i < w->n_tensors; i += (uint32_t)shards) {
        const struct tensor *t = &w->tensor[i];
        static const char *const st_name[] = { [DT_F32] = "F32", [DT_F16] = "F16", [DT_BF16] = "BF16" };
        const size_t begin = data.len;
        spell_name(name, sizeof name, t->name);
        spell_tensor(&data, t, type);
        buf_fmt(&head, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", name, st_name[type == AS_STORED ? (int)t->type : type]);
        const int rank = strstr(t->name, ".bias") ? 1 : t->n_dims; /* whisper.cpp stores the bias of a convolution as [n, 1] */
        for (int k = 0; k < rank; k++) buf_fmt(&head, k ? ",%llu" : "%llu", (unsigned long long)t->dim[k]);
        buf_fmt(&head, "],\"data_offsets\":[%zu,%zu]}", begin, data.len);
        buf_fmt(index, "%s\"%s\":\"%s\"", index->len ? "," : "", name, to);
        if (!tied || !strstr(t->name, ".token_embedding.")) continue;
        buf_fmt(&head, ",\"proj_out.weight\":{\"dtype\":\"%s\",\"shape\":[%llu,%llu],\"data_offsets\":[%zu,%zu]}",
                st_name[type == AS_STORED ? (int)t->type : type], (unsigned long long)t->dim[0], (unsigned long long)t->dim[1], data.len,
                2 * data.len - begin);
        spell_tensor(&data, t, type);
    }
    buf_str(&head, "}");
    while (head.len % 8) buf_str(&head, " ");
    for (int i = 0; i < 8; i++) buf_add(&file, &(uint8_t) { (uint8_t)(head.len >> 8 * i) }, 1);
    buf_add(&file, head.p, head.len);
    buf_add(&file, data.p, data.len);
    folder_put(d, to, file.p, file.len);
    buf_free(&head);
    buf_free(&data);
    buf_free(&file);
}

static inline void spell_weights(const struct folder *d, const struct weights *w, int type, int shards)
{
    struct buf map = { 0 }, index = { 0 };
    buf_str(&index, "{\"metadata\":{\"total_size\":1},\"weight_map\":{");
    for (int i = 0; i < shards; i++) spell_file(d, w, type, i, shards, 0, &map);
    buf_add(&index, map.p, map.len);
    buf_str(&index, "}}");
    if (shards > 1) folder_put(d, "model.safetensors.index.json", index.p, index.len);
    buf_free(&map);
    buf_free(&index);
}

/* ---- settings and vocabulary ------------------------------------------------------------------------------------------------- */

static inline void spell_config(const struct folder *d, const struct weights *w)
{
    const struct whisper_dims dims = stored_dims(w), *m = &dims;
    struct buf b = { 0 };
    buf_fmt(&b, "{\n \"model_type\": \"whisper\", \"activation_function\": \"gelu\", \"scale_embedding\": false, \"dropout\": 0.0,\n"
                " \"vocab_size\": %d, \"num_mel_bins\": %d, \"d_model\": %d,\n", m->n_vocab, m->n_mels, m->n_audio_state);
    buf_fmt(&b, " \"encoder_layers\": %d, \"encoder_attention_heads\": %d, \"encoder_ffn_dim\": %d,\n", m->n_audio_layer, m->n_audio_head,
            4 * m->n_audio_state);
    buf_fmt(&b, " \"decoder_layers\": %d, \"decoder_attention_heads\": %d, \"decoder_ffn_dim\": %d,\n", m->n_text_layer, m->n_text_head,
            4 * m->n_text_state);
    buf_fmt(&b, " \"max_source_positions\": %d, \"max_target_positions\": %d\n}\n", m->n_audio_ctx, m->n_text_ctx);
    folder_put(d, "config.json", b.p, b.len);
    buf_free(&b);
}

/* GPT-2's byte alphabet: printable bytes stand for themselves, other bytes become U+0100 and up in order. */
static inline void spell_alphabet(uint32_t of[256])
{
    uint32_t next = 0x100;
    for (uint32_t b = 0; b < 256; b++) {
        const int prints = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        of[b] = prints ? b : next++;
    }
}

static inline void spell_string(struct buf *out, const uint8_t *s, size_t n)
{
    uint32_t of[256];
    spell_alphabet(of);
    for (size_t i = 0; i < n; i++) {
        const uint32_t c = of[s[i]];
        if (c == '"' || c == '\\') buf_str(out, "\\");
        if (c < 0x80) buf_add(out, &(char) { (char)c }, 1);
        else if (c < 0xc0) buf_fmt(out, "\\u%04x", (unsigned)c);
        else buf_add(out, (const char[]) { (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2);
    }
}

/* {"string": id, …} from the last id to the first. */
static inline void spell_vocab(const struct folder *d, const struct weights *w)
{
    struct buf b = { 0 };
    buf_str(&b, "{");
    for (uint32_t i = w->n_vocab_entries; i-- > 0;) {
        buf_str(&b, "\"");
        spell_string(&b, w->vocab[i].s, w->vocab[i].n);
        buf_fmt(&b, "\": %u%s", (unsigned)i, i ? ",\n" : "}\n");
    }
    folder_put(d, "vocab.json", b.p, b.len);
    buf_free(&b);
}

/* Write a single file that holds the embedding twice. */
static inline void spell_tied(const struct folder *d, const struct weights *w, int type)
{
    struct buf map = { 0 };
    spell_config(d, w);
    spell_vocab(d, w);
    spell_file(d, w, type, 0, 1, 1, &map);
    buf_free(&map);
}

static inline void spell_model(const struct folder *d, const struct weights *w, int type, int shards)
{
    spell_config(d, w);
    spell_vocab(d, w);
    spell_weights(d, w, type, shards);
}
#endif
