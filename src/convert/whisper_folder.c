/* steno: settings and tokenizer files of a transformers folder. SPDX-License-Identifier: MIT
 *
 * The files are in the form that transformers reads (WhisperForConditionalGeneration, WhisperTokenizer, WhisperFeatureExtractor). Their
 * content follows from the ten numbers, the vocabulary and the alignment heads. */
#include "convert/whisper_folder.h"

#include <string.h>
#include "text/language.h"

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

/* The letter for a byte in the alphabet of byte-pair vocabularies, in UTF-8. */
static void put_letter(struct buf *out, uint8_t c)
{
    uint32_t letter = c;
    if (c <= 0x20) letter = 0x100u + c;
    else if (c >= 0x7f && c <= 0xa0) letter = 0x121u + (c - 0x7fu);
    else if (c == 0xad) letter = 0x143;
    if (letter < 0x80) {
        buf_add(out, &(char){ (char)letter }, 1);
        return;
    }
    buf_add(out, (const char[2]){ (char)(0xc0 | letter >> 6), (char)(0x80 | (letter & 0x3f)) }, 2);
}

static void put_token(struct buf *out, const struct whisper_folder *f, int32_t id, int in_json)
{
    const uint8_t *s = f->vocab->bytes[id];
    for (uint32_t i = 0; i < f->vocab->len[id]; i++) {
        if (id >= f->roles->n_text) buf_add(out, &s[i], 1); /* special tokens are plain text */
        else {
            if (in_json && (s[i] == '"' || s[i] == '\\')) buf_str(out, "\\");
            put_letter(out, s[i]);
        }
    }
}

static void put_quoted(struct buf *out, const struct whisper_folder *f, int32_t id)
{
    buf_str(out, "\"");
    put_token(out, f, id, 1);
    buf_str(out, "\"");
}

static const char *bool_text(int v)
{
    return v ? "true" : "false";
}

/* ---- settings ------------------------------------------------------------------------------------------------------------------ */

static void put_config(struct buf *out, const struct whisper_folder *f)
{
    const struct whisper_dims *d = f->d;
    const int ffn = 4 * (int)d->n_audio_state, eot = (int)f->roles->eot;
    buf_str(out, "{\n \"architectures\": [\"WhisperForConditionalGeneration\"],\n \"model_type\": \"whisper\",\n");
    buf_fmt(out, " \"vocab_size\": %d,\n \"num_mel_bins\": %d,\n \"d_model\": %d,\n", (int)d->n_vocab, (int)d->n_mels,
            (int)d->n_audio_state);
    buf_fmt(out, " \"encoder_layers\": %d,\n \"encoder_attention_heads\": %d,\n \"encoder_ffn_dim\": %d,\n", (int)d->n_audio_layer,
            (int)d->n_audio_head, ffn);
    buf_fmt(out, " \"decoder_layers\": %d,\n \"decoder_attention_heads\": %d,\n \"decoder_ffn_dim\": %d,\n", (int)d->n_text_layer,
            (int)d->n_text_head, ffn);
    buf_fmt(out, " \"num_hidden_layers\": %d,\n \"max_source_positions\": %d,\n \"max_target_positions\": %d,\n", (int)d->n_audio_layer,
            (int)d->n_audio_ctx, (int)d->n_text_ctx);
    buf_fmt(out, " \"bos_token_id\": %d,\n \"eos_token_id\": %d,\n \"pad_token_id\": %d,\n \"decoder_start_token_id\": %d,\n", eot,
            eot, eot, (int)f->roles->sot);
    buf_str(out, " \"activation_function\": \"gelu\",\n \"scale_embedding\": false,\n \"is_encoder_decoder\": true,\n"
                 " \"tie_word_embeddings\": true,\n \"use_cache\": true,\n \"dropout\": 0.0,\n \"attention_dropout\": 0.0,\n"
                 " \"activation_dropout\": 0.0,\n \"encoder_layerdrop\": 0.0,\n \"decoder_layerdrop\": 0.0,\n \"init_std\": 0.02,\n");
    buf_fmt(out, " \"torch_dtype\": \"%s\"\n}\n", f->weights);
}

/* Heads that are only a guess are not written, so that readers do not take them for the model's own. */
static void put_heads(struct buf *out, const struct align_heads *h)
{
    if (h->unsure) return;
    buf_str(out, " \"alignment_heads\": [");
    for (uint32_t i = 0; i < h->n; i++) buf_fmt(out, "%s[%d, %d]", i ? ", " : "", h->head[i].layer, h->head[i].head);
    buf_str(out, "],\n");
}

