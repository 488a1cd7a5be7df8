/* steno: from nested settings to a flat table. SPDX-License-Identifier: MIT
 *
 * JSON and YAML are two spellings of the same maps and lists. Their readers report each opening, each closing and each value. This file
 * handles keys, list indices, limits and duplicates. A list of more than FLAT_LONG members below the top level is data, not a setting (a
 * vocabulary, for example). If it holds only numbers or only texts, it becomes a long list (struct meta_list). Maps of that size, and lists
 * of other or mixed members, are omitted entirely. */
#ifndef STENO_LOAD_FLAT_H
#define STENO_LOAD_FLAT_H
#include "base/buf.h"
#include "load/meta.h"

enum { FLAT_LONG = 4096 };

struct flat_level { uint32_t count, mark, key_len; uint8_t is_list, want_key; };

struct flat {
    struct meta *m;
    const char *name;     /* of the file */
    uint32_t line;        /* the current line; the reader keeps it up to date */
    uint32_t n_added;     /* including entries that were removed again */
    char key[META_KEY_MAX + 1];
    uint32_t key_len;
    struct flat_level level[META_DEPTH_MAX];
    int depth, hidden;    /* hidden: levels from this one on are omitted; 0: none */
    struct buf values;    /* of the long list in progress, in the form of struct meta_list */
    uint64_t n_values;
    enum meta_list_type list_type;
    int is_long_list;     /* level `hidden` is a long list, and all its members so far have its type */
    uint64_t *seen;       /* [seen_cap] hashes of keys, 0: free */
    uint32_t n_seen, seen_cap;
};

void flat_begin(struct flat *f, struct meta *m, const char *prefix, const char *name);
void flat_end(struct flat *f);
int flat_expects_key(const struct flat *f); /* the next text is the key of a map */
int flat_key(struct flat *f, const char *s, size_t n, steno_error *e);
int flat_open(struct flat *f, int is_list, steno_error *e);
int flat_close(struct flat *f, steno_error *e);
int flat_value(struct flat *f, struct meta_entry v, steno_error *e); /* fills in key and source */
#endif
