/* steno: what a model's files say besides weights. SPDX-License-Identifier: MIT
 *
 * Every reader - JSON, YAML, the dictionaries of a pickle, later GGUF - fills the same flat table: keys joined by dots, with numbers for
 * places in a list ("frontend_conf.lfr_m", "alignment_heads.3.1"). Families ask by key and range, and get an error that names file, key,
 * what is there and what is wanted. Keys that nobody asks for cost their bytes and nothing else. */
#ifndef STENO_LOAD_META_H
#define STENO_LOAD_META_H
#include "base/arena.h"
#include "base/file.h"

enum meta_kind { META_NULL, META_BOOL, META_INT, META_NUM, META_TEXT };

struct meta_entry {
    const char *key;
    enum meta_kind kind;
    int64_t i;          /* META_INT, META_BOOL */
    double x;           /* META_NUM; META_INT has it too */
    const char *text;   /* META_TEXT */
    const char *source; /* file it was read from */
};

/* A long list of one type, as it lies in a file: little-endian values one behind another; of texts each with its length in 8 bytes
 * before it. Lists of text formats are written so into memory when they are read. */
enum meta_list_type {
    META_LIST_U8, META_LIST_I8, META_LIST_U16, META_LIST_I16, META_LIST_U32, META_LIST_I32, META_LIST_F32, META_LIST_BOOL, META_LIST_TEXT,
    META_LIST_U64, META_LIST_I64, META_LIST_F64
};

struct meta_list {
    const char *key;
    enum meta_list_type type;
    uint64_t n;            /* values */
    struct file file;      /* a copy; who opened it closes it */
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
/* Add an entry; key and text are copied, source is kept. Readers refuse a key written twice; the first one is found. */
int meta_add(struct meta *m, const struct meta_entry *entry, steno_error *e);

/* Add a list; the key is copied. */
int meta_add_list(struct meta *m, const struct meta_list *list, steno_error *e);
const struct meta_list *meta_find_list(const struct meta *m, const char *key); /* NULL: none */
/* Values [from, from + n) of a list of numbers as f64; STENO_EFORMAT for a list of texts, or a shorter one. */
int meta_list_numbers(const struct meta_list *l, uint64_t from, uint64_t n, double *out, steno_error *e);
/* Every text of a list in turn, not terminated; a status other than 0 ends it. STENO_EFORMAT for a list of numbers, a text of more than
 * max_sz bytes, or texts that do not fill the list. */
int meta_list_texts(const struct meta_list *l, size_t max_sz, int (*take)(void *user, uint64_t i, const char *s, size_t n), void *user,
                    steno_error *e);

const struct meta_entry *meta_find(const struct meta *m, const char *key); /* NULL: none */
/* The text of a key, or fallback where there is none or it is not text. */
const char *meta_text(const struct meta *m, const char *key, const char *fallback);
/* A whole number in [lo, hi]. Missing: *out is left alone when `fallback_ok`, else STENO_EFORMAT naming `where`, the key and the range. */
int meta_int(const struct meta *m, const char *where, const char *key, int32_t lo, int32_t hi, int fallback_ok, int32_t *out,
             steno_error *e);
int meta_num(const struct meta *m, const char *where, const char *key, double lo, double hi, int fallback_ok, double *out,
             steno_error *e);

/* Read a whole file into the table, keys prefixed with `prefix` and a dot (NULL: none). STENO_EFORMAT names file, line and cause. */
int meta_read_json(struct meta *m, const char *prefix, const struct file *f, steno_error *e);
int meta_read_yaml(struct meta *m, const char *prefix, const struct file *f, steno_error *e);
#endif
