/* steno: the settings in a model's files. SPDX-License-Identifier: MIT
 *
 * Every reader (JSON, YAML, dictionaries of a pickle, GGUF) fills the same flat table: keys joined by dots, with numbers for list indices
 * ("frontend_conf.lfr_m", "alignment_heads.3.1"). Families query by key and range. An error names the file, the key, the value found and
 * the value expected. A key that is never queried costs only its bytes. */
#ifndef STENO_LOAD_META_H
#define STENO_LOAD_META_H
#include "base/arena.h"
#include "base/file.h"

enum meta_kind { META_NULL, META_BOOL, META_INT, META_NUM, META_TEXT };

struct meta_entry {
    const char *key;
    const char *written; /* the key in the file, if it is called otherwise there, for messages; may be NULL */
    enum meta_kind kind;
    int64_t i;          /* META_INT, META_BOOL */
    double x;           /* META_NUM; also set for META_INT */
    const char *text;   /* META_TEXT */
    const char *source; /* the file it was read from */
};

/* A long list of one type, as stored in a file: little-endian values in sequence; each text is preceded by its length in 8 bytes. Readers
 * of text formats write their lists to memory in this form. */
enum meta_list_type {
    META_LIST_U8, META_LIST_I8, META_LIST_U16, META_LIST_I16, META_LIST_U32, META_LIST_I32, META_LIST_F32, META_LIST_BOOL, META_LIST_TEXT,
    META_LIST_U64, META_LIST_I64, META_LIST_F64
};

struct meta_list {
    const char *key;
    enum meta_list_type type;
    uint64_t n;            /* values */
    struct file file;      /* a copy; the owner of the original closes it */
    uint64_t offset, size; /* bytes in the file */
};

struct meta {
    struct arena *arena;      /* not owned */
    struct meta_entry *entry; /* [n] in the order of reading */
    uint32_t n, cap;
    struct meta_list *list;   /* [n_lists] */
    uint32_t n_lists, cap_lists;
};

enum { META_KEY_MAX = 255, META_DEPTH_MAX = 16, META_ENTRIES_MAX = 1 << 16 };

void meta_init(struct meta *m, struct arena *a);
/* Add an entry. Key, written and text are copied, source is kept. Readers refuse a duplicate key; a search finds the first. */
int meta_add(struct meta *m, const struct meta_entry *entry, steno_error *e);

/* Add a list; the key is copied. */
int meta_add_list(struct meta *m, const struct meta_list *list, steno_error *e);
const struct meta_list *meta_find_list(const struct meta *m, const char *key); /* NULL: none */
/* Values [from, from + n) of a list of numbers as f64; STENO_EFORMAT for a list of texts, or a shorter one. */
int meta_list_numbers(const struct meta_list *l, uint64_t from, uint64_t n, double *out, steno_error *e);
/* Pass every text of a list, not terminated, to `take` in order; a status other than 0 stops. STENO_EFORMAT for a list of numbers, a text
 * of more than max_sz bytes, or texts that do not fill the list. */
int meta_list_texts(const struct meta_list *l, size_t max_sz, int (*take)(void *user, uint64_t i, const char *s, size_t n), void *user,
                    steno_error *e);

const struct meta_entry *meta_find(const struct meta *m, const char *key); /* NULL: none */
/* A key as the file has it; one that is missing is its own. */
const char *meta_written(const struct meta *m, const char *key);
/* The text of a key, or fallback if the key is missing or not a text. */
const char *meta_text(const struct meta *m, const char *key, const char *fallback);
/* A whole number in [lo, hi], also one stored as a float. If the key is missing, *out keeps its value when `fallback_ok`; otherwise
 * STENO_EFORMAT names `where`, the key and the range. A list of numbers per layer is one number if all are equal; if they differ,
 * STENO_EUNSUPPORTED. */
int meta_int(const struct meta *m, const char *where, const char *key, int32_t lo, int32_t hi, int fallback_ok, int32_t *out,
             steno_error *e);
int meta_num(const struct meta *m, const char *where, const char *key, double lo, double hi, int fallback_ok, double *out,
             steno_error *e);
/* The same number, or `otherwise` if there is none in [lo, hi]. */
int64_t meta_whole(const struct meta *m, const char *key, int64_t lo, int64_t hi, int64_t otherwise);
/* Is it a whole number? A float without a fraction becomes one. */
int meta_is_whole(struct meta_entry *it);

/* Settings of the group `prefix`, with its dot, lose the prefix, unless a setting without it exists. */
void meta_lift(struct meta *m, const char *prefix);

/* Read a whole file into the table. Keys get `prefix` and a dot in front; prefix may be NULL. STENO_EFORMAT names file, line and cause. */
int meta_read_json(struct meta *m, const char *prefix, const struct file *f, steno_error *e);
int meta_read_yaml(struct meta *m, const char *prefix, const struct file *f, steno_error *e);
#endif
