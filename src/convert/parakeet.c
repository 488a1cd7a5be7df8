/* steno: parts of the files of Parakeet models. SPDX-License-Identifier: MIT */
#include "convert/parakeet.h"

#include <stdio.h>
#include <string.h>
#include "base/utf8.h"
#include "audio/mel.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------------------------ */

#define SPACE_SIGN "\xe2\x96\x81"
enum { BYTE_SZ = 8 };

/* SentencePiece's spelling of a piece: a sign for each space, and digits for a byte. */
static int respell(struct vocab_entry *to, const struct vocab_entry *from, struct arena *a)
{
    const int is_byte = from->type == VOCAB_BYTE, is_text = from->type == VOCAB_NORMAL || from->type == VOCAB_USER_DEFINED;
    char *s = arena_alloc(a, 3 * (size_t)from->n + BYTE_SZ);
    if (!s) return 0;
    *to = *from;
    to->s = (const uint8_t *)s;
    to->n = 0;
    if (is_byte) to->n = (uint32_t)snprintf(s, BYTE_SZ, "<0x%02X>", from->n ? from->s[0] : 0u);
    for (uint32_t i = 0; i < from->n && !is_byte; i++) {
        const int is_space = is_text && from->s[i] == ' ';
        memcpy(s + to->n, is_space ? SPACE_SIGN : (const char *)from->s + i, is_space ? 3 : 1);
        to->n += is_space ? 3 : 1;
    }
    if (from->n == 5 && !memcmp(from->s, "<unk>", 5)) to->type = VOCAB_UNKNOWN;
    return 1;
}

static int read_pieces(struct parakeet_model *m, steno_error *e)
{
    struct vocab_entry *entry;
    uint32_t n;
    const uint32_t want = (uint32_t)m->s.n_vocab;
    int rc = parakeet_read_pieces(m->w, &entry, &n, e);
    if (rc) return rc;
    if (n < want) return err_set(e, STENO_EFORMAT, "%s: the vocabulary has %u pieces, the head %u", m->w->name, n, want);
    m->piece = arena_array(&m->w->arena, want, sizeof *m->piece);
    for (uint32_t i = 0; i < want; i++)
        if (!m->piece || !respell(&m->piece[i], &entry[i], &m->w->arena)) return err_nomem(e, want * sizeof *m->piece, "a vocabulary");
    return STENO_OK;
}

int parakeet_model_read(struct parakeet_model *m, enum parakeet_head head, int is_stream, struct weights *w, steno_error *e)
{
    *m = (struct parakeet_model){ .w = w, .head = head };
    int rc = parakeet_read_sizes(&m->s, w, e);
    if (!rc && head != PARAKEET_CTC) rc = parakeet_read_transducer(&m->s, w, e);
    if (!rc && is_stream) rc = parakeet_stream_read_shape(&m->s, &m->stream, &w->arena, w, e);
    if (m->s.n_durations) m->head = PARAKEET_TDT;
    if (!rc) rc = weights_settle(w, e);
    return rc ? rc : read_pieces(m, e);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------------------------- */

static int has_any(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strstr(name, *list)) return 1;
    return 0;
}

enum parakeet_part parakeet_part_of(const char *name)
{
    static const char *const matrix[] = { ".self_attn.linear_", ".feed_forward", ".pointwise_conv", "encoder.pre_encode.out.",
                                          ".dec_rnn.lstm.", "joint.", NULL };
    static const char *const filter[] = { ".depthwise_conv.", "encoder.pre_encode.conv.", "decoder.prediction.embed.", NULL };
    if (strstr(name, ".bias") || !strstr(name, "weight") || strstr(name, "norm")) return PARAKEET_OTHER;
    return has_any(name, matrix) ? PARAKEET_MATRIX : has_any(name, filter) ? PARAKEET_FILTER : PARAKEET_OTHER;
}

int parakeet_is_written(const char *name)
{
    return !text_ends(name, ".num_batches_tracked") && strcmp(name, "encoder.pos_enc.pe") != 0 && strncmp(name, "preprocessor.", 13) != 0;
}

int parakeet_extents(const char *name, uint64_t dim[4], int n_dims)
{
    const uint64_t rows = dim[0], k = dim[1] * dim[2] * dim[3];
    const int is_head = text_ends(name, "decoder_layers.0.weight"), is_depthwise = text_ends(name, ".depthwise_conv.weight");
    if (is_head || is_depthwise || strstr(name, ".pointwise_conv")) {
        memcpy(dim, (const uint64_t[4]){ rows, is_depthwise ? 1 : k, is_depthwise ? k : 1, 1 }, 4 * sizeof *dim);
        n_dims = is_head || is_depthwise ? 3 : 2;
    }
    if (!strstr(name, ".bias")) return n_dims;
    memcpy(dim, (const uint64_t[4]){ rows * k, 1, 1, 1 }, 4 * sizeof *dim);
    return 1;
}

int parakeet_front_find(struct parakeet_front *f, const struct parakeet_model *m, steno_error *e)
{
    const uint64_t n_mels = (uint64_t)m->s.n_mels, n_bins = FBANK_FFT / 2 + 1;
    *f = (struct parakeet_front){ .filters = weights_find(m->w, "preprocessor.featurizer.fb"),
                                  .window = weights_find(m->w, "preprocessor.featurizer.window") };
    if (f->filters) return STENO_OK;
    float *x = arena_array(&m->w->arena, (size_t)(n_mels * n_bins), sizeof *x);
    if (!x) return err_nomem(e, (size_t)(n_mels * n_bins) * sizeof *x, "mel filters");
    mel_filters_slaney(x, m->s.n_mels, FBANK_FFT);
    file_from_memory(&f->memory, m->w->name, x, (size_t)(n_mels * n_bins) * sizeof *x);
    f->own = (struct tensor){ .name = "preprocessor.featurizer.fb", .type = DT_F32, .n_dims = 2, .dim = { n_mels, n_bins, 1, 1 },
                              .file = &f->memory, .size = f->memory.size };
    f->filters = &f->own;
    return STENO_OK;
}