static void put_languages(struct buf *out, const struct token_roles *r)
{
    if (!r->n_languages) return;
    buf_str(out, " \"lang_to_id\": {");
    for (int32_t i = 0; i < r->n_languages; i++)
        buf_fmt(out, "%s\"<|%s|>\": %d", i ? ", " : "", language_code(i), (int)(r->first_language + i));
    buf_fmt(out, "},\n \"task_to_id\": {\"transcribe\": %d, \"translate\": %d},\n", (int)r->transcribe, (int)r->translate);
}

static void put_generation(struct buf *out, const struct whisper_folder *f)
{
    const struct token_roles *r = f->roles;
    const int32_t control[] = { r->sot, r->translate, r->transcribe, r->turn, r->previous, r->no_speech };
    buf_str(out, "{\n");
    put_heads(out, f->heads);
    buf_str(out, " \"begin_suppress_tokens\": [");
    if (r->blank >= 0) buf_fmt(out, "%d, ", (int)r->blank);
    buf_fmt(out, "%d],\n \"bos_token_id\": %d,\n \"eos_token_id\": %d,\n \"pad_token_id\": %d,\n \"decoder_start_token_id\": %d,\n",
            (int)r->eot, (int)r->eot, (int)r->eot, (int)r->eot, (int)r->sot);
    buf_fmt(out, " \"is_multilingual\": %s,\n \"max_initial_timestamp_index\": 50,\n \"max_length\": %d,\n", bool_text(r->n_languages > 0),
            (int)f->d->n_text_ctx);
    buf_fmt(out, " \"no_timestamps_token_id\": %d,\n \"prev_sot_token_id\": %d,\n \"return_timestamps\": false,\n", (int)r->no_timestamps,
            (int)r->previous);
    put_languages(out, r);
    buf_str(out, " \"suppress_tokens\": [");
    for (uint32_t i = 0; i < f->n_quiet; i++) buf_fmt(out, "%d, ", (int)f->quiet[i]);
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) buf_fmt(out, "%s%d", i ? ", " : "", (int)control[i]);
    buf_str(out, "]\n}\n");
}

static void put_front_end(struct buf *out, const struct whisper_folder *f)
{
    const int frames = 2 * (int)f->d->n_audio_ctx;
    buf_fmt(out, "{\n \"feature_extractor_type\": \"WhisperFeatureExtractor\",\n \"processor_class\": \"WhisperProcessor\",\n"
                 " \"chunk_length\": %d,\n \"feature_size\": %d,\n \"hop_length\": 160,\n \"n_fft\": 400,\n \"n_samples\": %d,\n"
                 " \"nb_max_frames\": %d,\n \"padding_side\": \"right\",\n \"padding_value\": 0.0,\n \"sampling_rate\": 16000,\n"
                 " \"return_attention_mask\": false\n}\n", frames / 100, (int)f->d->n_mels, 160 * frames, frames);
}

/* ---- the tokenizer --------------------------------------------------------------------------------------------------------------- */

/* Text tokens and end-of-text, as an object. */
static void put_entries(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, "{");
    for (int32_t id = 0; id <= f->roles->eot; id++) {
        buf_str(out, id ? ",\n " : "\n ");
        put_quoted(out, f, id);
        buf_fmt(out, ": %d", (int)id);
    }
    buf_str(out, "\n}");
}

static void put_vocab(struct buf *out, const struct whisper_folder *f)
{
    put_entries(out, f);
    buf_str(out, "\n");
}

static void put_merges(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, "#version: 0.2\n");
    for (uint32_t i = 0; i < f->n_merges; i++) {
        put_token(out, f, f->merge[i][0], 0);
        buf_str(out, " ");
        put_token(out, f, f->merge[i][1], 0);
        buf_str(out, "\n");
    }
}

static void put_added(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, "{");
    for (int32_t id = f->roles->eot + 1; id < f->d->n_vocab; id++) {
        buf_str(out, id > f->roles->eot + 1 ? ",\n " : "\n ");
        put_quoted(out, f, id);
        buf_fmt(out, ": %d", (int)id);
    }
    buf_str(out, "\n}\n");
}

#define FLAGS "\"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": "

/* The ids after the text ids, as a list or an object. Timestamps are not marked as special. */
static void put_special_ids(struct buf *out, const struct whisper_folder *f, int is_list)
{
    for (int32_t id = f->roles->eot; id < f->d->n_vocab; id++) {
        buf_str(out, id > f->roles->eot ? ",\n  " : "\n  ");
        if (is_list) buf_fmt(out, "{\"id\": %d, \"content\": ", (int)id);
        else buf_fmt(out, "\"%d\": {\"content\": ", (int)id);
        put_quoted(out, f, id);
        buf_fmt(out, ", " FLAGS "%s}", bool_text(id < f->roles->timestamp_begin));
    }
}

