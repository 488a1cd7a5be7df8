/* steno: one index over the tensors of a model. SPDX-License-Identifier: MIT
 *
 * Every reader (formats.h) fills the same table: name, stored type, extents, place in its file. Nothing is read until it is asked for.
 * Readers also hand over what the files say about the model: settings, vocabulary, mel filters. Whoever binds a tensor names the shape it
 * wants, and gets an error a person can act on when the file differs. */
#ifndef STENO_LOAD_WEIGHTS_H
#define STENO_LOAD_WEIGHTS_H
#include "base/arena.h"
#include "kern/kern.h"
#include "load/meta.h"
#include "load/model_source.h"
#include "load/tensor.h"

#define TENSOR_MAX (UINT64_C(1) << 40) /* weights of one tensor; keeps sizes far from wrapping */

enum vocab_type { VOCAB_NORMAL, VOCAB_BYTE, VOCAB_CONTROL, VOCAB_USER_DEFINED, VOCAB_UNUSED, VOCAB_UNKNOWN };
struct vocab_entry {
    const uint8_t *s;
    uint32_t n;
    float score;          /* SentencePiece: log-probability, by which pieces are joined; else 0 */
    enum vocab_type type; /* VOCAB_NORMAL where the file says nothing */
};

struct weights {
    struct arena arena;          /* names, table, settings, vocabulary, filters */
    struct model_source source;         /* a copy; its owner closes it */
    const char *name;            /* of the place, for messages */
    const char *joined;          /* of the file of another network that has joined; NULL: there is none */
    const char *format;          /* "whisper.cpp .bin" */
    enum dtype matrix_type;      /* of the matrices: by the file's header, or the type that most weights have */
    const char *matrix_name;     /* the same by the name of its form; NULL: the type's */
    int taps_first;              /* filters over rows lie tap by tap, not channel by channel */
    struct tensor *tensor;       /* [n_tensors] */
    uint32_t n_tensors, cap_tensors;
    struct strided_band *band;   /* of tensors that lie in another order (strided.h); NULL: there are none */
    struct file *shard;          /* [n_shards] files opened beside the first, closed by weights_close */
    uint32_t n_shards;
    uint64_t n_unpacked;         /* bytes that were packed in the file and lie in the arena */
    struct meta meta;
    int has_shape;               /* the file says the network's shape: settings beside it are not read */
    float *mel_filters;          /* [n_mels, 201] or NULL: to be computed */
    struct vocab_entry *vocab;   /* [n_vocab_entries] raw bytes by id; special ids may be missing; NULL: the model carries none */
    uint32_t n_vocab_entries;
    int32_t (*merge)[2];         /* [n_merges] pairs of ids in the order they are joined; NULL: the file has none */
    uint32_t n_merges;
    const char *vocab_first;     /* file beside the model that has its vocabulary rather than others of its kind; NULL: none is named */
    const char *vocab_where;     /* where it can be had and what is to be done with it, for a message; NULL: it is not known */
    uint32_t *hash;              /* open addressing over names; private to weights.c */
    uint32_t hash_mask;
};

/* Read the headers and the index of a model, whatever its format. STENO_EFORMAT names the place and the cause. On failure *w is left
 * empty. *w must not move while it is open. */
int weights_open_source(struct weights *w, const struct model_source *p, steno_error *e);
int weights_open(struct weights *w, const struct file *f, steno_error *e); /* one file without neighbours */
void weights_close(struct weights *w);

struct tensor *weights_find(struct weights *w, const char *name); /* NULL: none */
/* As weights_find, but absence or another shape is an error naming the file, the tensor, what is there and what is wanted. Pass 0 for
 * dimensions past the rank. */
int weights_get(struct weights *w, const char *name, const uint64_t dim[4], struct tensor **out, steno_error *e);
/* Look at the scales of tensors whose type depends on them. Before that they have the one that is likely. */
int weights_settle(struct weights *w, steno_error *e);
/* Give tensors the names a family knows them by: `to` writes the new name of a tensor and returns 1, or returns 0 to leave it. */
int weights_rename(struct weights *w, int (*to)(const char *name, char *out, size_t n), steno_error *e);
/* Error naming the first tensor nobody asked for, or STENO_OK. spare: names that may stay unused, NULL behind the last; '*' in one stands
 * for any text. NULL: there are none. */
int weights_check_used(const struct weights *w, const char *const *spare, steno_error *e);

/* Settings in the files beside a model: config.json, generation_config.json ("generation."), 1_Pooling/config.json ("pooling."),
 * sentence_bert_config.json ("sentence."), config.yaml and configuration.json ("configuration."), those that are there. */
int weights_read_settings(struct meta *m, const struct model_source *p, steno_error *e);

/* Put the names of all tensors into the index; STENO_EFORMAT for one that is there twice. */
int weights_index(struct weights *w, steno_error *e);

/* ---- for readers. A place for one more tensor, zeroed; NULL: no memory, *e is set. */
struct tensor *weights_add(struct weights *w, steno_error *e);
#endif
