/* steno: FastConformer with a CTC or a transducer head (Parakeet). SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_PARAKEET_H
#define STENO_MODEL_PARAKEET_H
#include "model/parts.h"
#include "plan/conformer.h"

enum { PARAKEET_STACK = 8 /* frames of a row */ };

/* Sizes and choices of a file. */
struct parakeet_shape {
    int32_t d, layers, heads, d_ff, taps, n_mels, channels, scales_input;
    int32_t n_vocab;        /* pieces, without blank */
    int32_t has_biases;
    int32_t behind, ahead;  /* rows that a row of the encoder sees; -1: all */
    int32_t is_causal;      /* a model of streams: its layers depend on no row after a chunk, its features are not normalised */
    int32_t has_layer_norm; /* after the layers' filters */
    int32_t prompts, prompt_width; /* numbers of a prompt that is added to the encoder's rows, 0: none; width of its projection */
    int32_t pred, pred_layers, joint;        /* transducers: widths of the prediction network and of the joint network */
    int32_t max_symbols, n_durations, duration[64];
};

/* ---- forms of files */

enum parakeet_head { PARAKEET_NONE, PARAKEET_CTC, PARAKEET_RNNT, PARAKEET_TDT };
enum parakeet_head parakeet_nemo_head(const struct weights *w); /* PARAKEET_NONE: not a .nemo file, or another model */
int parakeet_nemo_is_stream(const struct weights *w); /* a .nemo file with attention by chunks */
enum parakeet_head parakeet_gguf_head(const struct weights *w);
int parakeet_gguf_is_stream(const struct weights *w);
extern const char parakeet_gguf_lookaheads[]; /* a key of steno's own, with the permitted choices */
int parakeet_is_ggml(const struct weights *w);
/* Give the settings of a form the names of Hugging Face's, and refuse what is not supported. Other forms stay as they are. */
int parakeet_take_nemo(struct weights *w, steno_error *e);
int parakeet_take_ggml(struct weights *w, steno_error *e);
int parakeet_take_gguf(struct weights *w, steno_error *e);
/* Changes the order of gates in a tensor of an LSTM, from PyTorch's to whisper.cpp's or back. */
int parakeet_turn_gates(struct weights *w, struct tensor *t, steno_error *e);
int parakeet_read_context(struct parakeet_shape *s, const struct weights *w, steno_error *e);

/* Settings with one or two supported values; tables end with an entry without a key. A missing setting has the first value. */
struct parakeet_text { const char *key, *want, *or_else; };
struct parakeet_flag { const char *key; int want; };
struct parakeet_number { const char *key; double want; };
int parakeet_check_texts(const struct weights *w, const struct parakeet_text *t, steno_error *e);
int parakeet_check_flags(const struct weights *w, const struct parakeet_flag *t, steno_error *e);
int parakeet_check_numbers(const struct weights *w, const struct parakeet_number *t, steno_error *e);
int parakeet_refuse(const struct weights *w, const char *key, const char *is, const char *want, steno_error *e);

struct parakeet_setting { const char *own, *common; };
/* Copy settings that exist to their common names. */
int parakeet_rename_settings(struct weights *w, const struct parakeet_setting *table, size_t n, steno_error *e);
/* Add one, which messages call `written`. */
int parakeet_add_number(struct weights *w, const char *key, const char *written, int64_t i, steno_error *e);
/* Add model_type, and sizes that are missing, from the tensors. */
int parakeet_add_sizes(struct weights *w, enum parakeet_head head, steno_error *e);

/* ---- the model */

/* Reads the sizes of a file of any form, whose tensors and settings get their common names. */
int parakeet_read_sizes(struct parakeet_shape *s, struct weights *w, steno_error *e);
/* Gives the tensors NeMo's names. */
int parakeet_respell(struct weights *w, steno_error *e);
int parakeet_open_front(steno_model *m, struct weights *w, const struct parakeet_shape *s, steno_error *e);
/* The pieces of a file of any form, with spaces and bytes as such. May be called once. */
int parakeet_read_pieces(struct weights *w, struct vocab_entry **entry, uint32_t *n, steno_error *e);
/* Reads the vocabulary of s->n_vocab pieces into the model: bytes of their text, nothing for control pieces. */
int parakeet_read_vocab(steno_model *m, struct weights *w, steno_error *e);

/* The prediction network and the joint network of a transducer, and the rows that the encoder gives to it. */
int parakeet_read_transducer(struct parakeet_shape *s, struct weights *w, steno_error *e);
void parakeet_build_joined(struct build *b, const struct parakeet_shape *s, uint16_t rows);
int parakeet_build_decoder(steno_model *m, struct weights *w, const struct parakeet_shape *s, steno_error *e);

/* A model of streams. _match: is it one? _read_shape: completes s, and reads the choices of a request. */
int parakeet_stream_match(const struct weights *w);
int parakeet_stream_read_shape(struct parakeet_shape *s, struct transducer_stream *t, struct arena *a, struct weights *w,
                               steno_error *e);
/* Finds the pieces that are tags of languages. Their text is removed from the vocabulary. */
int parakeet_stream_read_tags(struct transducer_stream *t, steno_model *m, steno_error *e);
void parakeet_stream_states(steno_model *m, const struct parakeet_shape *s);

extern const struct family family_parakeet_transducer, family_parakeet_stream;
extern const struct pieces parakeet_pieces;
#endif