static void put_special(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, " \"bos_token\": \"<|endoftext|>\",\n \"eos_token\": \"<|endoftext|>\",\n \"pad_token\": \"<|endoftext|>\",\n"
                 " \"unk_token\": \"<|endoftext|>\",\n \"additional_special_tokens\": [");
    for (int32_t id = f->roles->eot; id < f->roles->timestamp_begin; id++) {
        buf_str(out, id > f->roles->eot ? ", " : "");
        put_quoted(out, f, id);
    }
    buf_str(out, "]");
}

static void put_special_map(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, "{\n");
    put_special(out, f);
    buf_str(out, "\n}\n");
}

static void put_tokenizer_config(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, "{\n \"tokenizer_class\": \"WhisperTokenizer\",\n \"processor_class\": \"WhisperProcessor\",\n"
                 " \"add_prefix_space\": false,\n \"add_bos_token\": false,\n \"errors\": \"replace\",\n \"model_max_length\": 1024,\n"
                 " \"return_attention_mask\": false,\n");
    put_special(out, f);
    buf_str(out, ",\n \"added_tokens_decoder\": {");
    put_special_ids(out, f, 0);
    buf_str(out, "\n }\n}\n");
}

static void put_added_list(struct buf *out, const struct whisper_folder *f)
{
    buf_str(out, " \"added_tokens\": [");
    put_special_ids(out, f, 1);
    buf_str(out, "\n ],\n");
}

/* The tokens around a text: start, no timestamps, end. */
static void put_template(struct buf *out, const struct whisper_folder *f)
{
    static const char start[] = "{\"SpecialToken\": {\"id\": \"<|startoftranscript|>\", \"type_id\": 0}}, "
                                "{\"SpecialToken\": {\"id\": \"<|notimestamps|>\", \"type_id\": 0}}, "
                                "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, ",
                      end[] = "{\"SpecialToken\": {\"id\": \"<|endoftext|>\", \"type_id\": 0}}";
    const int32_t ids[] = { f->roles->sot, f->roles->no_timestamps, f->roles->eot };
    buf_fmt(out, " \"post_processor\": {\"type\": \"TemplateProcessing\",\n  \"single\": [%s%s],\n", start, end);
    buf_fmt(out, "  \"pair\": [%s{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}, %s],\n  \"special_tokens\": {", start, end);
    for (int i = 0; i < 3; i++) {
        buf_str(out, i ? ", " : "");
        put_quoted(out, f, ids[i]);
        buf_str(out, ": {\"id\": ");
        put_quoted(out, f, ids[i]);
        buf_fmt(out, ", \"ids\": [%d], \"tokens\": [", (int)ids[i]);
        put_quoted(out, f, ids[i]);
        buf_str(out, "]}");
    }
    buf_str(out, "}},\n");
}

static void put_tokenizer(struct buf *out, const struct whisper_folder *f)
{
    static const char level[] = "{\"type\": \"ByteLevel\", \"add_prefix_space\": %s, \"trim_offsets\": true, \"use_regex\": true},\n";
    buf_str(out, "{\n \"version\": \"1.0\",\n \"truncation\": null,\n \"padding\": null,\n");
    put_added_list(out, f);
    buf_str(out, " \"normalizer\": null,\n \"pre_tokenizer\": ");
    buf_fmt(out, level, "false");
    put_template(out, f);
    buf_str(out, " \"decoder\": ");
    buf_fmt(out, level, "true");
    buf_str(out, " \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": \"\", "
                 "\"end_of_word_suffix\": \"\", \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": false,\n \"vocab\": ");
    put_entries(out, f);
    buf_str(out, ",\n \"merges\": [");
    for (uint32_t i = 0; i < f->n_merges; i++) {
        buf_str(out, i ? ",\n \"" : "\n \"");
        put_token(out, f, f->merge[i][0], 1);
        buf_str(out, " ");
        put_token(out, f, f->merge[i][1], 1);
        buf_str(out, "\"");
    }
    buf_str(out, "\n ]}\n}\n");
}

const struct whisper_folder_file whisper_folder_files[] = {
    { "config.json", put_config },
    { "generation_config.json", put_generation },
    { "preprocessor_config.json", put_front_end },
    { "tokenizer.json", put_tokenizer },
    { "vocab.json", put_vocab },
    { "merges.txt", put_merges },
    { "added_tokens.json", put_added },
    { "special_tokens_map.json", put_special_map },
    { "tokenizer_config.json", put_tokenizer_config },
    { NULL, NULL },
};
