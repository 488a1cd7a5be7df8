/* steno: one index over the tensors of a model. SPDX-License-Identifier: MIT
 *
 * Every reader (formats.h) fills the same table: name, stored type, extents, place in the file. Data is read only on demand. Readers also
 * pass on the file's data about the model: settings, vocabulary, mel filters. The code that binds a tensor gives the expected shape. If the
 * file differs, the error names both shapes, so that a person can act on it. */
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
    float score;          /* SentencePiece: log-probability that orders the joining of pieces; else 0 */
    enum vocab_type type; /* VOCAB_NORMAL if the file gives no type */
};

struct weights {
    struct arena arena;          /* names, table, settings, vocabulary, filters */
    struct model_source source;         /* a copy; its owner closes it */
    const char *name;            /* of the source, for messages */
    const char *joined;          /* file name of another network that has been joined; may be NULL */
    const char *format;          /* "whisper.cpp .bin" */
    enum dtype matrix_type;      /* of the matrices: from the file's header, or the most frequent type by weights */
    const char *matrix_name;     /* the name of that type's stored form; NULL: the name of the type */
    int taps_first;              /* convolution filters are stored tap by tap, not channel by channel */
    struct tensor *tensor;       /* [n_tensors] */
    uint32_t n_tensors, cap_tensors;
    struct strided_band *band;   /* of tensors stored in another order (strided.h); may be NULL */
    struct file *shard;          /* [n_shards] files opened in addition to the first, closed by weights_close */
    uint32_t n_shards;
    uint64_t n_unpacked;         /* bytes that were packed in the file and are unpacked in the arena */
    struct meta meta;
    int has_shape;               /* 1: the file gives the network's shape, so settings of other files are not read */
    float *mel_filters;          /* [n_mels, 201]; NULL: must be computed */
    struct vocab_entry *vocab;   /* [n_vocab_entries] raw bytes by id; special ids may be missing; NULL: the model has no vocabulary */
    uint32_t n_vocab_entries;
    int32_t (*merge)[2];         /* [n_merges] pairs of ids in the order of joining; NULL: the file has none */
    uint32_t n_merges;
    const struct file *sentencepiece; /* the SentencePiece model within the file that the vocabulary is from; may be NULL */
    int vocab_is_listed;         /* 1: the vocabulary is a list of all ids (vocab.h); before it is read: such a list is preferred */
    const char *vocab_first;     /* preferred vocabulary file in the model's folder; may be NULL */
    const char *vocab_where;     /* for a message: where to get the vocabulary, and how to use it; may be NULL */
    uint32_t *hash;              /* open addressing over names; private to weights.c */
    uint32_t hash_mask;
};

/* Read the headers and the index of a model of any format. STENO_EFORMAT names the place and the cause. On failure *w is empty. *w must not
 * move while it is open. */
int weights_open_source(struct weights *w, const struct model_source *p, steno_error *e);
int weights_open(struct weights *w, const struct file *f, steno_error *e); /* one file without neighbours */
void weights_close(struct weights *w);

struct tensor *weights_find(struct weights *w, const char *name); /* NULL: none */
/* As weights_find, but a missing tensor or another shape is an error that names the file, the tensor, the shape found and the shape
 * expected. Pass 0 for dimensions past the rank. */
int weights_get(struct weights *w, const char *name, const uint64_t dim[4], struct tensor **out, steno_error *e);
/* Read the scales of tensors whose type depends on them. Before that they have the likely type. */
int weights_settle(struct weights *w, steno_error *e);
/* Rename tensors to the names that a family uses: `to` writes the new name of a tensor and returns 1, or returns 0 to keep the name. */
int weights_rename(struct weights *w, int (*to)(const char *name, char *out, size_t n), steno_error *e);
/* Error naming the first tensor that was never used, or STENO_OK. spare: names that may stay unused, ending with NULL; '*' in one matches
 * any text. May be NULL. */
int weights_check_used(const struct weights *w, const char *const *spare, steno_error *e);

/* Files with settings in a model's folder, and the prefix that their keys get. */
enum settings_files {
    SETTINGS_NETWORK = 1,    /* config.json, config.yaml; no prefix */
    SETTINGS_GENERATION = 2, /* generation_config.json ("generation.") */
    SETTINGS_FEATURES = 4,   /* processor_config.json ("processor."), preprocessor_config.json ("features.") */
    SETTINGS_POOLING = 8,    /* 1_Pooling/config.json ("pooling."), sentence_bert_config.json ("sentence.") */
    SETTINGS_FILES = 16      /* configuration.json ("configuration."): names of FunASR's other files */
};
/* Read those of `which` (enum settings_files) that exist. A model that was opened has those of SETTINGS_NETWORK. */
int weights_read_settings(struct meta *m, const struct model_source *p, unsigned which, steno_error *e);

/* Put the names of all tensors into the index; STENO_EFORMAT for a duplicate. */
int weights_index(struct weights *w, steno_error *e);

/* ---- for readers. Add a zeroed tensor; NULL: out of memory, *e is set. */
struct tensor *weights_add(struct weights *w, steno_error *e);
#endif
